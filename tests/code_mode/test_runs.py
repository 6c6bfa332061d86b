"""What a run gives back: values, logs, notes, events; sources that come and go; many runs at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemodekit._json import ABSENT
from codemodekit.bridge import pinned
from codemodekit.code_mode import CodeMode, RunEvent
from codemodekit.contracts import Allow, GuestError, Returned, Threw
from codemodekit.errors import ConfigurationError, SourceLost, ToolError
from codemodekit.policy import allow_all_tool_calls, policy_rules
from codemodekit.providers.local import ToolContext, local
from codemodekit.testing import Gate, InMemoryProvider, ScriptedSandbox
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio


# --- values, logs, notes ----------------------------------------------------------------------------------------------


@pytest.mark.proves("result.wire-form")
async def test_undefined_has_no_value_and_null_has() -> None:
    async with kit() as code_mode:
        nothing, null = await code_mode.run("return"), await code_mode.run("return null")
    assert (nothing.ok, nothing.value, null.value) == (True, ABSENT, None)
    assert "value" not in nothing.to_wire()
    assert null.to_wire()["value"] is None


@pytest.mark.proves("result.wire-form")
async def test_the_wire_form_of_a_success_is_whole() -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run("console.warn('w'); return { a: [1] }")
    assert result.to_wire() == {
        "ok": True,
        "executionId": result.execution_id,
        "value": {"a": [1]},
        "logs": [{"level": "warn", "message": "w"}],
        "calls": [],
        "rerun": "safe",
    }


@pytest.mark.proves("limit.logs")
@pytest.mark.parametrize(
    ("ending", "limits"),
    [
        ("throw new Error('x')", {}),
        ("await new Promise(() => {})", {}),
        ("await tools.app.hold({})", {"wall_time_ms": 400}),
        ("for (;;) {}", {"compute_time_ms": 50}),
        ("for (;;) {}", {"wall_time_ms": 400}),
        ("return 1n", {}),
    ],
)
async def test_what_was_printed_survives_every_ending(ending: str, limits: dict[str, int]) -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider, limits=limits) as code_mode:
        result = await code_mode.run(f"console.log('one'); await tools.app.echo({{}}); console.log('two'); {ending}")
    assert not result.ok
    assert [entry.message for entry in result.logs] == ["one", "two"]


@pytest.mark.proves("result.unawaited")
async def test_rejections_nobody_handled_are_noted_also_when_the_run_succeeds() -> None:
    provider = app()
    provider.answer("fail", ToolError("no such row"))
    program = "Promise.reject(new Error('lost'));\ntools.app.fail({});\nawait tools.app.echo({});\nreturn 1"
    async with kit(provider) as code_mode:
        result = await code_mode.run(program)
    assert result.value == 1
    assert any("lost" in note for note in result.notes)
    assert any("no such row" in note for note in result.notes)


@pytest.mark.proves("result.unawaited")
async def test_a_call_nobody_awaited_that_fails_after_the_return_is_noted() -> None:
    provider = app()
    gate = provider.gate("fail")
    provider.answer("fail", ToolError("no such row"))
    async with kit(provider) as code_mode:
        running = asyncio.create_task(code_mode.run("tools.app.fail({}); return 1"))
        await gate.arrived()
        gate.open()
        result = await running
    assert result.value == 1
    assert [note for note in result.notes if "TOOL_EXECUTION_FAILED" in note and "no such row" in note]


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize(
    "context", [None, 0, "", [], {"a": {"b": [1, None, "ä"]}}, "\ud800", {"__proto__": 1}, [[[[]]]]], ids=repr
)
async def test_the_context_arrives_as_it_is(context: Any) -> None:
    async with kit() as code_mode:
        result = await code_mode.run("return { it: context }", context=context)
    assert result.value == {"it": context}


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize(
    "context", [float("nan"), {1, 2}, object(), {"a": b"x"}], ids=["nan", "set", "object", "bytes"]
)
async def test_a_context_that_is_not_json_is_the_callers_mistake(context: Any) -> None:
    async with kit() as code_mode:
        with pytest.raises(ConfigurationError, match="context"):
            await code_mode.run("return 1", context=context)
        assert (await code_mode.run("return 1")).value == 1


@pytest.mark.proves("value.wire")
async def test_a_context_too_large_for_the_guest_is_a_result() -> None:
    async with kit(limits={"memory_bytes": 8 << 20}) as code_mode:
        result = await code_mode.run("return context.length", context="x" * (16 << 20))
    assert result.error is not None
    assert result.error.code == "MEMORY_LIMIT_EXCEEDED"


@pytest.mark.proves("result.receipt", "error.correlation")
async def test_a_broken_sandbox_leaves_receipt_and_record() -> None:
    records: list[Any] = []
    fault = MemoryError("no more")
    sandbox = ScriptedSandbox([fault])
    async with kit(sandbox=sandbox, on_diagnostic=records.append) as code_mode:
        result = await code_mode.run("return 1")
    assert result.error is not None
    assert result.error.code == "INTERNAL_ERROR"
    assert [record.exception for record in records] == [fault]
    assert sandbox.guests[0].closed >= 1


@pytest.mark.proves("api.run-never-raises")
async def test_a_value_that_is_no_json_fails_and_does_not_raise() -> None:
    async with kit(sandbox=ScriptedSandbox([Returned("{nope")])) as code_mode:
        result = await code_mode.run("return 1")
    assert result.error is not None
    assert result.error.code == "SANDBOX_EXCEPTION"


@pytest.mark.proves("error.codes")
async def test_an_error_without_words_still_says_something() -> None:
    async with kit(sandbox=ScriptedSandbox([Threw(GuestError(kind="exception", name="", message=""))])) as code_mode:
        result = await code_mode.run("return 1")
    assert result.error is not None
    assert result.error.message


# --- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("catalog.waits")
async def test_a_call_waits_for_a_source_that_is_still_connecting() -> None:
    late = InMemoryProvider("late", ["echo"])
    made = CodeMode(providers=[late, app()], tool_policy=allow_all_tool_calls())
    late.connect_gate = Gate()
    async with made:
        first = await made.run("return (await tools.app.echo({ a: 1 })).structuredContent")
        running = asyncio.create_task(made.run("return (await tools.late.echo({ a: 2 })).structuredContent"))
        await late.connect_gate.arrived()
        late.connect_gate.open()
        result = await running
    assert (first.value, result.value) == ({"a": 1}, {"a": 2})


@pytest.mark.proves("catalog.waits")
async def test_a_source_that_takes_too_long_to_connect_is_named_with_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "CONNECT_SECONDS", 0.05)
    late = InMemoryProvider("late", ["echo"])
    late.connect_gate = Gate()
    made = CodeMode(providers=[late], tool_policy=allow_all_tool_calls())
    async with made:
        result = await made.run("return await tools.late.echo({}).catch(e => [e.code, e.message])")
    assert result.value[0] == "SOURCE_UNAVAILABLE"
    assert "late" in result.value[1]
    assert "connecting" in result.value[1]
    assert (result.calls[0].status, result.rerun) == ("rejected", "safe")


@pytest.mark.proves("error.secrets", "catalog.waits")
async def test_an_unavailable_source_says_why_without_secrets() -> None:
    gone = InMemoryProvider("gone")
    gone.refuse(*[SourceLost("refused: token=abcdef123456 at /home/ada/server")] * 50)
    async with kit(gone) as code_mode:
        result = await code_mode.run("await tools.gone.echo({})")
    assert result.error is not None
    assert result.error.code == "SOURCE_UNAVAILABLE"
    assert "unavailable" in result.error.message
    for secret in ("abcdef123456", "/home/ada"):
        assert secret not in str(result.to_wire())


@pytest.mark.proves("bridge.pinned")
async def test_a_run_keeps_the_catalogue_it_began_with() -> None:
    provider = app()
    gate = provider.gate("hold")
    async with kit(provider) as code_mode:
        program = """
        const before = Object.keys(tools.app).includes('fresh');
        await tools.app.hold({});
        return [before, Object.keys(tools.app).includes('fresh'), await tools.app.fresh({}).catch(e => e.code),
          (await tools.app.echo({ a: 1 })).structuredContent];
        """
        running = asyncio.create_task(code_mode.run(program))
        await gate.arrived()
        old = code_mode.snapshot().revision
        provider.change("hold", "echo", "fresh")
        async with asyncio.timeout(5):
            while code_mode.snapshot().revision == old:  # noqa: ASYNC110 - the catalogue has no event for this
                await asyncio.sleep(0.001)
        gate.open()
        result = await running
        fresh = await code_mode.run("return (await tools.app.fresh({ b: 1 })).structuredContent")
    assert result.value == [False, False, "TOOL_NOT_FOUND", {"a": 1}]
    assert fresh.value == {"b": 1}


@pytest.mark.proves("sandbox.names")
async def test_object_keys_list_what_can_be_called() -> None:
    async with kit(app(), InMemoryProvider("wei rd", ["größe/1"])) as code_mode:
        result = await code_mode.run(
            "return [Object.keys(tools), Object.keys(tools.app), Object.keys(tools['wei rd'])]"
        )
    assert result.value == [
        ["app", "wei rd"],
        ["declared", "echo", "fail", "hold", "lenient", "look", "put", "strict"],
        ["größe/1"],
    ]


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize(
    "wrong",
    [
        {"tool_policy": None},
        {"tool_policy": "allow"},
        {"providers": [InMemoryProvider("a"), InMemoryProvider("a")]},
        {"providers": [InMemoryProvider("")]},
        {"limits": {"computeTimeMs": 1}},
    ],
    ids=["no policy", "policy is text", "two of a name", "no name", "limits are a dict"],
)
async def test_a_code_mode_that_cannot_be_is_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        CodeMode(**{"providers": [], "tool_policy": allow_all_tool_calls(), **wrong})


# --- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("observe.events")
async def test_a_run_tells_its_stations_in_order_and_its_end_last() -> None:
    events: list[RunEvent] = []

    async def work(context: ToolContext) -> int:
        context.report_progress("half way; token=abcdef123456 in /home/ada/x")
        return 1

    async with kit(local("app", [work])) as code_mode:
        result = await code_mode.run("await tools.app.work({})", on_progress=events.append)
    assert [event.kind for event in events] == [
        "compiled", "started", "tool_queued", "tool_started", "tool_progress", "tool_finished", "finished",
    ]  # fmt: skip
    numbers = [event.sequence for event in events]
    assert numbers == sorted(set(numbers))
    assert {event.execution_id for event in events} == {result.execution_id}
    assert events[4].message is not None
    assert events[4].message.startswith("half way")
    assert "abcdef123456" not in events[4].message
    assert "/home/ada" not in events[4].message
    assert (events[5].status, events[6].status) == ("completed", "ok")


@pytest.mark.proves("observe.events")
@pytest.mark.parametrize("program", ["return 1 +", "throw 1", "await tools.app.nope({})"])
async def test_a_failed_run_tells_its_end_too(program: str) -> None:
    events: list[RunEvent] = []
    async with kit(app()) as code_mode:
        result = await code_mode.run(program, on_progress=events.append)
    assert result.error is not None
    assert (events[-1].kind, events[-1].status, events[-1].code) == ("finished", "failed", result.error.code)


@pytest.mark.proves("limit.progress")
async def test_progress_is_bounded_in_number_rate_and_size_and_the_end_still_comes() -> None:
    events: list[RunEvent] = []

    async def chatty(context: ToolContext) -> None:
        for number in range(1000):
            context.report_progress(f"{number} " + "ä" * 2000)

    limits = {"max_progress_events": 20, "progress_events_per_second": 1000, "progress_message_bytes": 64}
    async with kit(local("app", [chatty]), limits=limits) as code_mode:
        await code_mode.run("await tools.app.chatty({})", on_progress=events.append)
        assert len(events) == 20
        assert events[-1].kind == "finished"
        assert all(len((event.message or "").encode()) <= 64 for event in events)
    events.clear()
    async with kit(local("app", [chatty]), limits={"progress_events_per_second": 5}) as code_mode:
        await code_mode.run("await tools.app.chatty({})", on_progress=events.append)
    assert len(events) <= 9  # two seconds at the most, and the end among the five of its second
    assert events[-1].kind == "finished"


@pytest.mark.proves("result.one-outcome", "observe.events")
async def test_nothing_is_told_after_the_end() -> None:
    events: list[RunEvent] = []
    contexts: list[ToolContext] = []

    async def work(context: ToolContext) -> None:
        contexts.append(context)

    async with kit(local("app", [work])) as code_mode:
        await code_mode.run("await tools.app.work({})", on_progress=events.append)
        told = len(events)
        contexts[0].report_progress("too late")
    assert len(events) == told
    assert events[-1].kind == "finished"


# --- many at once -----------------------------------------------------------------------------------------------------


@pytest.mark.proves("sandbox.fresh", "observe.events")
async def test_fifty_runs_at_once_do_not_hear_one_another() -> None:
    provider = app()
    principals: dict[str, Any] = {}

    async def policy(request: Any) -> Allow:
        principals.setdefault(request.execution_id, request.principal)
        return Allow()

    program = """
    globalThis.mine = context.n;
    console.log('run ' + context.n);
    let sum = 0;
    for (let i = 0; i < 5; i++) sum += (await tools.app.echo({ n: context.n, i })).structuredContent.n;
    return [globalThis.mine, sum];
    """
    events: dict[int, list[RunEvent]] = {n: [] for n in range(50)}
    async with kit(provider, policy=policy) as code_mode:
        results = await asyncio.gather(
            *(code_mode.run(program, context={"n": n}, principal=n, on_progress=events[n].append) for n in range(50))
        )
    for n, result in enumerate(results):
        assert result.value == [n, 5 * n]
        assert [entry.message for entry in result.logs] == [f"run {n}"]
        assert [row.status for row in result.calls] == ["completed"] * 5
        assert principals[result.execution_id] == n
        assert {event.execution_id for event in events[n]} == {result.execution_id}
    assert len({result.execution_id for result in results}) == 50


@pytest.mark.proves("sandbox.fresh")
async def test_runs_draw_different_random_numbers() -> None:
    async with kit() as code_mode:
        results = [await code_mode.run("return Math.random()") for _ in range(20)]
    assert len({result.value for result in results}) == 20


# --- tools that do what tools ought not to ----------------------------------------------------------------------------


class Odd(BaseException):
    """What a test framework raises, say: an exception that is no Exception."""


@pytest.mark.proves("api.run-never-raises")
@pytest.mark.parametrize("body", ["await tools.app.odd()", "await Promise.all([tools.app.odd(), tools.app.odd()])"])
async def test_a_tool_that_raises_what_is_no_exception_fails_at_once(body: str) -> None:
    async def odd() -> None:
        raise Odd

    async with kit(local("app", [odd])) as code_mode:
        result = await code_mode.run(body)
    assert result.error is not None
    assert result.error.code == "TOOL_EXECUTION_FAILED"


@pytest.mark.proves("api.run-never-raises")
async def test_a_tool_that_cancels_its_own_task_does_not_cancel_the_run() -> None:
    async def cancels() -> int:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return 1

    async with kit(local("app", [cancels])) as code_mode:
        result = await code_mode.run("await tools.app.cancels(); return (await tools.app.cancels()).structuredContent")
    assert (result.ok, result.value) == (True, 1)


@pytest.mark.proves("api.run-never-raises")
async def test_a_tool_that_swallows_the_end_of_its_run_leaves_no_task_behind() -> None:
    async def swallows() -> int:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            return 1
        raise AssertionError("unreachable: nobody settles the future")

    async with kit(local("app", [swallows]), limits={"wall_time_ms": 200}) as code_mode:
        before = asyncio.all_tasks()
        result = await code_mode.run("await tools.app.swallows()")
        assert asyncio.all_tasks() == before
    assert result.error is not None
    assert result.error.code == "EXECUTION_TIMEOUT"


@pytest.mark.proves("result.unawaited", "limit.never-settled")
@pytest.mark.parametrize("limits", [{}, {"wall_time_ms": 400}])
async def test_a_failure_nobody_handled_is_told_when_the_program_never_comes_to_an_end(limits: dict[str, int]) -> None:
    provider = app()
    provider.gate("hold")
    waits = "await tools.app.hold({})" if limits else "await new Promise(() => {})"
    async with kit(provider, limits=limits) as code_mode:
        result = await code_mode.run(f"tools.app.echo({{}}).then(() => nothing.here); {waits}")
    assert result.error is not None
    assert [note for note in result.notes if "nothing is not defined" in note or "'nothing'" in note]


@pytest.mark.proves("sandbox.off-loop")
async def test_tens_of_thousands_of_calls_in_one_step_leave_turns_to_others_and_short_notes() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with kit(app()) as code_mode:
        await code_mode.run("return 1")
        beside = asyncio.create_task(others())
        result = await code_mode.run("for (let i = 0; i < 20000; i++) tools.app.echo({ i }); return 1")
        beside.cancel()
    assert result.value == 1
    assert turns > 200
    assert len(result.notes) < 20
    assert any("more calls nobody awaited failed" in note for note in result.notes)


@pytest.mark.proves("api.local-results")
async def test_a_function_whose_result_is_not_json_has_an_invalid_result() -> None:
    async def nan() -> dict[str, Any]:
        return {"a": float("nan")}

    async def deep() -> dict[str, Any]:
        value: dict[str, Any] = {}
        for _ in range(5000):
            value = {"a": value}
        return value

    async with kit(local("app", [nan, deep])) as code_mode:
        for name in ("nan", "deep"):
            result = await code_mode.run(f"return await tools.app.{name}()")
            assert result.error is not None
            assert result.error.code == "TOOL_OUTPUT_INVALID"


@pytest.mark.proves("compile.discarded")
@pytest.mark.parametrize(
    "program",
    ["const r = tools.app.echo({}); return r.content", "const r = await tools.app.echo({}); return r.datetime"],
)
async def test_a_program_that_called_tools_and_gave_back_nothing_is_told_so(program: str) -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run(program)
        silent = await code_mode.run("return")
    assert result.ok
    assert result.value is ABSENT
    assert any("returned undefined" in note for note in result.notes)
    assert silent.notes == ()


@pytest.mark.proves("api.policy-required", "policy.fails-closed")
@pytest.mark.parametrize("maker", [allow_all_tool_calls, policy_rules])
def test_a_policy_that_was_not_called_is_refused(maker: Any) -> None:
    with pytest.raises(ConfigurationError, match="call it"):
        CodeMode(providers=[app()], tool_policy=maker)
