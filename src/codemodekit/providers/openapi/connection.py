"""An API while it is offered: its document read, one HTTP request a call.

A call is sent once and never again, whatever becomes of it. Credentials go to the origin of the API alone. Redirects
are followed within that origin, and only for what merely reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import httpx2

from codemodekit._json import ABSENT
from codemodekit.contracts import ToolCall, ToolListing, ToolResult, ToolSession
from codemodekit.errors import ConfigurationError, SourceLost, ToolCallFailed, ToolResultTooLarge
from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.openapi.auth import Authenticator
from codemodekit.providers.openapi.document import Document
from codemodekit.providers.openapi.fetching import fetch_document, read_document
from codemodekit.providers.openapi.operation import Operation, Skipped, member
from codemodekit.providers.openapi.operations import read_operations
from codemodekit.providers.openapi.request import build_request
from codemodekit.providers.openapi.response import result_of
from codemodekit.providers.openapi.sending import Origin, Sender, origin_of
from codemodekit.providers.openapi.settings import ApiSettings, is_address
from codemodekit.providers.openapi.swagger import upgraded
from codemodekit.providers.openapi.tools import define, is_wanted
from codemodekit.shared_definitions import SharedDefinitions

__all__ = ["open_api"]

_CONNECT_S: Final = 10.0
_REDIRECTS: Final = 5
_MOST_SKIPPED_TOLD: Final = 200


@asynccontextmanager
async def open_api(settings: ApiSettings) -> AsyncIterator[ToolSession]:
    """Read the document and be ready for calls.

    Raises:
        SourceLost: (on entering) the document cannot be had or understood.
    """
    spec = settings.spec
    address = spec if isinstance(spec, str) and is_address(spec) else None
    async with await anyio.to_thread.run_sync(_client) as client:
        try:
            if address is not None:
                document, found_at = await fetch_document(client, address)
            else:
                document, found_at = await anyio.to_thread.run_sync(read_document, spec), None
            offer = await anyio.to_thread.run_sync(_read, settings, document, found_at)
        except ConfigurationError as error:
            raise SourceLost(settings.redactor.clean(str(error))) from error
        yield _Session(settings, offer, client)


def _client() -> httpx2.AsyncClient:
    """Proxies as the environment says, none on loopback. Reads certificates from disk: to be called in a thread."""
    # No bound on reading: an answer may take as long as its caller waits.
    timeout = httpx2.Timeout(_CONNECT_S, read=None, write=None, pool=None)
    direct = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))
    return httpx2.AsyncClient(timeout=timeout, follow_redirects=False, max_redirects=_REDIRECTS, mounts=direct)


@dataclass(frozen=True, slots=True)
class _Offer:
    """What a document comes to."""

    listing: ToolListing
    operations: Mapping[str, Operation]
    authenticator: Authenticator
    origin: Origin | None


def _read(settings: ApiSettings, document: Document, found_at: str | None) -> _Offer:
    """A document into tools; work for the CPU, in a thread."""
    laid_out = upgraded(document)
    reading = read_operations(laid_out, origin=found_at, base_url=settings.base_url, variables=settings.variables)
    table = SharedDefinitions(reading.table.entries)
    wanted = [each for each in reading.operations if is_wanted(each.name, settings.include, settings.exclude)]
    definitions = tuple(define(each, table, settings.output_mismatch) for each in wanted)
    skipped = [each for each in reading.skipped if is_wanted(each.name, settings.include, settings.exclude)]
    notes = (*reading.notes, *_told(skipped))
    schemes = member(member(laid_out.root, "components"), "securitySchemes")
    return _Offer(
        listing=ToolListing(definitions=definitions, notes=tuple(map(settings.redactor.clean, notes))),
        operations={each.name: each for each in wanted},
        authenticator=Authenticator(settings.auth, schemes),
        origin=origin_of(reading.server),
    )


def _told(skipped: Sequence[Skipped]) -> list[str]:
    lines = [f"skipped {each.name!r}: {each.reason}" for each in skipped[:_MOST_SKIPPED_TOLD]]
    more = len(skipped) - len(lines)
    return [*lines, f"skipped {more} more operations"] if more > 0 else lines


class _Session:
    def __init__(self, settings: ApiSettings, offer: _Offer, client: httpx2.AsyncClient) -> None:
        self._settings = settings
        self._offer = offer
        self._sender = Sender(client, offer.authenticator, settings.headers, offer.origin, settings.redactor)

    async def list_tools(self) -> ToolListing:
        return self._offer.listing

    async def wait_for_change(self) -> None:
        await asyncio.get_running_loop().create_future()

    async def call(self, call: ToolCall) -> ToolResult:
        operation = self._offer.operations[call.tool]
        request = build_request(operation, call.input or {})
        redactor = self._settings.redactor
        try:
            answer = await self._sender.send(operation, request)
            result = result_of(answer, request.url, null_if_empty=operation.answer is not None)
        except ToolResultTooLarge:
            raise
        except ToolCallFailed as failure:
            raise ToolCallFailed(
                redactor.clean(failure.message),
                upstream_code=failure.upstream_code,
                details=redactor.clean_details(failure.details),
            ) from failure
        return _shown(result, answer.content, redactor)


def _shown(result: ToolResult, content: bytes, redactor: Redactor) -> ToolResult:
    """The result without the credentials that an API gives back."""
    if not redactor.holds(content.decode("utf-8", "replace")):
        return result
    structured = result.structured_content
    return replace(
        result,
        content=tuple(redactor.blank(dict(block)) for block in result.content),
        structured_content=structured if structured is ABSENT else redactor.blank(structured),
    )
