"""Answers, lines and events without measure: cut off at the bound, held once, and costing one call."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from http_scripts import Answer, older_server
from mcp_helpers import RAW, SERVERS, free_port, listening, outcome, raw_stdio

from codemodekit.contracts import ToolResult
from codemodekit.errors import SourceLost, ToolResultTooLarge
from codemodekit.providers.mcp import lines, listing
from codemodekit.providers.mcp.sources import mcp

pytestmark = [pytest.mark.anyio, pytest.mark.proves("mcp.bounded")]

GROWTH = str(Path(__file__).with_name("growth.py"))
MOST_GROWN_MB = 60
"""For 100 MB: an answer is held up to 16 MiB, while it is joined twice, and pieces are on their way."""


@asynccontextmanager
async def flood_server() -> AsyncIterator[int]:
    """Its port."""
    port = free_port()
    command = [sys.executable, "-S", str(SERVERS / "mcp_flood_server.py"), str(port)]
    with subprocess.Popen(command) as process:  # noqa: ASYNC220 - starts at once
        try:
            await listening(port)
            yield port
        finally:
            process.kill()


async def grown(*arguments: str) -> dict[str, Any]:
    result = await anyio.run_process([sys.executable, "-W", "ignore", GROWTH, *arguments], stderr=None)
    said: dict[str, Any] = json.loads(result.stdout)
    return said


@pytest.mark.slow
@pytest.mark.proves("limit.results", "error.codes")
@pytest.mark.parametrize(
    ("transport", "tool"), [("stdio", "t"), ("http", "json"), ("http", "event"), ("http", "gzip"), ("sse", "event")]
)
async def test_an_answer_of_a_hundred_megabytes_is_cut_off_and_the_process_grows_little(
    transport: str, tool: str
) -> None:
    if transport == "stdio":
        said = await grown("stdio", tool, RAW, json.dumps({"tools": ["t"], "calls": {"t": {"size": 0}}}))
    else:
        async with flood_server() as port:
            path = "mcp" if transport == "http" else "sse"
            said = await grown(transport, tool, f"http://127.0.0.1:{port}/{path}")
    assert (said["large"], said["after"]) == ("TOOL_OUTPUT_LIMIT_EXCEEDED", said["small"])
    assert said["small"] > 60_000
    assert said["grownMb"] < MOST_GROWN_MB


@pytest.fixture
def small_bound(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(lines, "MAX_MESSAGE_BYTES", 20_000)
    return 20_000


async def test_a_line_that_never_ends_costs_its_server(small_bound: int) -> None:
    calls = {"t": {"size": 60 * small_bound, "ends": False}}
    with pytest.raises(SourceLost, match="without an end"):
        async with raw_stdio({"calls": calls}).connect() as session:
            failure = await outcome(session, "t")
            assert isinstance(failure, SourceLost)
            await session.wait_for_change()


def event(request_id: Any, size: int, *, split: bytes = b"") -> bytes:
    text = split.join(b"x" * 1_000 for _ in range(size // 1_000))
    answer = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}' % (request_id, text)
    return b"id: 7\nevent: message\ndata: " + answer + b"\n\n"


@pytest.mark.parametrize("kind", ["json", "event", "event of many lines", "endless event", "gzip", "bomb"])
async def test_an_answer_over_the_bound_fails_its_call_and_leaves_the_connection(small_bound: int, kind: str) -> None:
    async def tool(name: str, message: dict[str, Any]) -> Answer:
        size = 900 * 1_000 if name == "odd" else 1_000
        body = event(message["id"], size)[27:-2]
        stream = {"content-type": "text/event-stream"}
        match kind:
            case "json":
                return 200, {"content-type": "application/json"}, body
            case "event":
                return 200, stream, event(message["id"], size)
            case "event of many lines":
                return 200, stream, event(message["id"], size, split=b"\ndata: " if name == "odd" else b"")
            case "endless event":
                return 200, stream, event(message["id"], size)[: -2 if name == "odd" else None]
            case "bomb":
                bomb = gzip.compress(b" " * 10**8 + body) if name == "odd" else gzip.compress(body)
                return 200, {"content-type": "application/json", "content-encoding": "gzip"}, bomb
            case _:
                return 200, {"content-type": "application/json", "content-encoding": "gzip"}, gzip.compress(body)

    async with older_server(tool).running() as server:
        async with mcp.http("x", server.url, mode="2025-11-25").connect() as session:
            failure = await outcome(session, "odd")
            assert isinstance(failure, ToolResultTooLarge)
            assert f"longer than {small_bound} bytes" in failure.message
            assert isinstance(await outcome(session, "fine"), ToolResult)


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({"content-encoding": "br"}, b"abc", "not asked for"),
        ({"content-encoding": "gzip"}, gzip.compress(b'{"a":1}' * 99)[:-30], "cut off"),
        ({"content-encoding": "deflate"}, b"no", "cannot be decompressed"),
    ],
)
async def test_an_answer_that_cannot_be_unpacked_fails_its_call(
    headers: dict[str, str], body: bytes, words: str
) -> None:
    async def tool(name: str, message: dict[str, Any]) -> Answer:
        return 200, {"content-type": "application/json", **headers}, body

    async with older_server(tool).running() as server:
        async with mcp.http("x", server.url, mode="2025-11-25").connect() as session:
            failure = await outcome(session, "t")
    assert isinstance(failure, SourceLost)
    assert words in str(failure)


@asynccontextmanager
async def sse_server(on_call: Any) -> AsyncIterator[str]:
    """The older transport by hand: `on_call(message, send)` gets every tools/call; its URL."""
    port = free_port()
    streams: list[anyio.abc.SocketStream] = []

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await stream.receive()
            head, _, body = head.partition(b"\r\n\r\n")
            if head.startswith(b"GET"):
                await stream.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                await stream.send(b": hello\r\nevent: endpoint\r\ndata: /messages?session=1\r\n\r\n")
                streams.append(stream)
                await anyio.sleep_forever()
            size = int(next(line for line in head.lower().split(b"\r\n") if b"content-length" in line).split(b":")[1])
            while len(body) < size:
                body += await stream.receive()
            await stream.send(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            message = json.loads(body)
            info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
            if message["method"] == "tools/call":
                await on_call(message, streams[0].send)
            elif "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": info}
                await streams[0].send(b"data: " + json.dumps(answer).encode() + b"\r\n\r\n")

    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            yield f"http://127.0.0.1:{port}/sse"
            tasks.cancel_scope.cancel()


@pytest.mark.proves("mcp.transports", "mcp.hostile")
async def test_odd_events_of_the_older_transport_cost_their_call_and_not_the_connection(small_bound: int) -> None:
    async def on_call(message: dict[str, Any], send: Any) -> None:
        number = message["id"]
        match message["params"]["name"]:
            case "huge":
                await send(event(number, 90_000))
            case "unreadable":
                await send(b'data: {"jsonrpc":"2.0","id":%d,"result":{"x":truth}}\n\n' % number)
            case "surrogate":
                await send(b'data: {"jsonrpc":"2.0","id":%d,"result":{"structuredContent":"\\ud800"}}\n\n' % number)
            case _:
                await send(b"event: noise\ndata: x\n\n: comment\n\ndata: nonsense\n\nretry: 5\n\n")
                for byte in event(number, 1_000):
                    await send(bytes([byte]))

    async with sse_server(on_call) as url, mcp.sse("x", url, mode="2025-11-25").connect() as session:
        got = {name: await outcome(session, name) for name in ("huge", "unreadable", "surrogate", "bytewise")}
    assert {name: type(value).__name__ for name, value in got.items()} == {
        "huge": "ToolResultTooLarge",
        "unreadable": "ToolResultInvalid",
        "surrogate": "ToolResult",
        "bytewise": "ToolResult",
    }


async def test_an_answer_of_more_than_a_megabyte_comes_over_the_older_transport_too() -> None:
    async def on_call(message: dict[str, Any], send: Any) -> None:
        await send(event(message["id"], 1_900_000))

    async with sse_server(on_call) as url, mcp.sse("x", url, mode="2025-11-25").connect() as session:
        got = await outcome(session, "t")
    assert isinstance(got, ToolResult)
    assert len(got.content[0]["text"]) == 1_900_000


async def test_a_listing_without_measure_ends_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_BYTES", 2_000)
    tools = [{"name": f"t{index}", "description": "x" * 500, "inputSchema": {"type": "object"}} for index in range(9)]
    async with raw_stdio({"pages": {"": {"tools": tools, "nextCursor": "1"}, "1": {"tools": []}}}).connect() as session:
        found = await session.list_tools()
    assert [tool.name for tool in found.definitions] == ["t0", "t1", "t2"]
    assert "beyond 20000 tools or 2000 bytes" in found.notes[0]
