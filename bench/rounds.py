"""Takes the samples of a workload: both sides in turn, round after round, so that a machine that slows down for a while
slows both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

from bench.sides import SideFailed, SideName, SideProcess
from bench.workload import Sizes, Workload

__all__ = ["Measured", "OnRound", "measure"]

OnRound: TypeAlias = Callable[[int, int], None]
"""Told after each round how many are done, of how many."""

Samples: TypeAlias = Mapping[str, Sequence[float]]
"""By figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came out of a workload."""

    workload: Workload
    rounds: int
    ours: Samples = field(default_factory=dict)
    peer: Samples = field(default_factory=dict)
    failures: Mapping[SideName, str] = field(default_factory=dict)
    """Sides that could not do the work, and what they said; they have no samples."""


def _unheard(_done: int, _of: int) -> None:
    """The default listener."""


def measure(
    workload: Workload,
    sizes: Sizes,
    *,
    with_peer: bool,
    on_round: OnRound = _unheard,
) -> Measured:
    """Measure a workload. Warm sides take one sample that does not count before the rounds begin.

    Args:
        workload: what is done.
        sizes: how much of it.
        with_peer: whether the peer takes part, where it can.
        on_round: told how far it is.
    """
    names: tuple[SideName, ...] = ("ours", "peer") if with_peer and workload.peer is not None else ("ours",)
    taking = _Taking(workload, sizes, names, on_round)
    taking.cold() if workload.is_cold else taking.warm()
    return taking.measured()


class _Taking:
    """The samples of one workload while they are taken. A side that fails is left out from then on."""

    def __init__(self, workload: Workload, sizes: Sizes, names: Sequence[SideName], on_round: OnRound) -> None:
        self._workload = workload
        self._sizes = sizes
        self._rounds = min(sizes.rounds, workload.most_rounds)
        self._on_round = on_round
        self._names = names
        self._samples: dict[SideName, dict[str, list[float]]] = {name: defaultdict(list) for name in names}
        self._failures: dict[SideName, str] = {}

    def warm(self) -> None:
        with ExitStack() as stack:
            sides = {name: stack.enter_context(self._process(name)) for name in self._names}
            for name, side in sides.items():
                self._trying(name, side, counts=False)
            for round_ in range(self._rounds):
                for name in self._order(round_):
                    self._trying(name, sides[name])
                self._on_round(round_ + 1, self._rounds)

    def cold(self) -> None:
        for round_ in range(self._rounds):
            for name in self._order(round_):
                with self._process(name) as side:
                    self._trying(name, side)
            self._on_round(round_ + 1, self._rounds)

    def measured(self) -> Measured:
        empty: Samples = {}
        good = {name: samples for name, samples in self._samples.items() if name not in self._failures}
        return Measured(
            workload=self._workload,
            rounds=self._rounds,
            ours=good.get("ours", empty),
            peer=good.get("peer", empty),
            failures=self._failures,
        )

    def _process(self, name: SideName) -> SideProcess:
        return SideProcess(self._workload, name, self._sizes)

    def _order(self, round_: int) -> list[SideName]:
        # who comes second may find a warmer or a tireder machine: so they take turns
        names = [name for name in self._names if name not in self._failures]
        return names[::-1] if round_ % 2 else names

    def _trying(self, name: SideName, side: SideProcess, *, counts: bool = True) -> None:
        if name in self._failures:
            return
        try:
            figures = side.sample()
        except SideFailed as failure:
            self._failures[name] = str(failure)
            return
        if counts:
            for figure, value in figures.items():
                self._samples[name][figure].append(value)
