"""Mixed runs with faults, round after round, against Python functions, a scripted source and a real server's process.

Between rounds everything that was begun has ended, and what the process holds is read. Faults: clients that cancel,
upstreams that are killed, hang or hang up, listings that change, every limit, and other CodeModes that come and go.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from codemodekit import CodeMode, ExecutionLimits, allow_all_tool_calls, local, mcp
from codemodekit.catalog.manager import Reconnect
from codemodekit.testing import InMemoryProvider

from .programs import KINDS, OK, Kind
from .readings import MEMORY, Reading, Verdict, children, judge, read

__all__ = ["ROUNDS", "Report", "soak"]

ROUNDS: Final = 20
_CANCELLED: Final = 0.03
_SLOW: Final = ("TOOL_CALL_TIMEOUT", "EXECUTION_TIMEOUT")
"""How a run that calls tools may always end: the limits are short, so that many runs fit, and machines are busy."""
_AT_ONCE: Final = 16
_SETTLE_SECONDS: Final = 15.0
_RAW_SERVER: Final = Path(__file__).parents[1] / "servers" / "mcp_raw_server.py"
_SCRIPT: Final = {"tools": ["mirror", "hang"], "calls": {"hang": {"hang": True}}}
LIMITS: Final = ExecutionLimits(
    compute_time_ms=60,
    wall_time_ms=2_500,
    tool_call_time_ms=800,
    memory_bytes=8 << 20,
    max_tool_calls=20,
    final_result_bytes=50_000,
    tool_result_bytes=100_000,
)

OnRound = Callable[[int, int], None]
_Fault = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Report:
    """What a soak came to."""

    runs: int = 0
    seconds: float = 0.0
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a kind of run ended how."""
    faults: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    after_closing: list[Verdict] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        leaks = any(verdict.leaks for verdict in (*self.verdicts, *self.after_closing))
        return not (leaks or self.unexpected) and bool(self.verdicts)

    def to_wire(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "ends": {f"{kind}: {end}": count for (kind, end), count in sorted(self.ends.items())},
            "faults": dict(self.faults),
            "unexpected": self.unexpected,
            "plateauAndEnd": [verdict.to_wire() for verdict in self.verdicts],
            "beforeAndAfter": [verdict.to_wire() for verdict in self.after_closing],
        }


class _Tools:
    """Python functions, with a count of those that are being carried out."""

    def __init__(self) -> None:
        self.pending = 0

    def functions(self) -> list[Any]:
        def echo(n: int) -> int:
            return n

        async def twice(n: int) -> int:
            return n * 2

        async def wait() -> None:
            await self._count(asyncio.sleep(0.005))

        async def hang() -> None:
            await self._count(asyncio.Event().wait())

        def fail() -> None:
            raise ValueError("a failure on purpose")

        async def large() -> str:
            return "x" * 200_000

        return [echo, twice, wait, hang, fail, large]

    async def _count(self, awaited: Any) -> None:
        self.pending += 1
        try:
            await awaited
        finally:
            self.pending -= 1


