"""The page of diagnostics knows every code, and its examples provoke what they stand under."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import pytest
from docs_pages import ROOT, sections
from docs_sources import load_source

from codemodekit import CodeMode, DiagnosticCode, ExecutionLimits, TypeScriptChecker

pytestmark = pytest.mark.proves("house.docs")

PAGE: Final = ROOT / "docs" / "diagnostics.md"
SECTIONS: Final = sections(PAGE, 3)
WITHOUT_EXAMPLE: Final = {DiagnosticCode.INTERNAL_ERROR, DiagnosticCode.EXECUTION_CANCELLED}

SHORT: Final = {
    DiagnosticCode.SOURCE_LIMIT_EXCEEDED: {"source_bytes": 40},
    DiagnosticCode.COMPUTE_LIMIT_EXCEEDED: {"compute_time_ms": 100},
    DiagnosticCode.EXECUTION_TIMEOUT: {"wall_time_ms": 100},
    DiagnosticCode.TOOL_CALL_TIMEOUT: {"tool_call_time_ms": 100},
}
"""Limits that would make a test wait; all others are the defaults."""


def example(code: str) -> str | None:
    found = re.search(r"```ts\n(.*?)```", SECTIONS[code], re.DOTALL)
    return found[1] if found else None


@asynccontextmanager
async def code_mode(*, checked: bool = False, **limits: int) -> AsyncIterator[CodeMode]:
    tools = load_source(ROOT / "docs_src" / "failing_tools.py")
    async with CodeMode(
        providers=[tools.DEMO, tools.CRM],
        tool_policy=tools.POLICY,
        limits=replace(ExecutionLimits(), **limits),
        type_checker=TypeScriptChecker(budget_ms=60_000) if checked else None,
    ) as made:
        await made.settled(5)
        yield made


def test_every_code_is_documented_and_no_other() -> None:
    assert list(SECTIONS) == [str(code) for code in DiagnosticCode if code is not DiagnosticCode.INTERNAL_ERROR] + [
        "INTERNAL_ERROR"
    ]


@pytest.mark.parametrize("code", SECTIONS)
def test_every_code_has_a_cause_and_a_cure(code: str) -> None:
    assert "**Cause.**" in SECTIONS[code]
    assert "**Cure.**" in SECTIONS[code]
    assert (example(code) is None) == (DiagnosticCode(code) in WITHOUT_EXAMPLE)


@pytest.mark.anyio
@pytest.mark.parametrize("code", [code for code in DiagnosticCode if code not in WITHOUT_EXAMPLE])
async def test_the_example_of_a_code_ends_with_that_code(code: DiagnosticCode) -> None:
    program = example(code)
    assert program is not None
    async with code_mode(checked=code is DiagnosticCode.TYPE_ERROR, **SHORT.get(code, {})) as made:
        result = await made.run(program)
    assert result.error is not None
    assert result.error.code is code
