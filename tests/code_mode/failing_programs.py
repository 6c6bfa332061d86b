"""Programs that fail, with a sign where: for the tests of diagnostics."""

from __future__ import annotations

from codemodekit.diagnostics import Diagnostic
from codemodekit.errors import ToolError
from scripted_kit import app, kit

__all__ = ["failure_of", "marked", "place_of", "stack_of"]

SIGN = "▸"


def marked(program: str) -> tuple[str, tuple[int, int]]:
    """The program without its sign, and the line and column the sign stood at, in UTF-16 units."""
    before, _, after = program.partition(SIGN)
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return before + after, (len(lines), len(lines[-1].encode("utf-16-le")) // 2 + 1)


async def failure_of(program: str, **limits: int) -> Diagnostic:
    provider = app()
    provider.answer("fail", ToolError("no such row"))
    async with kit(provider, limits=limits) as code_mode:
        error = (await code_mode.run(program)).error
    assert error is not None
    return error


def place_of(error: Diagnostic) -> tuple[int, int] | None:
    return (error.location.line, error.location.column) if error.location is not None else None


def stack_of(error: Diagnostic) -> list[tuple[str | None, int, int]]:
    """Its frames as function, line and column."""
    return [(frame.function, frame.line, frame.column) for frame in error.stack]
