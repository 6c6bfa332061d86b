"""Two things that happen to a run at nearly the same time, in every order and at every distance.

A run over a scripted sandbox moves only when the event loop turns, and the loop's clock is put forward by hand: each
case is one interleaving, and all of them are tried.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import anyio
import pytest

from codemodekit.bridge.receipts import rerun_verdict
from codemodekit.code_mode import CodeMode, ObserverEvent, RunEvent, RunResult
from codemodekit.contracts import (
    Answer,
    Calls,
    Guest,
    GuestCall,
    Launch,
    LogEntry,
    Program,
    Returned,
    Step,
    ToolCall,
)
from codemodekit.errors import SourceLost, ToolError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.testing import InMemoryProvider
from scripted_kit import turns

pytestmark = [pytest.mark.anyio, pytest.mark.proves("result.one-outcome", "api.cancel", "result.receipt")]

DISTANCE = 14
"""More turns than a run takes from the answer of its first call to its end."""


class Player:
    """A sandbox whose every program calls `hold` and `look`, then `echo` once `look` is answered, and returns when all
    three are."""

    def __init__(self) -> None:
        self.guests: list[PlayerGuest] = []

    async def launch(self, _program: Program, _launch: Launch) -> Guest:
        self.guests.append(PlayerGuest())
        return self.guests[-1]

    async def aclose(self) -> None:
        """There is nothing to stop."""


class PlayerGuest:
    logs: tuple[LogEntry, ...] = ()

    def __init__(self) -> None:
        self.answered: list[int] = []
        self.made: set[int] = set()
        self.closed = 0

    async def step(self, answers: Sequence[Answer]) -> Step:
        self.answered += [answer.id for answer in answers]
        if {1, 2, 3} <= set(self.answered):
            return Returned("1")
        return Calls(tuple(self._new()))

    def _new(self) -> Iterator[GuestCall]:
        for number, tool in ((1, "hold"), (2, "look"), (3, "echo")):
            if number not in self.made and (number < 3 or 2 in self.answered):
                self.made.add(number)
                yield GuestCall(number, "app", tool, {}, 2)

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Case:
    """One run, what is done to it, and all that was heard of it."""

    code_mode: CodeMode
    provider: InMemoryProvider
    clock: list[float]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: Any = 1
    running: asyncio.Task[RunResult] | None = None
    progress: list[RunEvent] = field(default_factory=list)
    observed: list[ObserverEvent] = field(default_factory=list)

    async def hold(self, call: ToolCall) -> Any:
        await self.released.wait()
        call.report_progress("released")
        return self.outcome

    async def run(self) -> RunResult:
        async def listen(event: RunEvent) -> None:
            self.progress.append(event)

        with self.scope:
            return await self.code_mode.run("return 1", on_progress=listen)
        raise asyncio.CancelledError


def answers(case: Case) -> None:
    case.released.set()


def fails(case: Case) -> None:
    case.outcome = ToolError("no")
    case.released.set()


def is_lost(case: Case) -> None:
    case.outcome = SourceLost("gone")
    case.released.set()


def is_cancelled(case: Case) -> None:
    assert case.running is not None
    case.running.cancel()


def is_left(case: Case) -> None:
    case.scope.cancel()


def outlasts_its_call(case: Case) -> None:
    case.clock[0] += 31


def outlasts_the_wall(case: Case) -> None:
    case.clock[0] += 61


@contextmanager
def clock_by_hand() -> Iterator[list[float]]:
    """Seconds by which the loop's clock is ahead of the real one."""
    loop, ahead = asyncio.get_running_loop(), [0.0]
    real = loop.time
    loop.time = lambda: real() + ahead[0]  # type: ignore[method-assign]
    try:
        yield ahead
    finally:
        loop.time = real  # type: ignore[method-assign]


def host(provider: InMemoryProvider, cases: dict[str, Case], player: Player | None = None) -> CodeMode:
    async def observe(event: ObserverEvent) -> None:
        cases["now"].observed.append(event)

    return CodeMode(
        providers=[provider],
        tool_policy=allow_all_tool_calls(),
        sandbox=player or Player(),
        limits=ExecutionLimits(progress_events_per_second=100),
        observer=observe,
    )


async def play(case: Case, one: Callable[[Case], Any], at: int, other: Callable[[Case], Any], then: int) -> None:
    """Start the run, let its calls arrive, do both things at their turns, and let everything come to rest."""
    case.provider.answer("hold", case.hold)
    before = len(case.provider.calls)
    case.running = asyncio.create_task(case.run())
    await case.provider.called(before + 2)
    for turn in range(DISTANCE):
        if turn == at:
            one(case)
        if turn == then:
            other(case)
        await asyncio.sleep(0)
    case.released.set()
    async with asyncio.timeout(100):
        await asyncio.wait({case.running})
    sent = len(case.provider.calls)
    for call in case.provider.calls[before:]:
        call.report_progress("late")
    await turns()
    assert len(case.provider.calls) == sent, "dispatched after the end"
    check(case, case.provider.calls[before:])


