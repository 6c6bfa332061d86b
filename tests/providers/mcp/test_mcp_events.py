"""Streams of events are read the same however the network cuts them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from codemodekit.providers.mcp import lines
from codemodekit.providers.mcp.events import events

pytestmark = [pytest.mark.anyio, pytest.mark.proves("mcp.transports", "mcp.bounded")]

LINES = [
    b"data: x",
    b"data:y",
    b"event: message",
    b"event: endpoint",
    b"id: 1",
    b": comment",
    b"",
    b"",
    b"data",
    b"nonsense",
]
LONG = [b"data: " + b"z" * length for length in (5, 150, 300)]


async def pieces(data: bytes, cuts: list[int]) -> AsyncIterator[bytes]:
    for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
        yield data[start:stop]


async def read(data: bytes, *cuts: int) -> list[tuple[str, bytes | None]]:
    """Names and data; None for data that was too long."""
    return [
        (event.name, event.data.head if event.data.whole else None) async for event in events(pieces(data, [*cuts]))
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_pieces_may_end_anywhere(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_MESSAGE_BYTES", 200)
    chance = random.Random(1)
    for _ in range(400):
        data = end.join(chance.choices(LINES + LONG, k=chance.randint(1, 12))) + end * 2
        cuts = sorted(chance.sample(range(1, len(data)), min(len(data) - 1, chance.randint(0, 6))))
        assert await read(data, *cuts) == await read(data), (data, cuts)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_an_event_is_told_as_soon_as_its_empty_line_is_there(end: bytes) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield end.join([b"event: a", b"data: 1", b"data: 2", b"", b""])
        raise AssertionError("more was asked for")

    found = await anext(events(stream()))
    assert (found.name, found.data.head) == ("a", b"1\n2")
