"""A server behind a URL: the SDK's Streamable HTTP over a guarded connection, and the older transport in sse.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final
from urllib.request import getproxies, proxy_bypass

import anyio.to_thread
import httpx2
from mcp.client.streamable_http import streamable_http_client

from codemodekit.providers.mcp.bodies import ACCEPTED_ENCODINGS
from codemodekit.providers.mcp.guard import Guard
from codemodekit.providers.mcp.link import Link, watched
from codemodekit.providers.mcp.settings import HttpServer
from codemodekit.providers.mcp.sse import open_sse

__all__ = ["open_http"]

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@asynccontextmanager
async def open_http(server: HttpServer) -> AsyncIterator[Link]:
    """Open the connection. What the transports raise leaves here as it is."""
    guard = Guard(await anyio.to_thread.run_sync(partial(_transport, server.url)), server.url)
    # No bound on reading: an answer may take as long as its caller waits, and a stream may stay silent for hours.
    timeout = httpx2.Timeout(server.timeout_s, read=None)
    headers = {"accept-encoding": ACCEPTED_ENCODINGS, **server.headers}
    async with httpx2.AsyncClient(transport=guard, headers=headers, timeout=timeout) as client:
        async with open_sse(client, server.url) if server.sse else _open_streamable(client, server.url) as link:
            yield link


@asynccontextmanager
async def _open_streamable(client: httpx2.AsyncClient, url: str) -> AsyncIterator[Link]:
    # Events are bounded by the guard.
    transport = streamable_http_client(url, http_client=client, max_sse_event_size=None)
    async with watched(transport) as link:
        yield link


def _transport(url: str) -> httpx2.AsyncHTTPTransport:
    """Reads certificates from disk: to be called in a thread. Proxies as the environment says."""
    parsed = httpx2.URL(url)
    direct = parsed.host in _LOOPBACK or proxy_bypass(parsed.host)
    proxy = None if direct else getproxies().get(parsed.scheme)
    return httpx2.AsyncHTTPTransport(proxy=proxy)
