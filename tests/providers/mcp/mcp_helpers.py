"""Servers and calls for the tests of the MCP provider."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from codemodekit.code_mode.code_mode import CodeMode
from codemodekit.contracts import ToolCall, ToolListing, ToolProvider, ToolResult, ToolSession
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.mcp.sources import McpToolProvider, mcp

SERVERS = Path(__file__).parents[2] / "servers"
FIXTURE = str(SERVERS / "mcp_fixture_server.py")
RAW = str(SERVERS / "mcp_raw_server.py")


def fixture_stdio(**more: Any) -> McpToolProvider:
    """The SDK's server as a child process."""
    return mcp.stdio("fixture", sys.executable, ["-W", "ignore", FIXTURE, "stdio"], **more)


def raw_stdio(script: dict[str, Any], **more: Any) -> McpToolProvider:
    """A server that does what the script says."""
    more.setdefault("mode", "2025-11-25")
    return mcp.stdio("raw", *raw_command(script), **more)


def raw_command(script: dict[str, Any]) -> tuple[str, list[str]]:
    """What starts such a server."""
    return sys.executable, ["-S", RAW, json.dumps(script)]


@asynccontextmanager
async def code_mode_over(*providers: ToolProvider, **options: Any) -> AsyncIterator[CodeMode]:
    """Code Mode over these sources, all of which have been tried once."""
    options.setdefault("tool_policy", allow_all_tool_calls())
    async with CodeMode(providers=providers, **options) as code_mode:
        await code_mode.settled(20)
        yield code_mode


def a_call(tool: str, arguments: Any = None, report: Callable[[str], None] | None = None) -> ToolCall:
    more: dict[str, Any] = {} if report is None else {"report_progress": report}
    return ToolCall(execution_id="e", call_id="c", source="s", tool=tool, input=arguments or {}, **more)


async def outcome(session: ToolSession, tool: str, arguments: Any = None) -> ToolResult | Exception:
    """What a call comes to, an exception as a value; bounded."""
    try:
        with anyio.fail_after(10):
            return await session.call(a_call(tool, arguments))
    except Exception as error:
        return error


def names(listing: ToolListing) -> list[str]:
    return [tool.name for tool in listing.definitions]


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):  # starting an interpreter may take seconds on a busy machine
        while not condition():  # noqa: ASYNC110 - what other processes do has no event here
            await anyio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return not Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].startswith(" Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def listening(port: int) -> None:
    """Returns once somebody listens at the port."""
    with anyio.fail_after(20):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                return
            except OSError:
                await anyio.sleep(0.02)


class Upstream:
    """The SDK's server behind a URL, in a process of its own."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{'mcp' if self.kind == 'http' else 'sse'}"

    def provider(self, **more: Any) -> McpToolProvider:
        factory = mcp.http if self.kind == "http" else mcp.sse
        return factory("up", self.url, **more)

    async def start(self, log: Path | None = None) -> None:
        env = {**os.environ, "FIXTURE_LOG": str(log or "")}
        command = [sys.executable, "-W", "ignore", FIXTURE, self.kind, str(self.port)]
        self.process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - starts at once
        await listening(self.port)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@asynccontextmanager
async def upstream(kind: str, log: Path | None = None) -> AsyncIterator[Upstream]:
    server = Upstream(kind)
    try:
        await server.start(log)
        yield server
    finally:
        server.kill()
