"""A request over the wire and its answer back: credentials, redirects, bounds, and failures in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin, urlsplit

import httpx2

from codemodekit.errors import SourceLost, ToolCallFailed, ToolResultTooLarge
from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.openapi.auth import Authenticator
from codemodekit.providers.openapi.operation import Operation
from codemodekit.providers.openapi.request import HttpRequest

__all__ = ["MAX_ANSWER_BYTES", "HttpAnswer", "Origin", "Sender", "origin_of"]

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Longest answer that is read, unpacked."""

_REDIRECTS: Final = 5
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_PORTS: Final = {"http": 80, "https": 443}

Origin = tuple[str, str, int | None]
"""Scheme, host and port (RFC 6454)."""


def origin_of(address: str | None) -> Origin | None:
    """The origin of an address."""
    if address is None:
        return None
    parts = urlsplit(address)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By name in small letters; what stood there more than once is joined by commas."""
    content: bytes


class Sender:
    """Sends requests of one API. Credentials and configured headers go to `origin` and nowhere else."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        authenticator: Authenticator,
        headers: Mapping[str, str],
        origin: Origin | None,
        redactor: Redactor,
    ) -> None:
        self._client = client
        self._authenticator = authenticator
        self._headers = headers
        self._origin = origin
        self._redactor = redactor

    async def send(self, operation: Operation, request: HttpRequest) -> HttpAnswer:
        """One request, once.

        Raises:
            ToolCallFailed: it could not be sent, or the answer leads where nothing is followed.
            ToolResultTooLarge: the answer is longer than MAX_ANSWER_BYTES.
            SourceLost: it was sent, and no answer came.
        """
        if origin_of(request.url) == self._origin:
            request = replace(request, headers={**request.headers, **self._headers})
            request = await self._authenticator.authorized(operation, request, self._client)
        answer = await self._exchange(request)
        if answer.status == 401:
            self._authenticator.forget(operation)
        for _ in range(_REDIRECTS):
            target = answer.headers.get("location")
            if answer.status not in _MOVED or target is None:
                return answer
            request = self._moved(request, answer.status, target)
            answer = await self._exchange(request)
        raise ToolCallFailed(f"more than {_REDIRECTS} redirects", upstream_code=answer.status)

    def _moved(self, request: HttpRequest, status: int, target: str) -> HttpRequest:
        address = urljoin(request.address, target)
        if origin_of(address) != origin_of(request.url):
            raise ToolCallFailed(
                "the API points to another origin, which is not followed",
                upstream_code=status,
                details={"status": status, "location": self._redactor.clean(address)},
            )
        if status == 303 or request.method in ("GET", "HEAD"):
            url, _, query = address.partition("#")[0].partition("?")
            method = request.method if request.method in ("GET", "HEAD") else "GET"
            kept = {name: value for name, value in request.headers.items() if name.lower() != "content-type"}
            pairs = [(name, value) for name, _, value in (each.partition("=") for each in query.split("&") if each)]
            return replace(request, method=method, url=url, query=pairs, headers=kept, content=None)
        raise ToolCallFailed(
            f"the API moved the operation (HTTP {status}); what may write is not sent twice",
            upstream_code=status,
            details={"status": status, "location": self._redactor.clean(address)},
        )

    async def _exchange(self, request: HttpRequest) -> HttpAnswer:
        headers = [(name, value) for name, value in request.headers.items()]
        if request.cookies:
            headers.append(("Cookie", "; ".join(f"{name}={value}" for name, value in request.cookies)))
        try:
            made = self._client.build_request(
                request.method, request.address, headers=headers, content=request.content or b""
            )
            response = await self._client.send(made, stream=True)
        except httpx2.ConnectError as error:
            raise ToolCallFailed("the API cannot be reached") from error
        except (httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise ToolCallFailed("the API cannot be reached: connecting took too long") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise ToolCallFailed("the request has no address that can be asked") from error
        except httpx2.HTTPError as error:
            raise SourceLost(f"the connection broke ({type(error).__name__})") from error
        try:
            return await _read(response)
        finally:
            await response.aclose()


async def _read(response: httpx2.Response) -> HttpAnswer:
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise ToolResultTooLarge(f"the API's answer is longer than {MAX_ANSWER_BYTES} bytes")
            chunks.append(chunk)
    except httpx2.DecodingError as error:
        raise ToolCallFailed("the API's answer cannot be unpacked", upstream_code=response.status_code) from error
    except httpx2.HTTPError as error:
        raise SourceLost(f"the connection broke within the answer ({type(error).__name__})") from error
    headers: dict[str, str] = {}
    for name, value in response.headers.multi_items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return HttpAnswer(response.status_code, headers, b"".join(chunks))
