"""What the observer of all runs hears: every station with its facts, and nothing of what was said."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemodekit.code_mode import ObserverEvent
from codemodekit.contracts import Allow, Deny, PolicyRequest
from codemodekit.policy import policy_rules
from codemodekit.providers.local import ToolContext, local
from scripted_kit import app, kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("observe.events")]

ALL = policy_rules([{"match": "app.put", "effect": "deny", "reason": "no writing"}, {"match": "*", "effect": "allow"}])


def told(events: list[ObserverEvent]) -> list[tuple[Any, ...]]:
    return [(event.kind, event.call_id, event.tool, event.status, event.code) for event in events]


async def test_a_run_and_its_calls_are_heard_in_order_with_their_facts() -> None:
    events: list[ObserverEvent] = []
    program = "await tools.app.echo({ a: 1 }); return 'done'"
    async with kit(app(), observer=events.append) as code_mode:
        result = await code_mode.run(program)
    assert told(events) == [
        ("execution_started", None, None, None, None),
        ("tool_call_queued", "call_1", "echo", None, None),
        ("tool_call_started", "call_1", "echo", None, None),
        ("tool_call_completed", "call_1", "echo", "completed", None),
        ("execution_completed", None, None, "ok", None),
    ]
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5]
    assert {event.execution_id for event in events} == {result.execution_id}
    assert [event.time for event in events] == sorted(event.time for event in events)
    call, run = events[3], events[4]
    row = result.calls[0]
    assert (call.source, call.duration_ms, call.input_bytes, call.result_bytes) == (
        "app", row.duration_ms, row.input_bytes, row.result_bytes,
    )  # fmt: skip
    assert (run.input_bytes, run.result_bytes, run.calls) == (len(program), len('"done"'), 1)
    assert run.duration_ms is not None
    assert run.duration_ms >= (call.duration_ms or 0)


@pytest.mark.parametrize(
    ("call", "heard"),
    [
        ("app.strict({})", [("tool_call_completed", "rejected", "TOOL_INPUT_INVALID")]),
        ("app.nope({})", [("tool_call_completed", "rejected", "TOOL_NOT_FOUND")]),
        ("nope.nope({})", [("tool_call_completed", "rejected", "SOURCE_NOT_FOUND")]),
        ("app.put({})", [("tool_call_queued", None, None), ("tool_call_completed", "denied", "TOOL_APPROVAL_DENIED")]),
        (
            "app.fail({})",
            [
                ("tool_call_queued", None, None),
                ("tool_call_started", None, None),
                ("tool_call_completed", "failed", "TOOL_EXECUTION_FAILED"),
            ],
        ),
    ],
)
async def test_a_call_that_fails_is_heard_as_far_as_it_got(call: str, heard: list[tuple[Any, ...]]) -> None:
    events: list[ObserverEvent] = []
    provider = app()
    provider.answer("fail", RuntimeError("no"))
    async with kit(provider, policy=ALL, observer=events.append) as code_mode:
        result = await code_mode.run(f"await tools.{call}")
    assert result.error is not None
    assert [(event.kind, event.status, event.code) for event in events[1:-1]] == heard
    assert (events[-1].status, events[-1].code, events[-1].calls) == ("failed", result.error.code, 1)
    assert events[-1].result_bytes is None


@pytest.mark.parametrize("program", ["return 1 +", "import 'x'", "x" * 200_000])
async def test_a_program_that_cannot_run_begins_and_ends(program: str) -> None:
    events: list[ObserverEvent] = []
    async with kit(observer=events.append) as code_mode:
        result = await code_mode.run(program)
    assert result.error is not None
    assert told(events) == [
        ("execution_started", None, None, None, None),
        ("execution_completed", None, None, "failed", result.error.code),
    ]


async def test_a_cancelled_run_is_heard_as_cancelled_with_what_was_still_running() -> None:
    events: list[ObserverEvent] = []
    provider = app()
    provider.gate("hold")
    async with kit(provider, observer=events.append) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.app.hold({})"))
        await provider.called()
        running.cancel()
        await asyncio.wait([running])
    assert [(event.kind, event.status) for event in events[-2:]] == [
        ("tool_call_completed", "unfinished"),
        ("execution_completed", "cancelled"),
    ]


async def test_calls_far_beyond_the_limit_are_counted_and_not_told_one_by_one() -> None:
    events: list[ObserverEvent] = []
    program = "for (let i = 0; i < 5000; i++) tools.app.echo({}).catch(() => {}); return 1"
    async with kit(app(), observer=events.append, limits={"max_tool_calls": 2}) as code_mode:
        result = await code_mode.run(program)
    assert result.ok
    assert events[-1].calls == 5000
    assert [event.kind for event in events].count("tool_call_completed") == len(result.calls)


async def test_runs_at_once_are_told_apart_and_each_in_its_own_order() -> None:
    events: list[ObserverEvent] = []
    program = "for (let i = 0; i < 5; i++) await tools.app.echo({ i })"
    async with kit(app(), observer=events.append) as code_mode:
        results = await asyncio.gather(*(code_mode.run(program) for _ in range(20)))
    for result in results:
        own = [event for event in events if event.execution_id == result.execution_id]
        assert [event.sequence for event in own] == list(range(1, 18))
        assert (own[0].kind, own[-1].kind) == ("execution_started", "execution_completed")


SECRET = "hush-hush-4711"


@pytest.mark.proves("observe.payload-free")
async def test_nothing_that_was_said_is_in_any_event() -> None:
    """In code, context, arguments, results, progress, logs, errors, denials and the principal."""
    events: list[ObserverEvent] = []

    async def work(secret: str, context: ToolContext) -> str:
        context.report_progress(secret)
        if secret.startswith("fail"):
            raise RuntimeError(secret)
        return secret

    async def policy(request: PolicyRequest) -> Any:
        return Deny(SECRET) if "deny" in str(request.input) else Allow()

    program = f"""
    console.log({SECRET!r}, context);
    for (const secret of [{SECRET!r}, 'fail {SECRET}', 'deny {SECRET}'])
      await tools.app.work({{ secret }}).catch(() => 0);
    await tools.app.work({{ {SECRET.replace("-", "_")}: 1 }}).catch(() => 0);
    throw new Error({SECRET!r});
    """
    async with kit(local("app", [work]), policy=policy, observer=events.append) as code_mode:
        result = await code_mode.run(program, context={"it": SECRET}, principal=SECRET)
    assert [row.status for row in result.calls] == ["completed", "failed", "denied", "rejected"]
    assert events[-1].kind == "execution_completed"
    shown = repr(events)
    assert SECRET not in shown
    assert SECRET.replace("-", "_") not in shown
