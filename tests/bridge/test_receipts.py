"""The receipt of a run, and its verdict whether a rerun is safe, under every ending."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemodekit.bridge.receipts import CallReceipt, CallStatus, Rerun, rerun_verdict
from codemodekit.code_mode import CodeMode
from codemodekit.contracts import Deny, PolicyRequest
from codemodekit.errors import SourceLost, ToolError
from codemodekit.policy import deny_all_tool_calls
from codemodekit.testing import Gate, InMemoryProvider
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio


def rows(result: Any) -> list[dict[str, Any]]:
    """The receipt without the times, which no test can know."""
    return [{key: value for key, value in row.items() if key != "durationMs"} for row in result.to_wire()["calls"]]


async def ends(program: str, provider: InMemoryProvider | None = None, **more: Any) -> Any:
    async with kit(provider or app(), **more) as code_mode:
        return await code_mode.run(program)


@pytest.mark.proves("result.rerun")
async def test_a_run_without_calls_is_safe_to_rerun() -> None:
    result = await ends("return 1")
    assert (result.calls, result.rerun) == ((), Rerun.SAFE)


@pytest.mark.proves("result.rerun")
async def test_a_completed_write_makes_a_rerun_unsafe() -> None:
    result = await ends("await tools.app.echo({ a: 'é' })")
    sent = len('{"a":"é"}'.encode())
    back = len('{"content":[],"structuredContent":{"a":"é"}}'.encode())
    assert rows(result) == [
        {
            "id": "call_1",
            "source": "app",
            "tool": "echo",
            "status": "completed",
            "inputBytes": sent,
            "resultBytes": back,
        }
    ]
    assert result.calls[0].duration_ms >= 0
    assert result.rerun is Rerun.UNSAFE


@pytest.mark.proves("result.rerun")
@pytest.mark.parametrize(("tool", "marked"), [("look", True), ("put", None)])
async def test_reads_and_idempotent_writes_are_safe_to_rerun(tool: str, marked: bool | None) -> None:
    result = await ends(f"await tools.app.{tool}({{}})")
    assert (result.calls[0].status, result.calls[0].read_only, result.rerun) == ("completed", marked, Rerun.SAFE)


@pytest.mark.proves("result.rerun")
async def test_a_failed_write_makes_a_rerun_unsafe() -> None:
    provider = app()
    provider.answer("fail", ToolError("no"))
    result = await ends("await tools.app.fail({})", provider)
    row = {"id": "call_1", "source": "app", "tool": "fail", "status": "failed", "inputBytes": 2}
    assert rows(result) == [{**row, "code": "TOOL_EXECUTION_FAILED"}]
    assert result.rerun is Rerun.UNSAFE


@pytest.mark.proves("result.receipt", "result.rerun")
async def test_what_was_denied_or_rejected_reached_nobody() -> None:
    provider = app()
    denied = await ends("await tools.app.echo({})", provider, policy=deny_all_tool_calls())
    rejected = await ends("await tools.app.strict({})", provider)
    missing = await ends("await tools.app.nope({})", provider)
    assert [(each.calls[0].status, each.rerun) for each in (denied, rejected, missing)] == [
        ("denied", Rerun.SAFE), ("rejected", Rerun.SAFE), ("rejected", Rerun.SAFE),
    ]  # fmt: skip
    assert denied.calls[0].duration_ms is None
    assert provider.calls == []


@pytest.mark.proves("result.rerun", "result.receipt")
async def test_nobody_knows_whether_a_call_that_timed_out_took_effect() -> None:
    provider = app()
    provider.gate("hold")
    result = await ends("try { await tools.app.hold({}) } catch {}", provider, limits={"tool_call_time_ms": 50})
    assert result.ok
    assert (result.calls[0].status, result.calls[0].code, result.rerun) == (
        "timedOut",
        "TOOL_CALL_TIMEOUT",
        Rerun.UNKNOWN,
    )


@pytest.mark.proves("result.rerun", "result.receipt")
async def test_nobody_knows_whether_a_call_took_effect_whose_connection_broke() -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.app.hold({})"))
        await provider.called()
        provider.disconnect("the other side hung up, key sk-live-0123456789")
        result = await running
    assert (result.calls[0].status, result.calls[0].code) == ("unknown", "SOURCE_UNAVAILABLE")
    assert result.rerun is Rerun.UNKNOWN


@pytest.mark.proves("result.rerun")
async def test_a_lost_read_is_safe_to_rerun() -> None:
    provider = app()
    provider.answer("look", SourceLost("gone"))
    result = await ends("await tools.app.look({})", provider)
    assert (result.calls[0].status, result.rerun) == ("unknown", Rerun.SAFE)


@pytest.mark.proves("result.receipt", "limit.wall")
async def test_calls_still_running_at_the_wall_limit_are_unfinished_and_queued_ones_never_left() -> None:
    provider = app()
    provider.gate("hold")
    result = await ends(
        "for (let i = 0; i < 3; i++) tools.app.hold({ i }); await tools.app.hold({ i: 3 })",
        provider,
        limits={"wall_time_ms": 500, "max_concurrent_tool_calls": 2},
    )
    assert result.error.code == "EXECUTION_TIMEOUT"
    assert [(row.status, row.code) for row in result.calls] == [
        ("unfinished", None), ("unfinished", None),
        ("rejected", "EXECUTION_TIMEOUT"), ("rejected", "EXECUTION_TIMEOUT"),
    ]  # fmt: skip
    assert result.rerun is Rerun.UNKNOWN
    assert len(provider.calls) == len(provider.cancelled) == 2


@pytest.mark.proves("result.waits-for-calls")
async def test_calls_nobody_awaited_are_waited_for_after_the_program_returned() -> None:
    provider = app()
    gate = provider.gate("hold")
    async with kit(provider) as code_mode:
        running = asyncio.create_task(code_mode.run("tools.app.hold({}); return 'done'"))
        await gate.arrived()
        gate.open()
        result = await running
    assert (result.value, result.calls[0].status, result.rerun) == ("done", "completed", Rerun.UNSAFE)


@pytest.mark.proves("result.waits-for-calls")
async def test_a_value_stands_even_if_a_call_nobody_awaited_never_ends() -> None:
    provider = app()
    provider.gate("hold")
    result = await ends("tools.app.hold({}); return 'done'", provider, limits={"wall_time_ms": 500})
    assert (result.ok, result.value, result.calls[0].status) == (True, "done", "unfinished")
    assert result.rerun is Rerun.UNKNOWN


@pytest.mark.proves("result.receipt")
async def test_calls_are_ended_when_the_program_throws() -> None:
    provider = app()
    provider.gate("hold")
    result = await ends("tools.app.hold({}); await tools.app.echo({}); throw new Error('x')", provider)
    assert [row.status for row in result.calls] == ["unfinished", "completed"]
    assert len(provider.cancelled) == 1
    assert result.rerun is Rerun.UNKNOWN


@pytest.mark.proves("result.receipt")
@pytest.mark.parametrize(
    ("ending", "limits"),
    [
        ("for (;;) {}", {"compute_time_ms": 100}),
        ("const k = []; for (;;) k.push('x'.repeat(9999) + k.length)", {"memory_bytes": 8 << 20}),
        ("const f = () => f() + 1; f()", {}),
        ("await new Promise(() => {})", {}),
        ("return 1n", {}),
    ],
)
async def test_the_receipt_survives_the_end_of_the_program(ending: str, limits: dict[str, int]) -> None:
    result = await ends(f"await tools.app.echo({{}}); {ending}", limits=limits)
    assert not result.ok
    assert [row.status for row in result.calls] == ["completed"]
    assert result.rerun is Rerun.UNSAFE


@pytest.mark.proves("limit.calls")
async def test_every_attempt_counts_and_those_beyond_the_limit_reach_nobody() -> None:
    provider = app()
    program = """
    const got = [];
    for (let i = 0; i < 6; i++) got.push(await tools.app.echo({}).then(() => 1, () => 0));
    return got;
    """
    result = await ends(program, provider, limits={"max_tool_calls": 4})
    assert result.value == [1, 1, 1, 1, 0, 0]
    assert len(provider.calls) == 4
    assert [row.code for row in result.calls[4:]] == ["TOOL_CALL_LIMIT_EXCEEDED"] * 2


@pytest.mark.proves("limit.calls", "result.receipt")
async def test_a_flood_of_refused_calls_is_listed_in_part_and_counted() -> None:
    program = "await Promise.allSettled([...Array(1000)].map(() => tools.app.echo({}))); return 1"
    result = await ends(program, limits={"max_tool_calls": 4})
    assert result.value == 1
    assert len(result.calls) < 200
    assert any("not listed" in note for note in result.notes)


@pytest.mark.proves("error.near-names")
async def test_a_source_that_is_still_connecting_is_a_near_name() -> None:
    provider = InMemoryProvider("app")
    provider.connect_gate = Gate()
    async with CodeMode(providers=[provider], tool_policy=deny_all_tool_calls()) as code_mode:
        result = await code_mode.run("await tools.ap.echo({})")
    assert result.error is not None
    assert result.error.message == "there is no source 'ap'; did you mean 'app'?"


@pytest.mark.proves("result.receipt")
async def test_a_name_without_end_does_not_swell_the_receipt() -> None:
    program = "const long = 'x'.repeat(1e5); await tools.app[long]({}).catch(() => 0); await tools[long].y({})"
    result = await ends(program)
    assert [row.code for row in result.calls] == ["TOOL_NOT_FOUND", "SOURCE_NOT_FOUND"]
    assert len(str(result.to_wire())) < 10_000


@pytest.mark.proves("result.receipt")
async def test_receipts_are_in_the_order_of_issue_whatever_the_order_of_ends() -> None:
    provider = app()
    gate = provider.gate("hold")
    async with kit(provider) as code_mode:
        program = "const slow = tools.app.hold({}); await tools.app.echo({}); await slow"
        running = asyncio.create_task(code_mode.run(program))
        await provider.called(2)
        gate.open()
        result = await running
    assert [(row.id, row.tool) for row in result.calls] == [("call_1", "hold"), ("call_2", "echo")]


@pytest.mark.proves("policy.decides", "result.receipt")
async def test_the_policy_sees_the_call_by_the_id_of_its_receipt() -> None:
    seen: list[PolicyRequest] = []

    async def policy(request: PolicyRequest) -> Deny:
        seen.append(request)
        return Deny("no")

    result = await ends("await Promise.allSettled([tools.app.echo({ a: 1 }), tools.app.look({})])", policy=policy)
    assert [(each.call_id, each.tool) for each in seen] == [(row.id, row.tool) for row in result.calls]
    assert {each.execution_id for each in seen} == {result.execution_id}
    assert seen[0].input == {"a": 1}
    assert seen[1].annotations.read_only is True


def receipt(status: CallStatus, *, dispatched: bool = True, may_write: bool = True) -> CallReceipt:
    return CallReceipt(id="call_1", source="s", tool="t", status=status, dispatched=dispatched, may_write=may_write)


@pytest.mark.proves("result.rerun")
def test_the_verdict_takes_the_worst_of_all_calls() -> None:
    read = receipt(CallStatus.UNKNOWN, may_write=False)
    done, lost = receipt(CallStatus.COMPLETED), receipt(CallStatus.UNKNOWN)
    never_sent = receipt(CallStatus.REJECTED, dispatched=False)
    assert rerun_verdict([]) is rerun_verdict([read, never_sent]) is Rerun.SAFE
    assert rerun_verdict([read, done]) is Rerun.UNSAFE
    assert rerun_verdict([done, lost, read]) is Rerun.UNKNOWN
