"""An HTTP service on loopback that keeps what reached it, byte for byte, and answers what a test wants answered."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

Answer = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it stood on the wire."""

    method: str
    target: str
    """Path and query, as sent."""
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def echo(request: Received) -> Answer:
    """The request, told as JSON."""
    told: dict[str, Any] = {
        "method": request.method,
        "target": request.target,
        "headers": request.headers,
        "body": base64.b64encode(request.body).decode(),
    }
    return 200, [("Content-Type", "application/json")], json.dumps(told).encode()


@dataclass(slots=True)
class Service:
    """A running service."""

    address: str = ""
    received: list[Received] = field(default_factory=list)
    answer: Callable[[Received], Answer] = echo

    @property
    def last(self) -> Received:
        return self.received[-1]


def text(status: int, body: str, kind: str = "text/plain", **headers: str) -> Answer:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return status, [("Content-Type", kind), *pairs], body.encode()


@asynccontextmanager
async def service() -> AsyncIterator[Service]:
    """A raw HTTP/1.1 server: no framework between a test and what was sent."""
    running = Service()
    server = await asyncio.start_server(lambda r, w: _serve(running, r, w), "127.0.0.1", 0)
    running.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield running
    finally:
        server.close()
        with anyio.move_on_after(5):
            await server.wait_closed()


async def _serve(running: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines if line)]
            size = int(next((value for name, value in headers if name.lower() == "content-length"), "0"))
            request = Received(method, target, headers, await reader.readexactly(size))
            running.received.append(request)
            status, answer_headers, body = running.answer(request)
            known = {name.lower() for name, _ in answer_headers}
            if "content-length" not in known and status not in (204, 304):
                answer_headers = [*answer_headers, ("Content-Length", str(len(body)))]
            head_lines = "".join(f"{name}: {value}\r\n" for name, value in answer_headers)
            writer.write(f"HTTP/1.1 {status} X\r\n{head_lines}\r\n".encode("latin-1"))
            writer.write(b"" if method == "HEAD" else body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