def check(case: Case, sent: list[ToolCall]) -> None:
    """One ending, told once and last; each call ended once, and the same wherever it is told."""
    assert case.running is not None
    assert [event.kind for event in case.progress].count("finished") == 1
    assert [event.kind for event in case.observed].count("execution_completed") == 1
    assert case.progress[-1].kind == "finished"
    assert "late" not in {event.message for event in case.progress}
    ended_at = {event.call_id: event.sequence for event in case.progress if event.kind == "tool_finished"}
    assert all(each.sequence < ended_at[each.call_id] for each in case.progress if each.kind == "tool_progress")
    last = case.observed[-1]
    assert (last.kind, last.status) == ("execution_completed", case.progress[-1].status)
    ends = Counter(event.call_id for event in case.observed if event.kind == "tool_call_completed")
    assert set(ends.values()) == {1}
    assert last.calls == len(ends)
    told = {event.call_id: event.status for event in case.observed if event.kind == "tool_call_completed"}
    started = {event.call_id for event in case.observed if event.kind == "tool_call_started"}
    assert started == {call.call_id for call in sent}
    assert {call_id for call_id, status in told.items() if status not in ("rejected", "denied")} == started
    if not case.running.cancelled():
        result = case.running.result()
        assert last.status == ("ok" if result.ok else "failed")
        assert {row.id: str(row.status) for row in result.calls} == told
        assert result.rerun is rerun_verdict(result.calls)
        assert not result.ok or "unfinished" not in told.values()


def ending(case: Case) -> str:
    assert case.running is not None
    if case.running.cancelled():
        return "cancelled"
    result = case.running.result()
    return str(result.error.code) if result.error else " ".join(sorted({str(row.status) for row in result.calls}))


PAIRS: list[tuple[Callable[[Case], None], Callable[[Case], None], set[str]]] = [
    (answers, is_cancelled, {"completed", "cancelled"}),
    (answers, is_left, {"completed", "cancelled"}),
    (answers, outlasts_the_wall, {"completed", "EXECUTION_TIMEOUT"}),
    (answers, outlasts_its_call, {"completed", "completed timedOut"}),
    (fails, is_cancelled, {"completed failed", "cancelled"}),
    (fails, outlasts_its_call, {"completed failed", "completed timedOut", "completed failed timedOut"}),
    (is_lost, is_cancelled, {"completed unknown", "cancelled"}),
    (is_lost, outlasts_the_wall, {"completed unknown", "EXECUTION_TIMEOUT"}),
    (outlasts_its_call, is_cancelled, {"completed timedOut", "cancelled"}),
    (outlasts_the_wall, is_cancelled, {"EXECUTION_TIMEOUT", "cancelled"}),
    (is_cancelled, is_cancelled, {"cancelled"}),
    (is_cancelled, is_left, {"cancelled"}),
]


@pytest.mark.parametrize(("one", "other", "endings"), PAIRS)
async def test_whatever_comes_first_there_is_one_ending(
    one: Callable[[Case], None], other: Callable[[Case], None], endings: set[str]
) -> None:
    provider, cases = InMemoryProvider("app", ["hold", "look", "echo"]), dict[str, Case]()
    seen: set[str] = set()
    told: set[str | None] = set()
    player = Player()
    with clock_by_hand() as clock:
        async with host(provider, cases, player) as code_mode:
            await code_mode.settled(5)
            for at, then in product(range(DISTANCE), repeat=2):
                case = cases["now"] = Case(code_mode, provider, clock)
                await play(case, one, at, other, then)
                seen.add(ending(case))
                told |= {event.message for event in case.progress if event.kind == "tool_progress"}
    assert seen == endings
    assert told == ({"released"} if one in (answers, fails, is_lost) else set())
    assert all(guest.closed for guest in player.guests)
    assert all(len(guest.answered) == len(set(guest.answered)) for guest in player.guests)


@pytest.mark.proves("api.close")
@pytest.mark.parametrize("one", [answers, is_cancelled, outlasts_the_wall])
async def test_a_host_that_closes_meanwhile_gives_each_run_one_ending(one: Callable[[Case], None]) -> None:
    seen: set[str] = set()
    for at, then in product(range(0, DISTANCE, 3), range(DISTANCE)):
        provider, cases = InMemoryProvider("app", ["hold", "look", "echo"]), dict[str, Case]()
        closing: list[asyncio.Task[None]] = []
        with clock_by_hand() as clock:
            async with host(provider, cases) as code_mode:
                await code_mode.settled(5)
                case = cases["now"] = Case(code_mode, provider, clock)

                def close(case: Case, closing: list[asyncio.Task[None]] = closing) -> None:
                    closing.append(asyncio.create_task(case.code_mode.aclose()))

                await play(case, one, at, close, then)
                seen.add(ending(case))
                await closing[0]
    assert "EXECUTION_CANCELLED" in seen
    assert len(seen) > 1
