"""Samples in, a report out: middles and bounds over the rounds, ratios, and which targets are reached. Values only.

Two figures are compared round by round, and the middle of those ratios counts: what slowed a round slowed both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.rounds import Measured
from bench.workload import AsFast, AtLeastPeer, Bound, Figure, Sizes, Target, Workload

__all__ = ["Row", "Spread", "Verdict", "number", "report_of", "to_json"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The samples of one figure on one side."""

    median: float
    minimum: float
    maximum: float
    samples: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and whether it is reached."""

    text: str
    is_reached: bool
    is_aim: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of the report."""

    figure: Figure
    ours: Spread | None
    peer: Spread | None
    ratio: float | None
    """How many times better ours is than the peer's, the middle over the rounds; below 1 it is worse."""
    verdicts: tuple[Verdict, ...]
    """Of the targets that can be judged."""


def report_of(measured: Measured, sizes: Sizes) -> tuple[Row, ...]:
    """A row for each figure of the workload."""
    figures = measured.workload.figures(sizes)
    ours = {figure.name: _spread(measured.ours.get(figure.name, ())) for figure in figures}
    return tuple(_row(figure, ours, _spread(measured.peer.get(figure.name, ()))) for figure in figures)


def _spread(samples: Sequence[float]) -> Spread | None:
    return Spread(median(samples), min(samples), max(samples), tuple(samples)) if samples else None


def _row(figure: Figure, ours: Mapping[str, Spread | None], peer: Spread | None) -> Row:
    mine = ours[figure.name]
    verdicts = () if mine is None else tuple(_judged(figure, mine, ours, peer))
    return Row(
        figure=figure,
        ours=mine,
        peer=peer,
        ratio=_round_by_round(figure, mine, peer) if mine and peer else None,
        verdicts=verdicts,
    )


def _judged(figure: Figure, mine: Spread, ours: Mapping[str, Spread | None], peer: Spread | None) -> list[Verdict]:
    verdicts = (_verdict(figure, target, mine, ours, peer) for target in figure.targets)
    return [verdict for verdict in verdicts if verdict is not None]


def _verdict(
    figure: Figure, target: Target, mine: Spread, ours: Mapping[str, Spread | None], peer: Spread | None
) -> Verdict | None:
    match target:
        case Bound(value, is_aim):
            sign = "≥" if figure.more_is_better else "≤"
            text = f"{'aim ' if is_aim else ''}{sign} {number(value)} {figure.unit}"
            return Verdict(text, _times_better(figure, mine.median, value) >= 1, is_aim)
        case AtLeastPeer():
            return Verdict("≥ peer", _round_by_round(figure, mine, peer) >= 1) if peer else None
        case AsFast(other, what, tolerance):
            base = ours.get(other)
            text = f"≤ {tolerance:.0%} worse than {what}"
            return Verdict(text, _round_by_round(figure, mine, base) >= 1 / (1 + tolerance)) if base else None


def _round_by_round(figure: Figure, one: Spread, other: Spread) -> float:
    return median(_times_better(figure, *pair) for pair in zip(one.samples, other.samples, strict=True))


def _times_better(figure: Figure, one: float, other: float) -> float:
    return one / other if figure.more_is_better else other / one


def number(value: float) -> str:
    """A number with three digits that matter, for people."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def to_json(measured: Measured, rows: Sequence[Row]) -> dict[str, Any]:
    """One workload for the results file."""
    workload: Workload = measured.workload
    return {
        "name": workload.name,
        "title": workload.title,
        "rounds": measured.rounds,
        "failed": sorted(measured.failures),
        "figures": [_row_json(row) for row in rows],
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "name": row.figure.name,
        "title": row.figure.title,
        "unit": row.figure.unit,
        "ours": _spread_json(row.ours),
        "peer": _spread_json(row.peer),
        "ratio": row.ratio,
        "targets": [{"target": each.text, "reached": each.is_reached, "aim": each.is_aim} for each in row.verdicts],
    }


def _spread_json(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"median": spread.median, "min": spread.minimum, "max": spread.maximum, "samples": list(spread.samples)}
