"""The older HTTP transport: one stream of events on which everything comes, and a POST for everything that goes.

Not the SDK's own: there an event of more than a megabyte ends the connection, a message that cannot be read leaves its
call waiting, and the failure of one POST is the end of all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from codemodekit import _json
from codemodekit.errors import SourceLost
from codemodekit.providers.mcp.events import Event, events
from codemodekit.providers.mcp.guard import describe
from codemodekit.providers.mcp.lines import EndlessLine
from codemodekit.providers.mcp.link import LOST_MARK, Incoming, Link, failed_answer
from codemodekit.providers.mcp.messages import read_message

__all__ = ["open_sse"]

_QUEUED_MESSAGES: Final = 256
_STREAM: Final = "text/event-stream"
_MOST_REDIRECTS: Final = 5


@asynccontextmanager
async def open_sse(client: httpx2.AsyncClient, url: str) -> AsyncIterator[Link]:
    """Open the stream and learn where to post.

    Raises:
        httpx2.HTTPError, SourceLost: the server is not there, or does not speak this transport.
    """
    inbox_send, inbox = anyio.create_memory_object_stream[Incoming](0)
    outbox, outbox_receive = anyio.create_memory_object_stream[SessionMessage](_QUEUED_MESSAGES)
    link = Link(read=inbox, write=outbox, needs_probing=True)
    async with inbox_send, inbox, outbox, outbox_receive:
        request = client.build_request("GET", url, headers={"accept": _STREAM, "cache-control": "no-store"})
        response = await _exchanged(client, request)
        try:
            response.raise_for_status()
            if not response.headers.get("content-type", "").lower().startswith(_STREAM):
                raise SourceLost("the server does not answer with a stream of events")
            stream = events(response.aiter_raw())
            endpoint = await _endpoint(stream, response.request.url)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_receive, stream, inbox_send, link)
                tasks.start_soon(_send_all, client, endpoint, outbox_receive, inbox_send)
                yield link
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


async def _exchanged(client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """The answer, redirects within the origin followed; the guard refuses all others."""
    for _ in range(_MOST_REDIRECTS):
        response = await client.send(request, stream=True)
        following = response.next_request
        if following is None or following.method != request.method:
            return response
        await response.aclose()
        request = following
    raise SourceLost("the server redirects without end")


async def _endpoint(stream: AsyncIterator[Event], url: httpx2.URL) -> httpx2.URL:
    async for event in stream:
        if event.name == "endpoint" and event.data.whole:
            # Whatever origin it names: the guard lets nothing go to another one.
            return url.join(event.data.head.decode("utf-8", "replace").strip())
    raise SourceLost("the server closed its event stream at once")


async def _receive(stream: AsyncIterator[Event], inbox: MemoryObjectSendStream[Incoming], link: Link) -> None:
    # The inbox is closed only after the reason is known: closing it is what fails the calls in flight.
    async with inbox:
        try:
            async for event in stream:
                if event.name == "message" and (message := read_message(event.data)) is not None:
                    await inbox.send(message)
            link.end("the server closed its event stream")
        except EndlessLine as error:
            link.end(str(error))
        except (httpx2.HTTPError, httpx2.StreamError):
            link.end("the connection to the server broke")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            link.end()


async def _send_all(
    client: httpx2.AsyncClient,
    endpoint: httpx2.URL,
    outbox: MemoryObjectReceiveStream[SessionMessage],
    inbox: MemoryObjectSendStream[Incoming],
) -> None:
    """Post message after message. A call does not hold up what follows, a notification does: what follows "initialized"
    must not arrive before it."""
    async with anyio.create_task_group() as tasks:
        async for item in outbox:
            if isinstance(item.message, types.JSONRPCRequest):
                tasks.start_soon(_send_request, client, endpoint, item.message, inbox)
            else:
                with suppress(httpx2.HTTPError, SourceLost):
                    await _post(client, endpoint, item.message)


async def _send_request(
    client: httpx2.AsyncClient,
    endpoint: httpx2.URL,
    message: types.JSONRPCRequest,
    inbox: MemoryObjectSendStream[Incoming],
) -> None:
    try:
        response = await _post(client, endpoint, message)
    except (httpx2.HTTPError, SourceLost) as error:
        words = describe(error) if isinstance(error, httpx2.TransportError) else str(error)
        await _deliver(inbox, failed_answer(message.id, types.CONNECTION_CLOSED, words, mark=LOST_MARK))
        return
    if response.status_code >= 300:
        await _deliver(inbox, _refused(message.id, response))


async def _post(client: httpx2.AsyncClient, endpoint: httpx2.URL, message: types.JSONRPCMessage) -> httpx2.Response:
    body = _json.encode(message.model_dump(by_alias=True, mode="python", exclude_unset=True))
    request = client.build_request("POST", endpoint, content=body, headers={"content-type": "application/json"})
    # The answer comes on the stream; here the server only says that it got the message.
    connect = client.timeout.connect
    request.extensions = {**request.extensions, "timeout": httpx2.Timeout(connect).as_dict()}
    response = await _exchanged(client, request)
    await response.aread()
    return response


def _refused(request_id: types.RequestId, response: httpx2.Response) -> SessionMessage:
    """The failure of a call that could not be sent. The guard has put it into words."""
    try:
        error = types.JSONRPCError.model_validate(_json.loads(response.content)).error
    except (ValueError, RecursionError):
        return failed_answer(request_id, types.INTERNAL_ERROR, "the server did not take the call", mark=LOST_MARK)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


async def _deliver(inbox: MemoryObjectSendStream[Incoming], message: SessionMessage) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody waits for it any more
        await inbox.send(message)
