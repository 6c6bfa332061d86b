"""A stream of bytes cut into lines, of which only so much is held: of a line beyond the bound, both ends remain.

Knows nothing of what is on a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["END_BYTES", "MAX_MESSAGE_BYTES", "EndlessLine", "Line", "Lines", "refuse_endless"]

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""Longest message of a server that is read, over every transport; a longer one costs its call."""

_ENDLESS: Final = 16
"""A line so many times longer than the longest that is read will not end."""

END_BYTES: Final = 512
"""Enough of either end of a message to find its id in."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; of one that is too long, both ends."""

    head: bytes
    """The whole line if it is `whole`."""
    tail: bytes
    whole: bool


class EndlessLine(Exception):
    """A line goes on and on; nothing that comes after it can be waited for."""


def refuse_endless(size: int) -> None:
    """Return while a message of this size may still end.

    Raises:
        EndlessLine: it may not.
    """
    most = _ENDLESS * MAX_MESSAGE_BYTES
    if size > most:
        raise EndlessLine(f"the server sent more than {most} bytes without an end")


class Lines:
    """Cuts a stream of bytes into lines, holding at most MAX_MESSAGE_BYTES of one."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""
        self._tail = b""

    @property
    def too_long(self) -> bool:
        """Whether the line that is coming in is beyond the bound already."""
        return self._size > MAX_MESSAGE_BYTES

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that the chunk completes.

        Raises:
            EndlessLine: one that does not end.
        """
        *complete, rest = chunk.split(b"\n")
        found = []
        for piece in complete:
            self._hold(piece)
            found.append(self._take())
        self._hold(rest)
        refuse_endless(self._size)
        return found

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        self._parts.append(piece)
        if self.too_long:
            # Only ends are joined: the whole would be held a second time while it is.
            self._head = self._head or b"".join(part[:END_BYTES] for part in self._parts[:END_BYTES])[:END_BYTES]
            ends = b"".join(part[-END_BYTES:] for part in self._parts[-END_BYTES:])
            self._tail = (self._tail + ends)[-END_BYTES:]
            self._parts = []

    def _take(self) -> Line:
        whole = not self.too_long
        data = b"".join(self._parts)
        line = Line(data, data, whole) if whole else Line(self._head, self._tail, whole)
        self._parts, self._size, self._head, self._tail = [], 0, b"", b""
        return line
