"""The programs of the demo, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from codemodekit.cli.demonstration.repository import COMMITS
from codemodekit.diagnostics import DiagnosticCode

__all__ = ["Act", "acts"]


@dataclass(frozen=True, slots=True)
class Act:
    """One program, and how it has to end."""

    title: str
    code: str
    context: Any
    fails_with: str | None = None
    """The error code it is written to end with; None for a program that succeeds."""

    def ended_as_written(self, result: dict[str, Any]) -> bool:
        """Whether a run result in wire form is what the program is there to show."""
        error = result.get("error") or {}
        return bool(result["ok"]) is (self.fails_with is None) and error.get("code") == self.fails_with


def acts(*, with_git: bool) -> Sequence[Act]:
    """All of them; without git the first one composes other sources."""
    release = "15:00"
    told = {"release": release, "names": ["Ada", "Kofi"]}
    composed = _program("compose.ts" if with_git else "compose_without_git.ts")
    return (
        Act("Two sources composed, and filtered", composed, {"commits": COMMITS} if with_git else {}),
        Act("Eight calls in parallel", _program("parallel.ts"), {"release": release}),
        Act("A mistake, and its diagnostic", _program("mistake.ts"), told, DiagnosticCode.TOOL_INPUT_INVALID),
        Act("The mistake repaired", _program("repaired.ts"), told),
    )


def _program(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
