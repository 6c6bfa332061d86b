"""A server behind a URL: the SDK's two HTTP transports over a guarded connection.

The guard keeps headers at the configured origin, bounds answers, and turns the failure of one POST into the failure of
that one call: left to the SDK, it takes every other call and the connection with it.
"""

from __future__ import annotations

import http
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from codemodekit import _json
from codemodekit.providers.mcp.link import LOST_MARK, Incoming, Link, failed_answer, watched
from codemodekit.providers.mcp.settings import HttpServer

__all__ = ["MAX_ANSWER_BYTES", "STATUS_MARK", "describe", "open_http"]

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Longest answer, or event of a stream, that is read."""

STATUS_MARK: Final = "codemodekit/httpStatus"
"""Key in the `data` of an error that stands for an HTTP status without a message of the protocol."""

_GONE: Final = frozenset({502, 503, 504})
"""What a gateway says when the server behind it is not there."""

_GOODBYE_S: Final = 2.0
"""For the request that ends a session; a server that hangs must not hold up our leaving."""

_PENDING_MESSAGES: Final = 64

_SESSION_HEADER: Final = "mcp-session-id"

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_Failed = Callable[[httpx2.Request, int, str, dict[str, Any]], httpx2.Response | None]


@asynccontextmanager
async def open_http(server: HttpServer) -> AsyncIterator[Link]:
    """Open the connection. What the SDK's transports raise leaves here as it is."""
    inner = await anyio.to_thread.run_sync(partial(_transport, server.url))
    async with _open_sse(server, inner) if server.sse else _open_streamable(server, inner) as link:
        yield link


@asynccontextmanager
async def _open_streamable(server: HttpServer, inner: httpx2.AsyncBaseTransport) -> AsyncIterator[Link]:
    client = httpx2.AsyncClient(
        transport=_Guard(inner, server.url, _as_response), headers=dict(server.headers), timeout=_timeout(server)
    )
    async with client:
        transport = streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_ANSWER_BYTES)
        async with watched(transport, anyio.create_memory_object_stream[Incoming](0)) as link:
            yield link


@asynccontextmanager
async def _open_sse(server: HttpServer, inner: httpx2.AsyncBaseTransport) -> AsyncIterator[Link]:
    send, receive = anyio.create_memory_object_stream[Incoming](_PENDING_MESSAGES)

    def into_stream(request: httpx2.Request, code: int, message: str, data: dict[str, Any]) -> httpx2.Response | None:
        """Answers come over the event stream in this transport, and so must the failure to send a request."""
        request_id = _request_id(request)
        if request_id is not None:
            try:
                send.send_nowait(
                    failed_answer(request_id, code, message, mark=LOST_MARK if LOST_MARK in data else None)
                )
            except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                send.close()  # nobody reads any more: better the end of the connection than a call that hangs
                return None
        return httpx2.Response(202, request=request)

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        guard = _Guard(inner, server.url, into_stream)
        return httpx2.AsyncClient(transport=guard, headers=headers, timeout=_timeout(server), auth=auth)

    transport = sse_client(server.url, headers=dict(server.headers), httpx_client_factory=client)
    async with watched(transport, (send, receive)) as link:
        yield link


def _transport(url: str) -> httpx2.AsyncHTTPTransport:
    """Reads certificates from disk: to be called in a thread. Proxies as the environment says."""
    parsed = httpx2.URL(url)
    direct = parsed.host in _LOOPBACK or proxy_bypass(parsed.host)
    proxy = None if direct else getproxies().get(parsed.scheme)
    return httpx2.AsyncHTTPTransport(proxy=proxy)


def _timeout(server: HttpServer) -> httpx2.Timeout:
    # No bound on reading: an answer may take as long as its caller waits, and a stream may stay silent for hours.
    return httpx2.Timeout(server.timeout_s, read=None)


def _request_id(request: httpx2.Request) -> types.RequestId | None:
    try:
        message = _json.loads(request.content)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) and "method" in message else None
    return found if isinstance(found, int | str) else None


