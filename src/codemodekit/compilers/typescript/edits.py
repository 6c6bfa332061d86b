"""Changes to a text that keep every position, and the few that do not, with the way back.

A blank turns characters into spaces and leaves line ends alone; a put writes one character over one; both keep all
positions. An insertion moves what follows on its line to the right and is remembered, so that a place in the outcome
can be traced to the text it came from. Insertions never hold a line end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from codemodekit.compilers.typescript.text import LINE_ENDS

__all__ = ["Edits", "Insertions"]

_VISIBLE = re.compile(f"[^{LINE_ENDS}]+")


@dataclass(frozen=True, slots=True)
class Insertions:
    """Where text was inserted and how much, sorted by place."""

    places: tuple[int, ...] = ()
    """Offsets in the original text."""
    shifts: tuple[int, ...] = ()
    """How far the text from the place on is moved in all."""

    def origin(self, offset: int) -> int:
        """The original offset of an offset in the outcome; inside inserted text, the place of the insertion."""
        ends = [place + shift for place, shift in zip(self.places, self.shifts, strict=True)]
        index = bisect_right(ends, offset)
        before = self.shifts[index - 1] if index else 0
        original = offset - before
        return min(original, self.places[index]) if index < len(self.places) else original

    def outcome(self, offset: int) -> int:
        """The offset in the outcome of an original offset."""
        index = bisect_right(self.places, offset)
        return offset + (self.shifts[index - 1] if index else 0)


@dataclass(slots=True)
class Edits:
    """Collected changes to one text; applied once."""

    blanks: list[tuple[int, int]] = field(default_factory=list)
    puts: dict[int, str] = field(default_factory=dict)
    insertions: list[tuple[int, str]] = field(default_factory=list)

    def blank(self, start: int, end: int) -> None:
        self.blanks.append((start, end))

    def put(self, at: int, character: str) -> None:
        """Write a character over another; it outlives a blank of the same place."""
        self.puts[at] = character

    def insert(self, at: int, text: str) -> None:
        """Insert before the character at `at`; of several at one place, in the order they were asked for."""
        self.insertions.append((at, text))

    def apply(self, units: str) -> tuple[str, Insertions]:
        return self._inserted(self._overwritten(units))

    def _overwritten(self, units: str) -> str:
        pieces: list[str] = []
        done = 0
        for start, end in sorted(self.blanks):
            if end <= done:
                continue
            start = max(start, done)
            pieces += (units[done:start], _VISIBLE.sub(_spaces, units[start:end]))
            done = end
        text = "".join([*pieces, units[done:]])
        if not self.puts:
            return text
        pieces, done = [], 0
        for at, character in sorted(self.puts.items()):
            pieces += (text[done:at], character)
            done = at + 1
        return "".join([*pieces, text[done:]])

    def _inserted(self, text: str) -> tuple[str, Insertions]:
        if not self.insertions:
            return text, Insertions()
        ordered = sorted(self.insertions, key=lambda insertion: insertion[0])
        pieces: list[str] = []
        done = 0
        for at, inserted in ordered:
            pieces += (text[done:at], inserted)
            done = at
        shifts = accumulate(len(inserted) for _, inserted in ordered)
        return "".join([*pieces, text[done:]]), Insertions(tuple(at for at, _ in ordered), tuple(shifts))


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])
