"""The receipt of a run under every ending it may have: with calls that are done, under way, queued and refused.

No test here waits for time to pass: the loop's clock is put forward instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import anyio
import pytest
from faulty_sandbox import Fault, FaultySandbox

from codemodekit.bridge.receipts import CallReceipt, CallStatus, Rerun, rerun_verdict
from codemodekit.code_mode import CodeMode, ObserverEvent, RunEvent, RunResult
from codemodekit.contracts import (
    Allow,
    Deny,
    PolicyRequest,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolListing,
    ToolResult,
)
from codemodekit.errors import ClosedError, SandboxError, SourceLost, ToolError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.local import define_tool, local
from codemodekit.testing import Gate, InMemoryProvider
from scripted_kit import app, kit, put_forward, turns

pytestmark = pytest.mark.anyio


PREFACE = """
await tools.app.echo({});
tools.app.hold({ n: 1 });
tools.app.hold({ n: 2 });
tools.app.echo({ n: 3 });
await tools.late.nope({}).catch(() => 0);
"""
"""One call that is done, two that are under way and nobody awaits, one that waits for its turn, one that is refused."""


class Strange(BaseException):
    """Not even an Exception."""


@dataclass
class Scene:
    """A run that has come as far as the end of PREFACE, and everything that is heard of it."""

    code_mode: CodeMode
    provider: InMemoryProvider
    gate: Gate
    running: asyncio.Task[RunResult]
    late: Gate
    sandbox: FaultySandbox
    progress: list[RunEvent] = field(default_factory=list)
    observed: list[ObserverEvent] = field(default_factory=list)

    async def go_on(self, *, through: bool = True) -> None:
        """Let the program begin with its ending, and be through with it as far as it can be."""
        self.late.open()
        async with asyncio.timeout(5):
            await (self.sandbox.stepped(3) if through else self.sandbox.stepping(3))
        await turns()

    async def ended(self) -> RunResult | None:
        """The result; None for a run that was cancelled. Whatever may still come has come afterwards."""
        async with asyncio.timeout(10):
            await asyncio.wait({self.running})
        told, calls = (len(self.progress), len(self.observed)), len(self.provider.calls)
        self.gate.open()
        await turns()
        assert (len(self.progress), len(self.observed)) == told
        assert len(self.provider.calls) == calls
        assert [event.kind for event in self.progress].count("finished") == 1
        assert self.progress[-1].kind == "finished"
        assert [event.kind for event in self.observed].count("execution_completed") == 1
        assert self.observed[-1].kind == "execution_completed"
        return None if self.running.cancelled() else self.running.result()

    def statuses(self) -> list[tuple[str, str | None]]:
        """How the observer heard each call end, in the order of the calls."""
        ended = {each.call_id: each for each in self.observed if each.kind == "tool_call_completed"}
        assert len(ended) == sum(each.kind == "tool_call_completed" for each in self.observed)
        return [(str(ended[key].status), ended[key].code) for key in sorted(ended, key=lambda key: int(str(key)[5:]))]


@asynccontextmanager
async def scene(
    ending: str,
    *,
    limits: dict[str, int] | None = None,
    sandbox: FaultySandbox | None = None,
    scope: anyio.CancelScope | None = None,
) -> AsyncIterator[Scene]:
    provider, late, sandbox = app(), InMemoryProvider("late"), sandbox or FaultySandbox()
    late.connect_gate = Gate()
    progress: list[RunEvent] = []
    observed: list[ObserverEvent] = []

    async def observe(event: ObserverEvent) -> None:
        observed.append(event)

    async def listen(event: RunEvent) -> None:
        progress.append(event)

    made = CodeMode(
        providers=[provider, late],
        tool_policy=allow_all_tool_calls(),
        limits=ExecutionLimits(**{"max_concurrent_tool_calls": 2, "progress_events_per_second": 100, **(limits or {})}),
        sandbox=sandbox,
        observer=observe,
    )

    async def run() -> RunResult:
        with scope or anyio.CancelScope():
            return await made.run(PREFACE + ending, on_progress=listen)
        raise asyncio.CancelledError

    async with made:
        gate = provider.gate("hold")
        async with asyncio.timeout(5):
            await made._catalog.ready("app", 5)
            running = asyncio.create_task(run())
            await provider.called(3)
        yield Scene(made, provider, gate, running, late.connect_gate, sandbox, progress, observed)


def rows(calls: list[tuple[str, str | None]], under_way: str, queued: tuple[str, str | None]) -> None:
    assert calls == [
        ("completed", None), (under_way, None), (under_way, None), queued, ("rejected", "TOOL_NOT_FOUND"),
    ]  # fmt: skip


def receipt(result: RunResult) -> list[tuple[str, str | None]]:
    assert all((row.duration_ms is None) == (row.status in ("rejected", "denied")) for row in result.calls)
    assert all((row.result_bytes is not None) == (row.status == "completed") for row in result.calls)
    return [(str(row.status), row.code) for row in result.calls]


@pytest.mark.proves("result.receipt", "result.rerun", "result.one-outcome", "limit.compute", "limit.memory")
@pytest.mark.parametrize(
    ("ending", "limits", "code"),
    [
        ("throw new Error('x')", {}, "SANDBOX_EXCEPTION"),
        ("throw null", {}, "SANDBOX_EXCEPTION"),
        ("await tools.app.nope()", {}, "TOOL_NOT_FOUND"),
        ("for (;;) {}", {"compute_time_ms": 100}, "COMPUTE_LIMIT_EXCEEDED"),
        ("const k = []; for (;;) k.push('x'.repeat(9999) + k.length)", {"memory_bytes": 8 << 20},
            "MEMORY_LIMIT_EXCEEDED"),
        ("const f = () => f() + 1; f()", {}, "STACK_LIMIT_EXCEEDED"),
        ("return 1n", {}, "OUTPUT_NOT_SERIALIZABLE"),
        ("return 'x'.repeat(300_000)", {}, "OUTPUT_LIMIT_EXCEEDED"),
        ("return { toJSON() { for (;;) {} } }", {"compute_time_ms": 100}, "COMPUTE_LIMIT_EXCEEDED"),
    ],
)  # fmt: skip
async def test_a_program_that_fails_leaves_its_calls_as_they_were(
    ending: str, limits: dict[str, int], code: str
) -> None:
    async with scene(ending, limits=limits) as at:
        await at.go_on(through=False)
        result = await at.ended()
    assert result is not None
    assert result.error is not None
    assert result.error.code == code
    calls = receipt(result)
    rows(calls[:5], "unfinished", ("rejected", "EXECUTION_CANCELLED"))
    assert calls == at.statuses()
    assert (len(at.provider.calls), len(at.provider.cancelled)) == (3, 2)
    assert result.rerun is Rerun.UNKNOWN


@pytest.mark.proves("result.waits-for-calls", "result.one-outcome")
async def test_a_program_that_returns_is_followed_by_the_calls_it_left_running() -> None:
    async with scene("return 'done'") as at:
        await at.go_on()
        assert not at.running.done()
        at.gate.open()
        result = await at.ended()
    assert result is not None
    rows(receipt(result), "completed", ("completed", None))
    assert receipt(result) == at.statuses()
    assert (result.value, result.rerun, at.provider.cancelled) == ("done", Rerun.UNSAFE, [])


@pytest.mark.proves("result.waits-for-calls", "limit.wall", "result.one-outcome")
@pytest.mark.parametrize(
    ("ending", "ok", "code"),
    [
        ("return 'done'", True, None),
        ("await new Promise(() => {})", False, "EXECUTION_TIMEOUT"),
        ("await tools.app.hold({})", False, "EXECUTION_TIMEOUT"),
    ],
)
async def test_at_the_wall_limit_what_runs_is_unfinished_and_what_waits_never_left(
    ending: str, ok: bool, code: str | None
) -> None:
    async with scene(ending, limits={"tool_call_time_ms": 600_000}) as at:
        await at.go_on()
        assert not at.running.done()
        put_forward(61)
        result = await at.ended()
    assert result is not None
    assert (result.ok, result.error and str(result.error.code)) == (ok, code)
    rows(receipt(result)[:5], "unfinished", ("rejected", "EXECUTION_TIMEOUT"))
    assert receipt(result) == at.statuses()
    assert (len(at.provider.calls), len(at.provider.cancelled), result.rerun) == (3, 2, Rerun.UNKNOWN)


@pytest.mark.proves("limit.never-settled", "result.receipt")
async def test_a_program_that_waits_for_nothing_is_found_out_when_its_last_call_is_done() -> None:
    async with scene("await new Promise(() => {})") as at:
        await at.go_on()
        assert not at.running.done()
        at.gate.open()
        result = await at.ended()
    assert result is not None
    assert result.error is not None
    assert result.error.code == "NEVER_SETTLED"
    rows(receipt(result), "completed", ("completed", None))
    assert result.rerun is Rerun.UNSAFE


@pytest.mark.proves("limit.call-time", "result.receipt")
async def test_calls_at_their_own_limit_make_room_and_end_nothing_else() -> None:
    async with scene("return 'done'", limits={"tool_call_time_ms": 5_000}) as at:
        await at.go_on()
        put_forward(6)
        result = await at.ended()
    assert result is not None
    assert result.value == "done"
    assert [(str(row.status), row.code) for row in result.calls[1:4]] == [
        ("timedOut", "TOOL_CALL_TIMEOUT"), ("timedOut", "TOOL_CALL_TIMEOUT"), ("completed", None),
    ]  # fmt: skip
    assert result.rerun is Rerun.UNKNOWN


@pytest.mark.proves("result.waits-for-calls", "limit.call-time")
async def test_a_call_that_has_its_answer_at_its_limit_is_not_waited_for_any_longer() -> None:
    let_go = asyncio.Event()

    async def stubborn(_call: ToolCall) -> int:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return 1

    provider = app()
    provider.answer("hold", stubborn)
    async with kit(provider, limits={"tool_call_time_ms": 5_000}) as code_mode:
        running = asyncio.create_task(code_mode.run("tools.app.hold({}); return 'done'"))
        await provider.called()
        await turns()
        put_forward(6)
        async with asyncio.timeout(5):
            result = await running
        assert (result.value, result.calls[0].status) == ("done", "timedOut")
        let_go.set()
        await turns()
    assert result.calls[0].result_bytes is None


@pytest.mark.proves("result.receipt", "api.trusted-side")
@pytest.mark.parametrize("ending", ["by the end of the run", "at its own limit"])
async def test_an_answer_that_comes_after_the_end_of_its_call_changes_nothing_and_the_host_still_sees_it(
    ending: str,
) -> None:
    let_go, arrived, seen = asyncio.Event(), asyncio.Event(), []

    async def stubborn(_input: dict[str, Any]) -> dict[str, str]:
        arrived.set()
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            await let_go.wait()
        return {"no": "match for its schema"}

    async def see(_sent: ToolCall, result: ToolResult) -> None:
        seen.append(result.structured_content)

    schema = {"type": "object"}
    slow = define_tool(stubborn, name="slow", input_schema=schema, output_schema={"required": ["yes"]})
    by_end = "tools.own.slow({}); await tools.app.look({}); throw 1"
    at_limit = "await tools.own.slow({}).catch(() => 0); await tools.app.hold({})"
    provider = app()
    gate = provider.gate("hold")
    limits = {"tool_call_time_ms": 5_000}
    async with kit(provider, local("own", [slow]), limits=limits, on_trusted_result=see) as code_mode:
        running = asyncio.create_task(code_mode.run(by_end if ending == "by the end of the run" else at_limit))
        await arrived.wait()
        if ending == "at its own limit":
            put_forward(6)
            await provider.called()
            let_go.set()
            await turns()
            gate.open()
        async with asyncio.timeout(5):
            result = await running
        let_go.set()
        await turns()
    first = result.calls[0]
    assert (str(first.status), first.result_bytes) == (
        "unfinished" if ending == "by the end of the run" else "timedOut", None,
    )  # fmt: skip
    assert not any("schema" in note for note in result.notes)
    assert {"no": "match for its schema"} in seen


@pytest.mark.proves("compile.refused", "result.receipt")
@pytest.mark.parametrize("program", ["let x = ;", "import fs from 'fs'", "x" * 200_000])
async def test_a_program_that_cannot_run_has_an_empty_receipt(program: str) -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run(program)
    assert (result.ok, result.calls, result.rerun) == (False, (), Rerun.SAFE)


# --- cancelled --------------------------------------------------------------------------------------------------------


async def by_task(at: Scene) -> None:
    at.running.cancel()


async def by_task_twice(at: Scene) -> None:
    at.running.cancel()
    await turns(1)
    at.running.cancel()


async def by_closing(at: Scene) -> None:
    await at.code_mode.aclose()


@pytest.mark.proves("api.cancel", "result.one-outcome", "result.receipt")
@pytest.mark.parametrize("cancel", [by_task, by_task_twice, by_closing])
@pytest.mark.parametrize("computing", [False, True])
async def test_a_cancelled_run_leaves_its_calls_as_they_were(
    cancel: Callable[[Scene], Awaitable[None]], computing: bool
) -> None:
    async with scene("for (;;) {}" if computing else "return 1", limits={"compute_time_ms": 60_000}) as at:
        if computing:
            await at.go_on(through=False)
        async with asyncio.timeout(10):
            await cancel(at)
        result = await at.ended()
    assert (result is None) == (cancel is not by_closing)
    if result is not None:
        assert result.error is not None
        assert (result.error.code, result.rerun) == ("EXECUTION_CANCELLED", Rerun.UNKNOWN)
        assert receipt(result) == at.statuses()
    last = ("rejected", "TOOL_NOT_FOUND" if computing else "EXECUTION_CANCELLED")
    assert at.statuses() == [
        ("completed", None), ("unfinished", None), ("unfinished", None), ("rejected", "EXECUTION_CANCELLED"), last,
    ]  # fmt: skip
    assert (len(at.provider.calls), len(at.provider.cancelled)) == (3, 2)


@pytest.mark.proves("api.cancel", "result.one-outcome")
@pytest.mark.parametrize("memory", [False, True])
async def test_a_scope_that_is_cancelled_ends_the_run_and_closes_its_guest(memory: bool) -> None:
    sandbox, scope = FaultySandbox(), anyio.CancelScope()
    keep = "const kept = new Array(3e5).fill(1).map((_, i) => 'x' + i);" if memory else ""
    async with scene(f"{keep} await tools.app.hold({{}})", sandbox=sandbox, scope=scope) as at:
        await at.go_on()
        scope.cancel()
        assert await at.ended() is None
        async with asyncio.timeout(5):
            await sandbox.guests[0].closed.wait()
    assert [status for status, _ in at.statuses()][:3] == ["completed", "unfinished", "unfinished"]


# --- a sandbox that breaks --------------------------------------------------------------------------------------------

FAULTS: list[Any] = [
    RuntimeError("worker died"),
    SandboxError("worker died"),
    ClosedError("worker died"),
    TimeoutError("worker died"),
    StopIteration("worker died"),
    MemoryError("worker died"),
    Strange("worker died"),
    SystemExit("worker died"),
    GeneratorExit("worker died"),
    asyncio.CancelledError("worker died"),
]


@pytest.mark.proves("api.run-never-raises", "result.receipt", "error.correlation")
@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_a_sandbox_that_breaks_while_calls_run_ends_the_run_with_its_receipt(fault: BaseException) -> None:
    sandbox = FaultySandbox(3, fault)
    async with scene("return 1", sandbox=sandbox) as at:
        await at.go_on(through=False)
        result = await at.ended()
        assert sandbox.guests[0].closed.is_set()
        again = await at.code_mode.run("return 2")
    assert result is not None
    assert result.error is not None
    assert (result.error.code, result.rerun) == ("INTERNAL_ERROR", Rerun.UNKNOWN)
    assert "worker died" not in str(result.to_wire())
    rows(receipt(result), "unfinished", ("rejected", "INTERNAL_ERROR"))
    assert receipt(result) == at.statuses()
    assert again.value == 2


@pytest.mark.proves("api.run-never-raises")
@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if not isinstance(fault, Strange | GeneratorExit)], ids=repr
)
async def test_a_sandbox_that_cannot_launch_ends_the_run_as_broken(fault: BaseException) -> None:
    async with kit(app(), sandbox=FaultySandbox(launch=fault)) as code_mode:
        result = await code_mode.run("return 1")
    assert result.error is not None
    assert (result.error.code, result.calls, result.rerun) == ("INTERNAL_ERROR", (), Rerun.SAFE)


async def nothing() -> None:
    """No step."""


@pytest.mark.proves("api.run-never-raises")
@pytest.mark.parametrize(
    "faults",
    [
        {"step": 1, "fault": nothing},
        {"step": 1, "fault": RuntimeError("x")},
        {"close": RuntimeError("x")},
        {"logs": RuntimeError("x")},
        {"step": 1, "fault": RuntimeError("x"), "close": RuntimeError("y"), "logs": RuntimeError("z")},
    ],
    ids=repr,
)
async def test_a_sandbox_that_breaks_at_its_edges_still_gives_a_result(faults: dict[str, Any]) -> None:
    async with kit(app(), sandbox=FaultySandbox(**faults)) as code_mode:
        result = await code_mode.run("return 1")
    assert (result.error and str(result.error.code)) == ("INTERNAL_ERROR" if "step" in faults else None)


@pytest.mark.proves("api.run-never-raises", "api.cancel")
async def test_a_guest_that_does_not_close_is_left_to_itself() -> None:
    asked = asyncio.Event()

    async def never() -> None:
        asked.set()
        await asyncio.get_running_loop().create_future()

    async with kit(app(), sandbox=FaultySandbox(close=never)) as code_mode:
        running = asyncio.create_task(code_mode.run("return 1"))
        await asked.wait()
        put_forward(6)
        async with asyncio.timeout(5):
            assert (await running).value == 1


@pytest.mark.proves("api.cancel")
async def test_a_sandbox_that_hangs_is_ended_by_cancelling_and_by_the_wall_limit() -> None:
    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    fault: Fault = never
    async with scene("return 1", sandbox=FaultySandbox(3, fault)) as at:
        await at.go_on(through=False)
        at.running.cancel()
        assert await at.ended() is None
    async with scene("return 1", sandbox=FaultySandbox(3, fault), limits={"tool_call_time_ms": 600_000}) as at:
        await at.go_on(through=False)
        put_forward(61)
        result = await at.ended()
    assert result is not None
    assert result.error is not None
    assert result.error.code == "EXECUTION_TIMEOUT"


# --- a source that breaks ---------------------------------------------------------------------------------------------


class Raising:
    """A source whose call raises this itself, in the task that calls."""

    name = "app"

    def __init__(self, error: BaseException, after: bool) -> None:
        self._error, self._after = error, after

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Raising]:
        yield self

    async def list_tools(self) -> ToolListing:
        return ToolListing(definitions=(ToolDefinition(name="x"), ToolDefinition(name="y")))

    async def wait_for_change(self) -> None:
        await asyncio.get_running_loop().create_future()

    async def call(self, call: ToolCall) -> ToolResult:
        if call.tool == "y":
            return ToolResult(structured_content={})
        if self._after:
            await asyncio.sleep(0)
        raise self._error


@pytest.mark.proves("api.run-never-raises", "result.receipt")
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "error", [Strange("x"), GeneratorExit("x"), SystemExit("x"), asyncio.CancelledError("x"), StopAsyncIteration("x"),
              TimeoutError("x"), RecursionError("x")], ids=repr,
)  # fmt: skip
async def test_whatever_a_source_raises_fails_its_call_and_no_other(
    error: BaseException, alone: bool, after: bool
) -> None:
    program = "await tools.app.x({}).catch(e => e.code)"
    if not alone:
        program = f"Promise.all([{program.removeprefix('await ')}, tools.app.y({{}})]).then(all => all[0])"
    async with kit(Raising(error, after)) as code_mode:
        async with asyncio.timeout(5):
            result = await code_mode.run(f"const said = await {program.removeprefix('await ')}; return [said, 1]")
    assert result.value == ["TOOL_EXECUTION_FAILED", 1]
    assert [row.status for row in result.calls] == ["failed", "completed"][: 1 if alone else 2]
    assert result.rerun is Rerun.UNSAFE


# --- rerun ------------------------------------------------------------------------------------------------------------

HINTS: list[tuple[dict[str, bool], bool]] = [
    ({}, True),
    ({"read_only": False}, True),
    ({"destructive": False}, True),
    ({"destructive": True}, True),
    ({"open_world": False}, True),
    ({"read_only": False, "idempotent": False}, True),
    ({"read_only": True}, False),
    ({"read_only": True, "destructive": True}, False),
    ({"idempotent": True}, False),
    ({"idempotent": True, "destructive": True}, False),
    ({"read_only": False, "idempotent": True}, False),
]
"""What a source may say of a tool, and whether a call of it may write."""

VERDICTS: dict[CallStatus, Rerun] = {
    CallStatus.COMPLETED: Rerun.UNSAFE,
    CallStatus.FAILED: Rerun.UNSAFE,
    CallStatus.TIMED_OUT: Rerun.UNKNOWN,
    CallStatus.UNFINISHED: Rerun.UNKNOWN,
    CallStatus.UNKNOWN: Rerun.UNKNOWN,
    CallStatus.DENIED: Rerun.SAFE,
    CallStatus.REJECTED: Rerun.SAFE,
}
"""The verdict on a run with one call of that status that may write; without one that may write it is always safe."""


def with_every_status(hints: dict[str, bool]) -> InMemoryProvider:
    """A source with a tool for each status, named as it, of which it says this."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    said = ToolAnnotations(**hints)
    provider = InMemoryProvider(
        "app", [ToolDefinition(name=status, input_schema=schema, annotations=said) for status in CallStatus]
    )
    provider.answer("failed", ToolError("no"))
    provider.answer("unknown", SourceLost("gone"))
    for name in ("timedOut", "unfinished"):
        provider.gate(name)
    return provider


