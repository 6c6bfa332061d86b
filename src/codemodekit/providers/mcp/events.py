"""A stream of server-sent events, each held to the bound of a message.

Not the HTTP client's own reader: beyond its bound that one gives the whole stream up, and every call on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from codemodekit.providers.mcp import lines
from codemodekit.providers.mcp.lines import Line, Lines, refuse_endless

__all__ = ["Event", "events"]

_MOST_FIELDS: Final = 16
"""Lines beside the data that are kept of an event that is too long."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    name: str
    data: Line
    fields: tuple[bytes, ...]
    """Its lines beside the data, as they came."""


@dataclass(slots=True)
class _Draft:
    """An event while its lines come in."""

    name: str = ""
    data: list[Line] = field(default_factory=list)
    fields: list[bytes] = field(default_factory=list)
    size: int = 0

    def take(self, line: Line) -> None:
        name, _, value = line.head.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self.data.append(Line(value, value if line.whole else line.tail, line.whole))
        elif line.whole and name:  # a line without a name is a comment
            self.fields.append(line.head)
            if name == b"event":
                self.name = value.decode("utf-8", "replace")
        self.size += len(line.head) if name else 0
        if self.size > lines.MAX_MESSAGE_BYTES:
            self._let_go()

    def _let_go(self) -> None:
        self.fields = self.fields[:_MOST_FIELDS]
        if self.data:
            first, last = self.data[0].head[: lines.END_BYTES], self.data[-1].tail[-lines.END_BYTES :]
            self.data = [Line(first, last, False)]

    def event(self) -> Event:
        if len(self.data) == 1:
            data = self.data[0]
        else:
            head, tail = (b"\n".join(ends) for ends in ([p.head for p in self.data], [p.tail for p in self.data]))
            data = Line(head, tail, all(part.whole for part in self.data))
        return Event(self.name or "message", data, tuple(self.fields))


async def events(chunks: AsyncIterator[bytes], *, until_too_long: bool = False) -> AsyncIterator[Event]:
    """The events of a stream that comes in pieces cut anywhere; one that is cut off by the end is none.

    `until_too_long`: an event beyond the bound is told at once, as the last one, and not when it ends.

    Raises:
        EndlessLine: an event does not end.
    """
    cutter, draft, after_return = Lines(), _Draft(), False
    async for chunk in chunks:
        text = chunk.removeprefix(b"\n") if after_return else chunk
        after_return = chunk.endswith(b"\r")  # it has ended its line, and its line feed may be in the next piece
        for line in cutter.feed(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")):
            if line.head or not line.whole:
                draft.take(line)
                continue
            done, draft = draft, _Draft()
            if done.data or done.fields:
                yield done.event()
        refuse_endless(draft.size)
        if until_too_long and (cutter.too_long or draft.size > lines.MAX_MESSAGE_BYTES):
            yield Event("message", Line(b"", b"", False), ())
            return
