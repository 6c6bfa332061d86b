"""The examples of docs/diagnostics.md: a program under each code, and what a model reads of its result."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from docs_pages import ROOT, sections
from docs_sources import load_source

from codemodekit import CodeMode, DiagnosticCode, ExecutionLimits, RunResult, TypeScriptChecker
from codemodekit.mcp_adapter.texts import run_text

__all__ = ["PAGE", "example", "filled", "outcome", "result", "run"]

PAGE: Final = ROOT / "docs" / "diagnostics.md"

SMALL: Final[Mapping[str, dict[str, int]]] = {
    DiagnosticCode.SOURCE_LIMIT_EXCEEDED: {"source_bytes": 40},
    DiagnosticCode.COMPUTE_LIMIT_EXCEEDED: {"compute_time_ms": 100},
    DiagnosticCode.EXECUTION_TIMEOUT: {"wall_time_ms": 1500},
    DiagnosticCode.TOOL_CALL_TIMEOUT: {"tool_call_time_ms": 100},
}
"""Limits that are awkward to reach; all others are the defaults."""

_SECTION: Final = re.compile(r"^### (?P<code>[A-Z_]+)\n(?P<body>.*?)(?=^###? |\Z)", re.MULTILINE | re.DOTALL)
_RESULT: Final = re.compile(r"(?<=^\*\*Result\.\*\*\n\n```text\n)(?P<text>.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_PROGRAM: Final = re.compile(r"```ts\n(?P<text>.*?)```", re.DOTALL)


def example(code: str) -> str | None:
    """The program under a code, if it has one."""
    found = _PROGRAM.search(sections(PAGE, 3)[code])
    return found["text"] if found else None


def result(code: str) -> str | None:
    """What the page says a model reads."""
    found = _RESULT.search(sections(PAGE, 3)[code])
    return found["text"] if found else None


@asynccontextmanager
async def _code_mode(*, checked: bool = False, **limits: int) -> AsyncIterator[CodeMode]:
    tools = load_source(ROOT / "docs_src" / "failing_tools.py")
    async with CodeMode(
        providers=[tools.DEMO, tools.CRM],
        tool_policy=tools.POLICY,
        limits=replace(ExecutionLimits(), **limits),
        type_checker=TypeScriptChecker(budget_ms=60_000) if checked else None,
    ) as made:
        await made.settled(5)
        yield made


async def run(code: str) -> RunResult:
    """The outcome of the program under a code."""
    program = example(code)
    assert program is not None
    async with _code_mode(checked=code == DiagnosticCode.TYPE_ERROR, **SMALL.get(code, {})) as made:
        return await made.run(program)


def outcome(ended: RunResult) -> str:
    """What a model reads of it."""
    return f"{run_text(ended.to_wire())}\n"


async def filled(page: str) -> str:
    """The page with all results as they are now."""
    parts, done = [], 0
    for section in _SECTION.finditer(page):
        found = _RESULT.search(page, section.start(), section.end())
        if found:
            parts += (page[done : found.start()], outcome(await run(section["code"])))
            done = found.end()
    return "".join((*parts, page[done:]))
