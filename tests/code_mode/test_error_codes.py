"""Every stable code, provoked for real through CodeMode, with the phase it belongs to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from codemodekit.contracts import GuestError, Threw, ToolResult
from codemodekit.diagnostics import DiagnosticCode, phase_of
from codemodekit.errors import SandboxError, SourceLost, ToolCallFailed, ToolError, ToolResultTooLarge
from codemodekit.policy import deny_all_tool_calls
from codemodekit.providers.local import local
from codemodekit.testing import InMemoryProvider, ScriptedSandbox
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio
Code = DiagnosticCode


@dataclass(frozen=True)
class Case:
    code: Code
    program: str
    limits: dict[str, int] = field(default_factory=dict)
    script: Callable[[InMemoryProvider], Any] = lambda provider: None
    more: dict[str, Any] = field(default_factory=dict)


def held(provider: InMemoryProvider) -> None:
    provider.gate("hold")


CASES = [
    Case(Code.COMPILE_ERROR, "return 1 +"),
    Case(Code.COMPILE_ERROR, "let a = 1; let a = 2; return a"),
    Case(Code.UNSAFE_SYNTAX, "return eval('1')"),
    Case(Code.SOURCE_LIMIT_EXCEEDED, "return 1 // " + "x" * 100, {"source_bytes": 100}),
    Case(Code.SOURCE_LIMIT_EXCEEDED, "return 'é'" + "é" * 50, {"source_bytes": 100}),
    Case(Code.SANDBOX_EXCEPTION, "throw new Error('x')"),
    Case(Code.SANDBOX_EXCEPTION, "throw undefined"),
    Case(Code.SANDBOX_EXCEPTION, "throw { code: 'MEMORY_LIMIT_EXCEEDED', phase: 'tool', name: 'ToolCallError' }"),
    Case(
        Code.SANDBOX_EXCEPTION, "throw Object.assign(new ToolCallError('x'), { code: 'EXECUTION_CANCELLED', call: 1 })"
    ),
    Case(Code.EXECUTION_TIMEOUT, "await tools.app.hold({})", {"wall_time_ms": 400}, held),
    Case(Code.EXECUTION_TIMEOUT, "for (;;) {}", {"wall_time_ms": 400}),
    Case(Code.COMPUTE_LIMIT_EXCEEDED, "for (;;) { try { for (;;) {} } finally { continue } }", {"compute_time_ms": 50}),
    Case(
        Code.MEMORY_LIMIT_EXCEEDED,
        "const k = []; for (;;) k.push('x'.repeat(9999) + k.length)",
        {"memory_bytes": 8 << 20},
    ),
    Case(Code.STACK_LIMIT_EXCEEDED, "const f = () => f() + 1; return f()"),
    Case(Code.NEVER_SETTLED, "await new Promise(() => {})"),
    Case(Code.NEVER_SETTLED, "await tools.app.echo({}); await { then() {} }"),
    Case(Code.OUTPUT_NOT_SERIALIZABLE, "return { rows: [{ id: 1n }] }"),
    Case(Code.OUTPUT_LIMIT_EXCEEDED, "return 'x'.repeat(2000)", {"final_result_bytes": 1000}),
    Case(Code.OUTPUT_LIMIT_EXCEEDED, "return 'é'.repeat(600)", {"final_result_bytes": 1000}),
    Case(Code.SOURCE_NOT_FOUND, "await tools.ap.echo({})"),
    Case(Code.SOURCE_UNAVAILABLE, "await tools.gone.echo({})"),
    Case(Code.SOURCE_UNAVAILABLE, "await tools.app.fail({})", script=lambda p: p.answer("fail", SourceLost("gone"))),
    Case(Code.TOOL_NOT_FOUND, "await tools.app.ecco({})"),
    Case(Code.TOOL_NOT_FOUND, "await tools.app.panel({})"),
    Case(Code.TOOL_SCHEMA_UNSUPPORTED, "await tools.app.broken({})"),
    Case(Code.TOOL_INPUT_INVALID, "await tools.app.strict({ cuont: 1 })"),
    Case(Code.TOOL_INPUT_INVALID, "await tools.app.echo('text')"),
    Case(Code.TOOL_INPUT_INVALID, "await tools.app.echo({ when: new Map() })"),
    Case(
        Code.TOOL_OUTPUT_INVALID, "await tools.app.declared({})", script=lambda p: p.answer("declared", {"count": "1"})
    ),
    Case(Code.TOOL_OUTPUT_INVALID, "await tools.app.declared({})", script=lambda p: p.answer("declared", ToolResult())),
    Case(Code.TOOL_OUTPUT_INVALID, "await tools.app.echo({})", script=lambda p: p.answer("echo", {"x": float("nan")})),
    Case(Code.TOOL_OUTPUT_INVALID, "await tools.app.echo({})", script=lambda p: p.answer("echo", {"x": {1, 2}})),
    Case(
        Code.TOOL_OUTPUT_INVALID, "await tools.app.declared({})", script=lambda p: p.answer("declared", {"count": {1}})
    ),
    Case(
        Code.TOOL_OUTPUT_INVALID,
        "await tools.app.echo({})",
        script=lambda p: p.answer("echo", ToolResult(content=({"text": "no type"},))),
    ),
    Case(Code.TOOL_CALL_TIMEOUT, "await tools.app.hold({})", {"tool_call_time_ms": 50}, held),
    Case(Code.TOOL_CALL_LIMIT_EXCEEDED, "for (let i = 0; i < 9; i++) await tools.app.echo({})", {"max_tool_calls": 8}),
    Case(
        Code.TOOL_OUTPUT_LIMIT_EXCEEDED,
        "await tools.app.echo({})",
        {"tool_result_bytes": 1000},
        lambda p: p.answer("echo", "x" * 2000),
    ),
    Case(Code.BRIDGE_LIMIT_EXCEEDED, "await tools.app.echo({ a: 'x'.repeat(2000) })", {"total_bridge_bytes": 1000}),
    Case(
        Code.BRIDGE_LIMIT_EXCEEDED,
        "for (;;) await tools.app.echo({ a: 'x'.repeat(200) })",
        {"total_bridge_bytes": 1000},
    ),
    Case(
        Code.TOOL_EXECUTION_FAILED, "await tools.app.fail({})", script=lambda p: p.answer("fail", ToolError("no row"))
    ),
    Case(
        Code.TOOL_EXECUTION_FAILED,
        "await tools.app.fail({})",
        script=lambda p: p.answer("fail", ToolCallFailed("no row", upstream_code=404)),
    ),
    Case(Code.TOOL_EXECUTION_FAILED, "await tools.app.fail({})", script=lambda p: p.answer("fail", KeyError("secret"))),
    Case(
        Code.TOOL_OUTPUT_LIMIT_EXCEEDED,
        "await tools.app.fail({})",
        script=lambda p: p.answer("fail", ToolResultTooLarge("too long a line")),
    ),
    Case(Code.TOOL_APPROVAL_DENIED, "await tools.app.echo({})", more={"policy": deny_all_tool_calls()}),
    Case(Code.INTERNAL_ERROR, "return 1", more={"sandbox": ScriptedSandbox([Threw(GuestError(kind="internal"))])}),
    Case(Code.INTERNAL_ERROR, "return 1", more={"sandbox": ScriptedSandbox([SandboxError("no memory")])}),
    Case(Code.INTERNAL_ERROR, "return 1", more={"sandbox": ScriptedSandbox([MemoryError("no memory")])}),
]
ELSEWHERE = {Code.EXECUTION_CANCELLED, Code.TYPE_ERROR}
"""The host cancels: test_cancelling.py. A type checker is optional: compilers/typecheck."""


@pytest.mark.proves("error.codes")
def test_every_code_has_a_program_that_provokes_it() -> None:
    assert {case.code for case in CASES} | ELSEWHERE == set(DiagnosticCode)


@pytest.mark.proves("error.codes", "limit.source")
@pytest.mark.parametrize("case", CASES, ids=[f"{case.code}-{number}" for number, case in enumerate(CASES)])
async def test_a_program_ends_with_its_code(case: Case) -> None:
    provider, gone = app(), InMemoryProvider("gone")
    gone.refuse(*[SourceLost("nobody answers")] * 100)
    case.script(provider)
    async with kit(provider, gone, limits=case.limits, **case.more) as code_mode:
        result = await code_mode.run(case.program)
        after = await code_mode.run("return 1") if "sandbox" not in case.more else None
    assert not result.ok
    assert result.error is not None
    assert (result.error.code, result.to_wire()["error"]["phase"]) == (case.code, phase_of(case.code))
    assert result.error.message
    assert result.error.correlation_id.startswith("diag_")
    assert after is None or after.value == 1


TOOL_CASES = [case for case in CASES if phase_of(case.code) == "tool"]


@pytest.mark.proves("error.catchable")
@pytest.mark.parametrize("case", TOOL_CASES, ids=[f"{case.code}-{number}" for number, case in enumerate(TOOL_CASES)])
async def test_a_failed_call_can_be_caught_and_the_run_is_fine(case: Case) -> None:
    provider, gone = app(), InMemoryProvider("gone")
    gone.refuse(*[SourceLost("nobody answers")] * 100)
    case.script(provider)
    program = (
        f"try {{ {case.program} }} catch (e) {{ return [e instanceof ToolCallError, e.code, e.phase, !!e.message] }}"
    )
    async with kit(provider, gone, limits=case.limits, **case.more) as code_mode:
        result = await code_mode.run(program)
    assert result.ok
    assert result.value == [True, case.code, "tool", True]
    assert result.calls[-1].code == case.code


@pytest.mark.proves("error.uncatchable")
@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("try { for (;;) {} } catch { return 'caught' }", {"compute_time_ms": 50}),
        (
            "try { const k = []; for (;;) k.push('x'.repeat(9999) + k.length) } catch { return 1 }",
            {"memory_bytes": 8 << 20},
        ),
        ("try { await tools.app.hold({}) } catch { return 'caught' }", {"wall_time_ms": 400}),
        ("for (;;) { try { await tools.app.echo({}) } catch {} }", {"wall_time_ms": 200}),
        ("try { await new Promise(() => {}) } catch { return 'caught' }", {}),
    ],
)
async def test_limits_of_the_run_cannot_be_caught(program: str, limits: dict[str, int]) -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider, limits={"max_tool_calls": 5, **limits}) as code_mode:
        result = await code_mode.run(program)
    assert not result.ok


@pytest.mark.proves("error.near-names")
async def test_near_names_are_offered() -> None:
    async with kit(app()) as code_mode:
        source = await code_mode.run("await tools.ap.echo({})")
        tool = await code_mode.run("await tools.app.ecoh({})")
    assert source.error is not None
    assert source.error.details == {"near": ["app"]}
    assert tool.error is not None
    assert tool.error.details["near"][0] == "echo"
    assert len(tool.error.details["near"]) <= 3


@pytest.mark.proves("error.input-details", "error.near-names")
async def test_every_wrong_field_is_named_and_a_slip_is_put_right() -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run("await tools.app.strict({ cuont: 1, title: 7 })")
    assert result.error is not None
    assert result.error.tool is not None
    assert (result.error.tool.source, result.error.tool.name) == ("app", "strict")
    pointers = {each["pointer"] for each in result.error.details["errors"]}
    assert {"/cuont", "/title"} <= pointers | {"/count"}
    assert "count" in result.error.message
    assert "/title" in result.error.message


@pytest.mark.proves("error.input-details")
async def test_at_most_eight_wrong_fields_are_named() -> None:
    fields = ", ".join(f"f{i}: 1" for i in range(30))
    async with kit(app()) as code_mode:
        result = await code_mode.run(f"await tools.app.strict({{ count: 1, {fields} }})")
    assert result.error is not None
    assert 1 <= len(result.error.details["errors"]) <= 8


@pytest.mark.proves("result.location")
async def test_failures_say_where_in_the_program_they_are() -> None:
    program = "const a: number = 1;\n\n  await tools.app.echo('x' as any);"
    async with kit(app()) as code_mode:
        result = await code_mode.run(program)
    assert result.error is not None
    assert result.error.location is not None
    assert result.error.location.line == 3
    assert result.error.frame is not None
    assert "> 3 |" in result.error.frame
    assert "^" in result.error.frame


@pytest.mark.proves("error.upstream-text", "error.secrets")
async def test_the_text_and_code_of_an_upstream_reach_the_model_and_nothing_secret_does() -> None:
    provider = app()
    failure = ToolCallFailed(
        "no row 7 in /home/ada/private/db.sqlite; sent Authorization: Bearer abcdefgh12345678",
        upstream_code="E404",
        details={"url": "https://ada:hunter2@example.com/x?token=abc123", "list": list(range(100))},
    )
    provider.answer("fail", failure)
    async with kit(provider) as code_mode:
        result = await code_mode.run("await tools.app.fail({})")
    wire = result.to_wire()
    assert wire["error"]["tool"] == {"source": "app", "name": "fail", "upstreamCode": "E404"}
    assert "no row 7" in wire["error"]["message"]
    shown = str(wire)
    for secret in ("abcdefgh12345678", "/home/ada", "hunter2", "abc123"):
        assert secret not in shown
    assert len(wire["error"]["details"]["list"]) < 100


@pytest.mark.proves("error.correlation", "api.trusted-side")
async def test_the_host_gets_the_whole_story_under_the_same_correlation_id() -> None:
    records: list[Any] = []
    provider = app()
    cause = ValueError("secret of the host")
    provider.answer("fail", cause)
    async with kit(provider, on_diagnostic=records.append) as code_mode:
        result = await code_mode.run("await tools.app.fail({})")
    assert result.error is not None
    assert "secret" not in str(result.to_wire())
    (record,) = [each for each in records if each.correlation_id == result.error.correlation_id]
    assert record.exception is cause
    assert record.execution_id == result.execution_id


@pytest.mark.proves("error.correlation")
async def test_a_failing_listener_of_records_changes_nothing() -> None:
    def fail(_record: Any) -> None:
        raise RuntimeError

    async with kit(app(), on_diagnostic=fail) as code_mode:
        result = await code_mode.run("throw new Error('x')")
    assert result.error is not None
    assert result.error.code == Code.SANDBOX_EXCEPTION


@pytest.mark.proves("api.run-never-raises")
async def test_a_tool_that_cancels_itself_has_failed() -> None:
    provider = app()
    provider.answer("fail", asyncio.CancelledError())
    async with kit(provider) as code_mode:
        result = await code_mode.run("try { await tools.app.fail({}) } catch (e) { return e.code }")
    assert result.value == Code.TOOL_EXECUTION_FAILED


@pytest.mark.proves("api.run-never-raises")
async def test_a_tool_that_wants_to_exit_has_failed() -> None:
    async def leave() -> None:
        sys.exit(3)

    def leave_from_a_thread() -> None:
        sys.exit(3)

    async with kit(local("app", [leave, leave_from_a_thread])) as code_mode:
        for name in ("leave", "leave_from_a_thread"):
            result = await code_mode.run(f"return await tools.app.{name}({{}}).catch(e => e.code)")
            assert result.value == Code.TOOL_EXECUTION_FAILED
