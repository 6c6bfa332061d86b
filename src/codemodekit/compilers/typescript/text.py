"""Program text as a string of UTF-16 units, the one coordinate system of this package.

Every offset in this package counts UTF-16 units, as JavaScript engines and editors do. Python strings count code
points, so a character beyond the basic plane is held as its two surrogates while we work and joined again at the end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from codemodekit.diagnostics import Location

__all__ = ["LINE_ENDS", "SourceText", "join_surrogates"]

LINE_ENDS = "\n\r\u2028\u2029"
"""What JavaScript takes for the end of a line."""

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LONE = re.compile("[\ud800-\udfff]")
_CARRIAGE_RETURN = re.compile("\r(?!\n)")


class SourceText:
    """The text a model wrote, addressable by UTF-16 offset."""

    def __init__(self, source: str) -> None:
        self.source = source
        # A carriage return alone ends a line in editors, but not in the parser, and the engine does not count it.
        units = _CARRIAGE_RETURN.sub("\n", source) if "\r" in source else source
        self.units = units if units.isascii() else _ASTRAL.sub(_pair, units)

    @property
    def unspeakable(self) -> int | None:
        """Offset of the first character no engine can be given: NUL, or half of a surrogate pair."""
        places = [self.units.find("\0")]
        if not self.source.isascii() and (lone := _LONE.search(self.source)):
            places.append(lone.start() + len(_ASTRAL.findall(self.source, 0, lone.start())))
        return min((place for place in places if place >= 0), default=None)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.units))]

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def location(self, start: int, end: int | None = None) -> Location:
        """The place of an offset, and of the end of a range if given."""
        line, column = self._place(start)
        if end is None or end <= start:
            return Location(line, column)
        return Location(line, column, *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        offset = min(max(offset, 0), len(self.units))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int | None:
        """The offset of a place, held inside its line; None for a line that does not exist."""
        if not 1 <= line <= len(self._starts):
            return None
        last = self._starts[line] - 1 if line < len(self._starts) else len(self.units)
        return min(self._starts[line - 1] + max(column, 1) - 1, last)


def join_surrogates(units: str) -> str:
    """Back from UTF-16 units to a Python string."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _pair(match: re.Match[str]) -> str:
    value = ord(match[0]) - 0x10000
    return chr(0xD800 + (value >> 10)) + chr(0xDC00 + (value & 0x3FF))
