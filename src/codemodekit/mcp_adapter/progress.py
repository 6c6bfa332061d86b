"""Lifecycle events of a run as MCP progress: an increasing sequence without a total.

Delivery is advisory. Events queue beside the run, which never waits for a slow client; when the queue is full the next
ones are left out, and after the run the client has a moment to take what is left.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

__all__ = ["forwarding"]

_log = logging.getLogger(__name__)

_QUEUE: Final = 256
_LAST_WORDS_S: Final = 1.0
_MOST_BYTES: Final = 1024
_LONGEST_NAME: Final = 80

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Progress, total and message to the client; does nothing when the request carried no progress token."""


class _Event(Protocol):
    """What is read of `code_mode.RunEvent`, which would bring the whole runtime along."""

    @property
    def sequence(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def source(self) -> str | None: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def message(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...


@asynccontextmanager
async def forwarding(report: Report) -> AsyncIterator[Callable[[_Event], None]]:
    """A listener for one run, whose events reach the client in order."""
    send, receive = anyio.create_memory_object_stream[_Event](_QUEUE)

    listen = _Listen(send)
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pump, receive, report)
        try:
            yield listen
        except Exception as error:  # raised below, so that the group does not wrap it
            failure = error
        finally:
            send.close()
        tasks.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_S
    if failure is not None:
        raise failure


class _Listen:
    """Queues events; told on the event loop, for it takes no time."""

    at_once: Final = True

    def __init__(self, send: MemoryObjectSendStream[_Event]) -> None:
        self._send = send

    def __call__(self, event: _Event) -> None:
        try:
            self._send.send_nowait(event)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            _log.debug("left out a progress event")


async def _pump(events: MemoryObjectReceiveStream[_Event], report: Report) -> None:
    async with events:
        async for event in events:
            try:
                await report(event.sequence, None, _text(event))
            except Exception:
                _log.debug("the client took no progress", exc_info=True)
                return


def _text(event: _Event) -> str:
    what = event.kind.replace("_", " ")
    if event.status and event.status != "ok":
        what += f" ({event.status})"
    named = f"{_name(event.source)}.{_name(event.tool)}" if event.tool else None
    words = [what, named, event.message]
    return _bounded(": ".join(word for word in words if word))


def _name(name: str | None) -> str:
    """A name is what the program called, and need not exist: it may be anything."""
    text = "".join(character if character.isprintable() else "\ufffd" for character in name or "")
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _bounded(text: str) -> str:
    # half a surrogate pair cannot be sent, and the SDK's transports fail at it with all else that they carry
    data = text.encode("utf-8", "replace")
    return data[:_MOST_BYTES].decode("utf-8", "ignore")
