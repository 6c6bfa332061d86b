"""Tiny HTTP servers that say what a test tells them to, also what no SDK would."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
from mcp_helpers import free_port

__all__ = ["Answer", "Script", "older_server", "result"]

Answer = tuple[int, dict[str, str], bytes]


class Script:
    """A tiny HTTP server for one test: `respond` gets method, headers (with the path as `path`) and body of
    each request."""

    def __init__(self, respond: Callable[[str, dict[str, str], dict[str, Any]], Awaitable[Answer | None]]) -> None:
        self._respond = respond
        self.port = free_port()
        self.seen: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Script]:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=self.port) as listener:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, self._serve)
                yield self
                tasks.cancel_scope.cancel()

    async def _serve(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            buffer = b""
            while True:
                while b"\r\n\r\n" not in buffer:
                    try:
                        buffer += await stream.receive()
                    except (anyio.EndOfStream, anyio.BrokenResourceError):
                        return
                head, _, buffer = buffer.partition(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                while len(buffer) < int(headers.get("content-length", 0)):
                    buffer += await stream.receive()
                size = int(headers.get("content-length", 0))
                body, buffer = buffer[:size], buffer[size:]
                method, headers["path"] = first.split(" ")[:2]
                self.seen.append((method, headers))
                answer = await self._respond(method, headers, json.loads(body) if body else {})
                if answer is None:
                    return  # the connection breaks without an answer
                status, more, content = answer
                more = {"content-length": str(len(content)), **more}
                lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in more.items()), "", ""]
                await stream.send("\r\n".join(lines).encode("latin-1") + content)
                if more["content-length"] != str(len(content)):
                    return  # the connection breaks in the middle


def result(message: dict[str, Any], value: Any) -> Answer:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}).encode()
    return 200, {"content-type": "application/json"}, body


def older_server(tool: Callable[[str, dict[str, Any]], Awaitable[Answer | None]]) -> Script:
    """A server of the older protocol that answers with JSON; `tool` answers the calls."""

    async def respond(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer | None:
        match message.get("method"):
            case None:
                return 405, {}, b""
            case "initialize":
                info = {"name": "s", "version": "1"}
                return result(message, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info})
            case "tools/list":
                return result(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
            case "tools/call":
                return await tool(message["params"]["name"], message)
            case "ping":
                return result(message, {})
            case _:
                return 202, {}, b""

    return Script(respond)
