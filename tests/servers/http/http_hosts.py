"""Code Mode behind an address for tests: in this process, on a free port of loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from codemodekit import allow_all_tool_calls, local
from codemodekit.servers.assemble import code_mode_of
from codemodekit.servers.http.app import HttpSettings
from codemodekit.servers.http.serve import address_of, listen, serve_http

TOKEN = "a-token-of-some-length"
OTHER = "b-token-of-some-length"


@dataclass(slots=True)
class Host:
    """A running endpoint."""

    address: str
    entered: anyio.Event
    """Set once the tool `wait` has been called."""
    finish: anyio.Event
    """Lets it return."""
    stop: anyio.Event
    """Tells the endpoint to end, as a signal would."""

    @property
    def root(self) -> str:
        return self.address.removesuffix("/mcp")

    @asynccontextmanager
    async def client(self, token: str | None = None, mode: Any = "auto") -> AsyncIterator[Client]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(10, read=None)) as http:
            transport = streamable_http_client(self.address, http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=20) as client:
                yield client


def structured(answer: Any) -> dict[str, Any]:
    assert isinstance(answer.structured_content, dict), answer
    return answer.structured_content


@asynccontextmanager
async def host(
    *, policy: Any = None, grace_s: float = 5.0, sources: Any = None, **settings: Any
) -> AsyncIterator[Host]:
    """An endpoint whose Code Mode has the tools `app.echo` and `app.wait`; it ends with the block."""
    entered, finish = anyio.Event(), anyio.Event()

    async def echo(value: Any) -> Any:
        return value

    async def wait() -> str:
        entered.set()
        await finish.wait()
        return "waited"

    def open_code_mode() -> Any:
        return code_mode_of(
            providers=sources or [local("app", [echo, wait])], tool_policy=policy or allow_all_tool_calls()
        )

    with listen("127.0.0.1", 0) as listening:
        running = Host(address_of(listening, "/mcp"), entered, finish, stop := anyio.Event())
        async with anyio.create_task_group() as tasks:

            async def serve() -> None:
                await serve_http(
                    name="test",
                    version="1",
                    open_code_mode=open_code_mode,
                    listening=listening,
                    settings=HttpSettings(**settings),
                    grace_s=grace_s,
                    stop=stop,
                )

            tasks.start_soon(serve)
            try:
                yield running
            finally:
                finish.set()
                stop.set()