async def soak(
    runs: int,
    seconds: float,
    *,
    seed: int = 1,
    rounds: int = ROUNDS,
    with_child: bool = True,
    on_round: OnRound = lambda _done, _of: None,
) -> Report:
    """So many runs in rounds. A soak that takes longer than its time ends with what it has, which is unexpected."""
    report, began = Report(), time.monotonic()
    await _come_and_go()  # what is loaded at the first time stays
    before = await _settled(read)
    tools = _Tools()
    memory = InMemoryProvider("memory", ["echo", "other"])
    child = mcp.stdio("child", sys.executable, [str(_RAW_SERVER), json.dumps(_SCRIPT)])
    async with CodeMode(
        providers=[local("app", tools.functions()), memory, *([child] if with_child else [])],
        tool_policy=allow_all_tool_calls(),
        limits=LIMITS,
        reconnect=Reconnect(initial_s=0.02, maximum_s=0.2),
    ) as code_mode:
        await code_mode.settled(30)
        chance = random.Random(seed)
        for number in range(rounds):
            await _round(_Round(report, code_mode, memory, chance, with_child), max(runs // rounds, 1))
            memory.calls.clear()
            memory.cancelled.clear()
            wanted = report.readings[-1] if report.readings else None
            report.readings.append(await _settled(lambda: read(tools.pending), wanted, code_mode))
            on_round(number + 1, rounds)
            if time.monotonic() - began > seconds and number + 1 < rounds:
                report.unexpected.append(f"only {report.runs} runs in {seconds:.0f} s")
                break
    report.seconds = time.monotonic() - began
    await asyncio.get_running_loop().shutdown_default_executor()
    after = await _settled(read, before)
    plateau = report.readings[len(report.readings) // 5 : len(report.readings) * 2 // 5 or 1]
    report.verdicts = judge(plateau, report.readings[-len(plateau) :])
    report.after_closing = [each for each in judge([before], [after]) if each.what != MEMORY]
    return report


async def _settled(
    take: Callable[[], Reading], wanted: Reading | None = None, code_mode: CodeMode | None = None
) -> Reading:
    """A reading once all sources are there and nothing but memory is above what is wanted; after a while, as it is."""
    with anyio.move_on_after(_SETTLE_SECONDS):
        # Nothing tells us of either.
        while code_mode is not None and any(health.state != "healthy" for health in code_mode.health()):  # noqa: ASYNC110
            await anyio.sleep(0.02)
        while wanted is not None and _holds_more(take(), wanted):  # noqa: ASYNC110
            await anyio.sleep(0.05)
    return take()


def _holds_more(now: Reading, wanted: Reading) -> bool:
    return any(verdict.leaks for verdict in judge([wanted], [now]) if verdict.what != MEMORY)


@dataclass(frozen=True, slots=True)
class _Round:
    """What the clients of a round share."""

    report: Report
    code_mode: CodeMode
    memory: InMemoryProvider
    chance: random.Random
    with_child: bool
    faults: dict[int, _Fault] = field(default_factory=dict)
    """At which run what goes wrong."""


async def _round(this: _Round, runs: int) -> None:
    plan: list[_Fault] = [_kill_child(this), _hang_up(this), _change(this), _ask(this)]
    if len(this.report.readings) % 4 == 1:
        plan.append(_open_another(this))
    for number, fault in enumerate(plan, 1):
        this.faults[this.report.runs + runs * number // (len(plan) + 1)] = fault
    kinds = [kind for kind in KINDS if this.with_child or "tools.child" not in kind.code]
    work = iter(this.chance.choices(kinds, [kind.weight for kind in kinds], k=runs))
    async with anyio.create_task_group() as tasks:
        for _ in range(_AT_ONCE):
            tasks.start_soon(_client, this, work)


async def _client(this: _Round, work: Iterator[Kind]) -> None:
    report = this.report
    for kind in work:
        fault = this.faults.pop(report.runs, None)
        report.runs += 1  # before anything waits: every number is somebody's, and so is every fault
        if fault is not None:
            await fault()
        running = asyncio.ensure_future(this.code_mode.run(kind.code, context={"n": report.runs}))
        if this.chance.random() < _CANCELLED:
            report.faults["client cancelled"] += 1
            await asyncio.sleep(this.chance.random() * 0.01)
            running.cancel()
        try:
            result = await running
        except asyncio.CancelledError:
            report.ends[kind.name, "cancelled"] += 1
            continue
        end = str(result.error.code) if result.error else OK
        report.ends[kind.name, end] += 1
        if end not in kind.ends and not ("tools." in kind.code and end in _SLOW):
            message = result.error.message if result.error else ""
            report.unexpected.append(f"{kind.name}: {end} {message}"[:300])


# --- faults -----------------------------------------------------------------------------------------------------------


def _kill_child(this: _Round) -> _Fault:
    async def fault() -> None:
        for pid in _pids(_RAW_SERVER.name):
            this.report.faults["upstream killed"] += 1
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    return fault


def _pids(words: str) -> list[int]:
    """Our own children with these words in their command line."""
    found = []
    for pid in children():
        with suppress(OSError):
            if words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def _hang_up(this: _Round) -> _Fault:
    async def fault() -> None:
        this.report.faults["provider hung up"] += 1
        this.memory.disconnect()

    return fault


def _change(this: _Round) -> _Fault:
    async def fault() -> None:
        this.report.faults["listing changed"] += 1
        this.memory.change("echo", f"other_{len(this.report.readings) % 2}")

    return fault


def _ask(this: _Round) -> _Fault:
    async def fault() -> None:
        this.report.faults["searched and declared"] += 1
        await this.code_mode.search_tools("echo")
        await this.code_mode.declarations()

    return fault


def _open_another(this: _Round) -> _Fault:
    async def fault() -> None:
        this.report.faults["CodeMode opened and closed"] += 1
        await _come_and_go()

    return fault


async def _come_and_go() -> None:
    """Another CodeMode, for some runs, ended in the middle of one."""
    tools = _Tools()
    async with CodeMode(
        providers=[local("app", tools.functions())], tool_policy=allow_all_tool_calls(), limits=LIMITS
    ) as code_mode:
        await code_mode.settled(30)
        assert (await code_mode.run("return (await tools.app.echo({ n: 1 })).structuredContent")).value == 1
        cut = asyncio.ensure_future(code_mode.run("return await tools.app.hang({})"))
        await asyncio.sleep(0)
    assert not (await cut).ok
