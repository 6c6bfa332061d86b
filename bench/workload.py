"""What a workload is: work of one kind, done by two sides, that gives figures with targets.

Values only. Processes and rounds are in `sides` and `rounds`; arithmetic over rounds is in `report`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

__all__ = [
    "FULL",
    "QUICK",
    "TINY",
    "AsFast",
    "AtLeastPeer",
    "Bound",
    "Figure",
    "Measure",
    "Side",
    "Sizes",
    "Target",
    "Workload",
    "WrongResult",
    "middle",
    "require",
    "times",
]


class WrongResult(Exception):
    """The work was done wrongly, so its time means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is done. The work of one sample is the same in FULL and QUICK; QUICK takes fewer samples."""

    rounds: int
    """Samples of each figure."""
    runs: int
    """Repetitions inside a sample that is a middle of many, at most."""
    seconds: float
    """Such repetitions stop after so long; a slow side repeats less often."""
    calls: int = 1_000
    """Calls of one program, one after another."""
    batches: int = 125
    width: int = 8
    """Calls of one program, `width` at a time."""
    result_bytes: int = 2 * 1024 * 1024
    """One tool result as JSON: as large as the default limit allows, nearly."""
    concurrent: int = 300
    """Programs at one time."""
    catalogues: tuple[int, ...] = (1_000, 10_000)
    """Tools in the catalogues that are built and searched; the targets hold for the last one."""
    searched: tuple[int, ...] = (200, 2_000, 10_000, 47_000)
    """Tools in the catalogues whose searches are judged."""
    probes: int = 200
    """Tools that are asked for in each of them; all of them are in the smallest."""
    servers: int = 300
    """Servers whose tools they are."""
    kept_between: tuple[int, int] = (2_000, 47_000)
    """Sizes between which not much may be lost; the larger is the last one."""
    other_processes: int = 2
    """Processes that must answer alike."""
    refreshed: int = 10_000
    """Tools in the catalogue of which one source changes."""
    peer_calls: tuple[int, ...] = (500, 40, 6)
    """Calls of one program in the peer at 1 tool, at each size of catalogue: its calls cost more the more tools there
    are, and a rate needs no thousand of them."""

    def with_repetitions(self, *, runs: int, seconds: float) -> Sizes:
        """The same with fewer repetitions inside a sample; never with more."""
        return replace(self, runs=min(self.runs, runs), seconds=min(self.seconds, seconds))

    @property
    def few(self) -> Sizes:
        """The same with the repetitions of work that is long in itself."""
        return self.with_repetitions(runs=5, seconds=1.0)


FULL = Sizes(rounds=7, runs=300, seconds=1.0)
QUICK = Sizes(rounds=3, runs=100, seconds=0.5)
TINY = Sizes(
    rounds=1, runs=3, seconds=0.5, calls=5, batches=2, width=3, result_bytes=4_096, concurrent=3,
    catalogues=(5, 20), peer_calls=(3, 3, 3), searched=(40, 80), probes=10, servers=4, kept_between=(40, 80),
    refreshed=80, other_processes=1,
)  # fmt: skip
"""For a test that the work is done rightly; its times mean nothing."""

Measure: TypeAlias = Callable[[], Awaitable[Mapping[str, float]]]
"""Takes one sample: figures by name."""

Side: TypeAlias = Callable[[Sizes], AbstractAsyncContextManager[Measure]]
"""Prepares the work on one side; what is inside is not timed."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The median is no worse than this."""

    value: float
    is_aim: bool = False
    """Something to wish for: it is shown, but missing it is no miss."""


@dataclass(frozen=True, slots=True)
class AtLeastPeer:
    """No worse than the peer in the same rounds."""


@dataclass(frozen=True, slots=True)
class AsFast:
    """No worse than another figure in the same rounds, within a tolerance for noise."""

    figure: str
    what: str
    """The other figure, in words."""
    tolerance: float
    """0.25: a quarter worse is the same."""


Target: TypeAlias = Bound | AtLeastPeer | AsFast


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of a workload."""

    name: str
    title: str
    unit: Literal["ms", "s", "CPU s", "calls/s", "runs/s", "recall@5", "share", "MiB"]
    targets: tuple[Target, ...] = ()

    @property
    def more_is_better(self) -> bool:
        return self.unit.endswith("/s") or self.unit in ("recall@5", "share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Work of one kind."""

    name: str
    title: str
    figures: Callable[[Sizes], tuple[Figure, ...]]
    ours: Side
    peer: Side | None = None
    """FastMCP's code mode at the same work; may give fewer figures. Imports it only when called: it is optional."""
    most_rounds: int = 99
    """Heavy work is done in fewer rounds."""
    is_cold: bool = False
    """Every round in a new process and without a warm-up: for work that a process does once."""


def require(is_right: bool, what: object) -> None:
    """Raises WrongResult, with what came instead, if the work was done wrongly."""
    if not is_right:
        raise WrongResult(f"wrong result: {str(what)[:500]}")


async def times(work: Callable[[], Awaitable[None]], sizes: Sizes) -> list[float]:
    """Seconds of each repetition, ascending: `sizes.runs` of them, or what fits in `sizes.seconds`, at least one."""
    taken: list[float] = []
    end = time.perf_counter() + sizes.seconds
    while len(taken) < sizes.runs and (not taken or time.perf_counter() < end):
        start = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - start)
    return sorted(taken)


async def middle(work: Callable[[], Awaitable[None]], sizes: Sizes) -> float:
    """Seconds of the middle one of `times`."""
    taken = await times(work, sizes)
    return taken[len(taken) // 2]
