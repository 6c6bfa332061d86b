"""Programs, tricky on purpose, compiled and run in the real engine: what they return, or where they are refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Launch, Program, Returned, Step, Threw
from codemodekit.diagnostics import Diagnostic
from codemodekit.limits import ExecutionLimits
from codemodekit.sandboxes.quickjs import QuickJsSandbox

pytestmark = pytest.mark.anyio

_HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case
    for file in (_HERE.parent / "corpus" / "typescript.json", _HERE / "typescript_cases.json")
    for case in json.loads(file.read_text(encoding="utf-8"))
]


def of_kind(*kinds: str) -> Any:
    chosen = [case for case in CASES if case["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[case["name"] for case in chosen])


@pytest.fixture
async def sandbox() -> AsyncIterator[QuickJsSandbox]:
    sandbox = QuickJsSandbox()
    yield sandbox
    await sandbox.aclose()


async def run(sandbox: QuickJsSandbox, program: Program) -> Step:
    guest = await sandbox.launch(program, Launch(limits=ExecutionLimits()))
    try:
        return await guest.step([])
    finally:
        await guest.close()


def value(step: Step) -> Any:
    assert isinstance(step, Returned), step
    return None if step.json is None else json.loads(step.json)


@pytest.mark.proves("compile.erasing", "compile.transforms", "compile.recoveries")
@of_kind("erasable", "recover")
async def test_program_returns_what_typescript_would(case: dict[str, Any], sandbox: QuickJsSandbox) -> None:
    program = TypeScriptCompiler().compile(case["src"])
    assert isinstance(program, Program), program
    assert value(await run(sandbox, program)) == case["expected"]
    assert bool(program.notes) == (case["kind"] == "recover")
    assert program.discarded is None


@pytest.mark.proves("compile.erasing", "compile.refused")
@of_kind("transform", "either", "future")
async def test_program_runs_or_is_refused_with_its_place(case: dict[str, Any], sandbox: QuickJsSandbox) -> None:
    outcome = TypeScriptCompiler().compile(case["src"])
    if isinstance(outcome, Diagnostic):
        assert outcome.location is not None
        return
    step = await run(sandbox, outcome)
    if case["kind"] == "future" and isinstance(step, Threw):
        assert step.error.kind == "syntax"  # newer than the engine
        return
    assert value(step) == case["expected"]


@pytest.mark.proves("compile.unsafe")
@of_kind("reject")
async def test_route_out_is_refused_before_running(case: dict[str, Any]) -> None:
    outcome = TypeScriptCompiler().compile(case["src"])
    assert isinstance(outcome, Diagnostic)
    assert outcome.location is not None
    if case["loc"] is not None:
        assert [outcome.location.line, outcome.location.column] == case["loc"]


@pytest.mark.proves("compile.refused")
@of_kind("syntax")
async def test_broken_program_is_refused_on_the_right_line(case: dict[str, Any], sandbox: QuickJsSandbox) -> None:
    outcome = TypeScriptCompiler().compile(case["src"])
    if isinstance(outcome, Diagnostic):
        assert outcome.location is not None
        assert outcome.location.line == case["loc"][0]
        return
    step = await run(sandbox, outcome)
    assert isinstance(step, Threw)
    assert step.error.kind == "syntax"
    place = outcome.locate(step.error.frames[0].line, step.error.frames[0].column)
    assert place is not None
    assert place.line == case["loc"][0]


@pytest.mark.proves("compile.discarded")
@of_kind("discarded")
async def test_value_that_is_not_returned_is_lost_with_a_note(case: dict[str, Any], sandbox: QuickJsSandbox) -> None:
    program = TypeScriptCompiler().compile(case["src"])
    assert isinstance(program, Program)
    assert value(await run(sandbox, program)) is None
    assert program.notes == ()
    assert program.discarded is not None
    assert "return" in program.discarded


@pytest.mark.proves("compile.bounded")
async def test_nesting_that_compiles_also_fits_the_engine(sandbox: QuickJsSandbox) -> None:
    for opener, closer in (("(", ")"), ("[", "]"), ("({a:", "})"), ("(() => { return ", "})()")):
        depth = 399 // (opener.count("(") + opener.count("{") + opener.count("["))
        program = TypeScriptCompiler().compile(f"const x = {opener * depth}1{closer * depth}; return 7")
        assert isinstance(program, Program), program
        assert value(await run(sandbox, program)) == 7


@pytest.mark.proves("result.location", "compile.transforms")
async def test_error_at_run_time_is_traced_behind_an_insertion(sandbox: QuickJsSandbox) -> None:
    source = "enum E { A, B = 4 } throw new Error('x' + E.B)"
    program = TypeScriptCompiler().compile(source)
    assert isinstance(program, Program)
    step = await run(sandbox, program)
    assert isinstance(step, Threw)
    frame = step.error.frames[0]
    place = program.locate(frame.line, frame.column)
    assert place is not None
    assert place.line == 1
    assert frame.column > len(source)
    assert source.index("throw") < place.column <= len(source)
