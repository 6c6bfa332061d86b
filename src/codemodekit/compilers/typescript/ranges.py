"""Ranges of a text and the quick question whether a place lies in one; every answer takes logarithmic time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["NamedRanges", "Ranges"]


class Ranges:
    """Ranges that may overlap, kept as the fewest that cover the same."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def covers(self, at: int) -> bool:
        index = bisect_right(self._starts, at) - 1
        return index >= 0 and at < self._ends[index]


class NamedRanges:
    """Where which name is known."""

    def __init__(self) -> None:
        self._added: dict[str, list[tuple[int, int]]] = {}
        self._ranges: dict[str, Ranges] = {}

    def add(self, name: str, within: tuple[int, int]) -> None:
        self._added.setdefault(name, []).append(within)
        self._ranges.pop(name, None)

    def covers(self, name: str, at: int) -> bool:
        if name not in self._ranges:
            self._ranges[name] = Ranges(self._added.get(name, ()))
        return self._ranges[name].covers(at)
