"""Every request of a source on its way to its server, and every answer on its way back.

The guard keeps headers at the configured origin, bounds answers, and turns the failure of one POST into the failure of
that one call: left to the SDK, it takes every other call and the connection with it.
"""

from __future__ import annotations

import http
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import httpx2
import mcp_types as types

from codemodekit import _json
from codemodekit.providers.mcp.bodies import TooLong, whole_body, without_encoding
from codemodekit.providers.mcp.events import Event, events
from codemodekit.providers.mcp.link import LOST_MARK, TOO_LARGE_MARK
from codemodekit.providers.mcp.messages import too_large

__all__ = ["STATUS_MARK", "Guard", "describe", "describe_status"]

STATUS_MARK: Final = "codemodekit/httpStatus"
"""Key in the `data` of an error that stands for an HTTP status without a message of the protocol."""

_GONE: Final = frozenset({502, 503, 504})
"""What a gateway says when the server behind it is not there."""
_GOODBYE_S: Final = 2.0
"""For the request that ends a session; a server that hangs must not hold up our leaving."""
_SESSION_HEADER: Final = "mcp-session-id"
_ELSEWHERE: Final = "the server points to another origin than the configured one, which is not followed"
_DROPPED_HEADERS: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class _Elsewhere(httpx2.TransportError):
    """A request to another origin than the configured one."""


class Guard(httpx2.AsyncBaseTransport):
    """See the module."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, url: str) -> None:
        self._inner = inner
        self._origin = _origin(httpx2.URL(url))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            if _origin(request.url) != self._origin:
                raise _Elsewhere(_ELSEWHERE)
            if request.method == "DELETE":
                request.extensions = {**request.extensions, "timeout": httpx2.Timeout(_GOODBYE_S).as_dict()}
            response = await self._inner.handle_async_request(request)
            if self._leads_away(request, response):
                await response.aclose()
                raise _Elsewhere(_ELSEWHERE)
            if response.status_code < 400 and _media_type(response) == "text/event-stream":
                return _streamed(response, request)
            response = _with(response, request, content=await whole_body(response))
        except TooLong as error:
            return _failed(request, types.INTERNAL_ERROR, describe(error), {TOO_LARGE_MARK: True}) or _reraise(error)
        except httpx2.TransportError as error:
            return _failed(request, types.CONNECTION_CLOSED, describe(error), {LOST_MARK: True}) or _reraise(error)
        return _judged(request, response)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _leads_away(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Whether the answer is a redirect that is not followed. Told here, where its address is not quoted."""
        location = response.headers.get("location")
        if not 300 <= response.status_code < 400 or location is None:
            return False
        try:
            return _origin(request.url.join(location)) != self._origin
        except (httpx2.InvalidURL, ValueError):
            return True


def _judged(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """The answer; a status that means failure, without an error of the protocol in its body, in words."""
    status = response.status_code
    if status == 404 and _SESSION_HEADER in request.headers:
        # Whatever the body says: the protocol's way to say that the session is over, as after a restart.
        over = "the server no longer knows this session"
        return _failed(request, types.INVALID_REQUEST, over, {LOST_MARK: True}) or response
    if status < 400 or status == 404 or _is_protocol_error(response):
        return response
    data: dict[str, Any] = {STATUS_MARK: status} | ({LOST_MARK: True} if status in _GONE else {})
    return _failed(request, types.INTERNAL_ERROR, describe_status(status), data) or response


def _failed(request: httpx2.Request, code: int, message: str, data: dict[str, Any]) -> httpx2.Response | None:
    """An error of the protocol as the body of an answer, for the one call it belongs to; None if it is no call's."""
    if request.method != "POST":
        return None
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(
        data.get(STATUS_MARK, 503),
        headers={"content-type": "application/json"},
        content=_json.encode(body),
        request=request,
    )


def _reraise(error: Exception) -> httpx2.Response:
    raise error


# --- streams of events ------------------------------------------------------------------------------------------------


class _Stream(httpx2.AsyncByteStream):
    """The body of an answer that goes on."""

    def __init__(self, chunks: AsyncIterator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        self._chunks = chunks
        self._close = close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            yield chunk

    async def aclose(self) -> None:
        await self._close()


def _streamed(response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
    request_id = _request_id(request)
    stream = events(without_encoding(response), until_too_long=request_id is not None)
    return _with(response, request, stream=_Stream(_bounded(stream, request_id), response.aclose))


async def _bounded(stream: AsyncIterator[Event], request_id: types.RequestId | None) -> AsyncIterator[bytes]:
    """The events as they came; in the place of one that is too long, the failure of its call."""
    async for event in stream:
        fields = b"".join(field + b"\n" for field in event.fields)
        if event.data.whole:
            yield fields + b"".join(b"data: " + line + b"\n" for line in event.data.head.split(b"\n")) + b"\n"
        elif (failure := too_large(event.data, request_id)) is not None:
            message = failure.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            yield fields + b"data: " + _json.encode(message) + b"\n\n"


def _request_id(request: httpx2.Request) -> types.RequestId | None:
    """The id of the call that the request carries."""
    if request.method != "POST":
        return None
    try:
        message = _json.loads(request.content)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) and "method" in message else None
    return found if isinstance(found, int | str) else None


def _with(response: httpx2.Response, request: httpx2.Request, **body: Any) -> httpx2.Response:
    """The same answer with another body."""
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _DROPPED_HEADERS]
    return httpx2.Response(response.status_code, headers=headers, request=request, **body)


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


# --- words ------------------------------------------------------------------------------------------------------------


def describe(error: httpx2.TransportError) -> str:
    """Why a request got no answer."""
    if isinstance(error, TooLong | _Elsewhere):
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
