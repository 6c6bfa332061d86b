"""An HTTP MCP server of the older protocol that answers calls with as much as it is asked for.

Arguments: `PORT`. `/mcp` speaks Streamable HTTP, `/sse` the older transport. The tool says how it answers: `json`,
`event`, `gzip` (JSON that was compressed) or `endless` (an event that never ends); its argument `bytes` says how much.
Nothing is held: what is sent is made while it is sent.
"""

from __future__ import annotations

import json
import queue
import sys
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE = b"x" * 65_536
STREAMS: queue.Queue[bytes | Iterator[bytes]] = queue.Queue()
INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "flood", "version": "1"}}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("json", "event", "gzip", "endless")]


def small(message: dict[str, Any]) -> bytes | None:
    results = {"initialize": INFO, "tools/list": {"tools": TOOLS}, "ping": {}}
    if message.get("method") not in results:
        return None
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}).encode()


def large(message: dict[str, Any]) -> Iterator[bytes]:
    yield b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % message["id"]
    for _ in range(message["params"]["arguments"]["bytes"] // len(PIECE)):
        yield PIECE
    yield b'"}]}}'


def compressed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def event(pieces: Iterator[bytes], *, ends: bool = True) -> Iterator[bytes]:
    yield b"event: message\ndata: "
    yield from pieces
    yield b"\n\n" if ends else b""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tool = message.get("params", {}).get("name") if message.get("method") == "tools/call" else None
        if self.path != "/mcp":
            answer = small(message)
            if answer is not None:
                STREAMS.put(b"event: message\ndata: " + answer + b"\n\n")
            elif tool is not None:
                STREAMS.put(event(large(message), ends=tool != "endless"))
            self.head(202)
        elif tool is None:
            answer = small(message)
            self.head(202 if answer is None else 200, "application/json", answer or b"")
        elif tool == "gzip":
            self.stream("application/json", compressed(large(message)), encoding="gzip")
        elif tool == "json":
            self.stream("application/json", large(message))
        else:
            self.stream("text/event-stream", event(large(message), ends=tool != "endless"))

    def do_GET(self) -> None:
        if self.path != "/sse":
            self.head(405)
            return
        self.stream("text/event-stream", self.events())

    def events(self) -> Iterator[bytes]:
        yield b"event: endpoint\ndata: /messages\n\n"
        while True:
            found = STREAMS.get()
            if isinstance(found, bytes):
                yield found
            else:
                yield from found

    def head(self, status: int, kind: str = "text/plain", body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, kind: str, pieces: Iterator[bytes], encoding: str | None = None) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        if encoding:
            self.send_header("content-encoding", encoding)
        self.end_headers()
        self.close_connection = True
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except OSError:  # the reader had enough
            pass


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