PROGRAMS: dict[CallStatus, str] = {
    CallStatus.UNFINISHED: "tools.app.unfinished({}); await tools.late.nope({}).catch(() => 0); throw 1",
    CallStatus.REJECTED: "await tools.app.rejected({ n: 'x' })",
}


@pytest.mark.proves("result.rerun", "result.receipt")
@pytest.mark.parametrize("status", list(CallStatus))
@pytest.mark.parametrize(("hints", "may_write"), HINTS, ids=str)
async def test_the_verdict_follows_from_status_and_annotations(
    status: CallStatus, hints: dict[str, bool], may_write: bool
) -> None:
    provider, late = with_every_status(hints), InMemoryProvider("late")
    late.connect_gate = Gate()

    async def policy(request: PolicyRequest) -> Allow | Deny:
        return Deny("no") if request.tool == "denied" else Allow()

    async with CodeMode(
        providers=[provider, late], tool_policy=policy, limits=ExecutionLimits(tool_call_time_ms=5_000)
    ) as code_mode:
        await code_mode._catalog.ready("app", 5)
        running = asyncio.create_task(code_mode.run(PROGRAMS.get(status, f"await tools.app.{status}({{}})")))
        if status in (CallStatus.TIMED_OUT, CallStatus.UNFINISHED):
            await provider.called()
        if status is CallStatus.TIMED_OUT:
            put_forward(6)
        late.connect_gate.open()
        async with asyncio.timeout(5):
            result = await running
    first = result.calls[0]
    assert (first.status, first.read_only) == (status, hints.get("read_only"))
    assert result.rerun is (VERDICTS[status] if may_write else Rerun.SAFE)
    assert (first.duration_ms is None) == (status in (CallStatus.DENIED, CallStatus.REJECTED))


@pytest.mark.proves("result.rerun")
def test_the_verdict_on_several_calls_is_that_of_the_worst() -> None:
    order = [Rerun.SAFE, Rerun.UNSAFE, Rerun.UNKNOWN]
    kinds = [(status, may_write) for status in CallStatus for may_write in (True, False)]

    def of(status: CallStatus, may_write: bool) -> CallReceipt:
        sent = status not in (CallStatus.DENIED, CallStatus.REJECTED)
        return CallReceipt(id="call_1", source="s", tool="t", status=status, dispatched=sent, may_write=may_write)

    def alone(status: CallStatus, may_write: bool) -> Rerun:
        return VERDICTS[status] if may_write else Rerun.SAFE

    for calls in product(kinds, repeat=3):
        worst = max((alone(*call) for call in calls), key=order.index)
        assert rerun_verdict(of(*call) for call in calls) is worst
