"""A pair of message streams to one server that also knows when, and why, it ended.

The transports make links; the session above runs the protocol over one. Knowing of the end is what the SDK's own
transports lack.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage

__all__ = ["INVALID_MARK", "LOST_MARK", "TOO_LARGE_MARK", "Incoming", "Link", "failed_answer", "watched"]

Incoming = SessionMessage | Exception

LOST_MARK = "codemodekit/lost"
TOO_LARGE_MARK = "codemodekit/tooLarge"
INVALID_MARK = "codemodekit/invalid"
"""Key in the `data` of an error that a transport of ours put in the place of an answer that will not come."""


@dataclass(slots=True, kw_only=True)
class Link:
    """One open connection."""

    read: MemoryObjectReceiveStream[Incoming]
    write: Any
    """The SDK's stream of outgoing messages; its type is not public."""
    needs_probing: bool
    """True where the end cannot be seen from here, so that somebody has to ask now and then."""
    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set once no message can come any more; `reason` is final then."""
    doubtful: anyio.Event = field(default_factory=anyio.Event)
    """Set once it looks as if the server had gone, although the connection is still open; `reason` says why."""
    reason: str = "the connection was closed"
    host_notes: Callable[[], str] = lambda: ""
    """What the server last said on the side (its stderr): for the host, never for the model."""

    def end(self, reason: str | None = None) -> None:
        """Record the end; the first reason stays."""
        if not self.ended.is_set():
            if reason is not None:
                self.reason = reason
            self.ended.set()


def failed_answer(request_id: types.RequestId, code: int, message: str, *, mark: str | None = None) -> SessionMessage:
    """An error in the place of an answer. LOST_MARK: it says nothing about what the server did; TOO_LARGE_MARK and
    INVALID_MARK: there was an answer, and it was too large or could not be read."""
    data = {mark: True} if mark is not None else None
    error = types.ErrorData(code=code, message=message, data=data)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


@asynccontextmanager
async def watched(transport: AbstractAsyncContextManager[Any]) -> AsyncIterator[Link]:
    """A link over one of the SDK's transports."""
    send, receive = anyio.create_memory_object_stream[Incoming](0)
    async with send, receive, transport as (read, write), anyio.create_task_group() as tasks:
        link = Link(read=receive, write=write, needs_probing=True)

        async def pump() -> None:
            async with send:
                try:
                    async for item in read:
                        await send.send(item)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    pass  # one of the two ends was closed: that is the end
                finally:
                    link.end()

        tasks.start_soon(pump)
        yield link
        tasks.cancel_scope.cancel()