def _as_response(request: httpx2.Request, code: int, message: str, data: dict[str, Any]) -> httpx2.Response:
    """An error of the protocol as the body of an answer, which the SDK gives to the one call it belongs to."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(
        data.get(STATUS_MARK, 503),
        headers={"content-type": "application/json"},
        content=_json.encode(body),
        request=request,
    )


class _TooLong(httpx2.TransportError):
    """An answer beyond MAX_ANSWER_BYTES."""


class _Elsewhere(httpx2.TransportError):
    """A request to another origin than the configured one."""


class _Guard(httpx2.AsyncBaseTransport):
    """See the module."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, url: str, failed: _Failed) -> None:
        self._inner = inner
        self._origin = _origin(httpx2.URL(url))
        self._failed = failed

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            if _origin(request.url) != self._origin:
                raise _Elsewhere("the server points to another origin than the configured one, which is not followed")
            if request.method == "DELETE":
                request.extensions = {**request.extensions, "timeout": httpx2.Timeout(_GOODBYE_S).as_dict()}
            response = await self._inner.handle_async_request(request)
            if response.status_code < 400 and _media_type(response) == "text/event-stream":
                return response
            response = await _read(response, request)
        except httpx2.TransportError as error:
            return self._fail(request, types.CONNECTION_CLOSED, describe(error), {LOST_MARK: True}) or _reraise(error)
        return self._judge(request, response)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _judge(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Put a status that means failure, without an error of the protocol in its body, into words."""
        status = response.status_code
        if status == 404 and _SESSION_HEADER in request.headers:
            # Whatever the body says: the protocol's way to say that the session is over, as after a restart.
            over = "the server no longer knows this session"
            return self._fail(request, types.INVALID_REQUEST, over, {LOST_MARK: True}) or response
        if status < 400 or status == 404 or _is_protocol_error(response):
            return response
        data: dict[str, Any] = {STATUS_MARK: status} | ({LOST_MARK: True} if status in _GONE else {})
        return self._fail(request, types.INTERNAL_ERROR, describe_status(status), data) or response

    def _fail(self, request: httpx2.Request, code: int, message: str, data: dict[str, Any]) -> httpx2.Response | None:
        return self._failed(request, code, message, data) if request.method == "POST" else None


def _reraise(error: Exception) -> httpx2.Response:
    raise error


async def _read(response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
    """The same response with its whole body, which is decoded and bounded here.

    Here and not by the SDK: a connection that breaks while the SDK reads a body takes its whole client down.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise _TooLong(f"the server's answer is longer than {MAX_ANSWER_BYTES} bytes")
            chunks.append(chunk)
    except httpx2.DecodingError as error:
        raise httpx2.RemoteProtocolError("the server's answer cannot be decompressed") from error
    finally:
        await response.aclose()
    dropped = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in dropped]
    return httpx2.Response(response.status_code, headers=headers, content=b"".join(chunks), request=request)


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _media_type(response: httpx2.Response) -> str:
    media_type: str = response.headers.get("content-type", "")
    return media_type.partition(";")[0].strip().lower()


def _is_protocol_error(response: httpx2.Response) -> bool:
    if _media_type(response) != "application/json":
        return False
    try:
        types.JSONRPCError.model_validate(_json.loads(response.content))
    except (ValueError, RecursionError):
        return False
    return True


def describe(error: httpx2.TransportError) -> str:
    """Why a request got no answer."""
    if isinstance(error, _TooLong | _Elsewhere):
        return str(error)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return "the server cannot be reached: connecting took too long"
    if isinstance(error, httpx2.ConnectError):
        return f"the server cannot be reached ({str(error) or 'connection failed'})"
    if isinstance(error, httpx2.TimeoutException):
        return "the server took too long"
    return f"the connection to the server broke ({str(error) or type(error).__name__})"


def describe_status(status: int) -> str:
    """An HTTP status in words."""
    try:
        return f"the server answered with HTTP {status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"the server answered with HTTP {status}"
