"""Progress of a run: its order, its limits whatever happens, and what becomes of an upstream's words."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.code_mode import RunEvent
from codemodekit.code_mode.listeners import Outbox, Teller
from codemodekit.code_mode.progress import ProgressWatcher, bounded_message
from codemodekit.code_mode.watching import Ended
from codemodekit.contracts import GuestCall
from codemodekit.limits import ExecutionLimits
from codemodekit.providers.local import ToolContext, local
from scripted_kit import app, kit

CALL = GuestCall(1, "app", "echo", {}, 2)
END = Ended(status="ok", code=None, duration_ms=1.0, calls=1, unlisted=0, rerun=None, result_bytes=None)
RECEIPT = CallReceipt(id="call_1", source="app", tool="echo", status=CallStatus.COMPLETED)


class Told:
    """A listener that is told in place, with the moment of a clock beside each event."""

    at_once = True

    def __init__(self) -> None:
        self.now = 0.0
        self.events: list[tuple[float, RunEvent]] = []

    def __call__(self, event: RunEvent) -> None:
        self.events.append((self.now, event))


gaps = st.lists(st.sampled_from([0.0, 0.001, 0.09, 0.11, 0.5, 0.999, 1.0, 1.001, 30.0]), max_size=150)


@pytest.mark.proves("limit.progress", "observe.events")
@settings(max_examples=200, deadline=None)
@given(gaps=gaps, most=st.integers(1, 120), a_second=st.integers(2, 30), kinds=st.randoms(use_true_random=False))
def test_no_course_of_events_passes_a_limit_and_the_end_is_always_told(
    gaps: list[float], most: int, a_second: int, kinds: Any
) -> None:
    told = Told()

    async def play() -> None:
        limits = ExecutionLimits(max_progress_events=most, progress_events_per_second=a_second)
        outbox = Outbox(told, Teller(), what="test")
        watcher = ProgressWatcher("run_1", limits, outbox, clock=lambda: told.now)
        happenings = [
            watcher.compiled, watcher.running, lambda: watcher.queued(CALL), lambda: watcher.started(CALL),
            lambda: watcher.progress(CALL, "half"), lambda: watcher.finished(CALL, RECEIPT),
        ]  # fmt: skip
        for gap in gaps:
            told.now += gap
            kinds.choice(happenings)()
        watcher.ended(END)

    asyncio.run(play())
    moments = [moment for moment, _ in told.events]
    assert told.events[-1][1].kind == "finished"
    assert len(told.events) <= most
    for start in moments:
        assert sum(start <= moment < start + 1 for moment in moments) <= a_second
    numbers = [event.sequence for _, event in told.events]
    assert numbers == sorted(set(numbers))


@pytest.mark.proves("limit.progress")
@given(text=st.text(max_size=300), most=st.integers(1, 200))
def test_a_message_is_one_line_within_its_bytes_and_whole_characters(text: str, most: int) -> None:
    bounded = bounded_message(text, most)
    assert len(bounded.encode("utf-8")) <= most
    assert all(character >= " " and character != "\x7f" for character in bounded)


@pytest.mark.proves("observe.events", "error.secrets")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("half way", "half way"),
        ("two\nlines\r\n\x1b[31mred", "two lines [31mred"),
        ("token=abcdef123456 in /home/ada/x", "token=[redacted] in [path]/x"),
        ("x" * 5000, "x" * 1021 + "…"),
        ("ä" * 5000, "ä" * 510 + "…"),
        ("\ud800", "?"),
        ("", ""),
    ],
    ids=["plain", "lines", "secret", "long", "wide", "surrogate", "empty"],
)
@pytest.mark.anyio
async def test_what_a_tool_says_is_cleaned_and_cut(said: str, told: str) -> None:
    messages: list[str | None] = []

    async def work(context: ToolContext) -> None:
        context.report_progress(said)

    def listen(event: RunEvent) -> None:
        if event.kind == "tool_progress":
            messages.append(event.message)

    async with kit(local("app", [work])) as code_mode:
        assert (await code_mode.run("await tools.app.work({})", on_progress=listen)).ok
    assert messages == [told]


@pytest.mark.proves("limit.progress", "observe.advisory")
@pytest.mark.anyio
async def test_a_tool_that_never_stops_talking_changes_nothing_for_its_run() -> None:
    heard: list[RunEvent] = []

    def work(context: ToolContext) -> int:
        for number in range(20_000):
            context.report_progress(f"{number}")
        return 7

    async with kit(local("app", [work]), observer=lambda event: None) as code_mode:
        result = await code_mode.run("return (await tools.app.work({})).structuredContent", on_progress=heard.append)
    assert result.value == 7
    assert len(heard) <= 100
    assert heard[-1].kind == "finished"


@pytest.mark.proves("observe.events")
@pytest.mark.anyio
async def test_calls_at_once_have_their_stations_each_in_order() -> None:
    heard: list[RunEvent] = []
    limits = {"progress_events_per_second": 1000}
    async with kit(app(), limits=limits) as code_mode:
        await code_mode.run(
            "await Promise.all(Array.from({ length: 12 }, (_, i) => tools.app.echo({ i })))", on_progress=heard.append
        )
    by_call: dict[str | None, list[str]] = {}
    for event in heard:
        by_call.setdefault(event.call_id, []).append(event.kind)
    assert by_call.pop(None) == ["compiled", "started", "finished"]
    assert list(by_call.values()) == [["tool_queued", "tool_started", "tool_finished"]] * 12
