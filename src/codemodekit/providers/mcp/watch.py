"""Whether a server is still there, and whether its tools have changed: everything that is not asked for by a caller.

The end of a child process is seen by its link; a server behind a URL has to be asked now and then. Knows nothing of
what tools are.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
import anyio.abc
import mcp_types as types
from mcp import ClientSession
from mcp.client.subscriptions import listen
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemodekit.errors import SourceLost, ToolCallFailed
from codemodekit.providers.mcp.failures import translate
from codemodekit.providers.mcp.link import Link
from codemodekit.providers.mcp.redaction import Redactor

__all__ = ["Watch", "with_last_words"]

PROBE_INTERVAL_S: Final = 15.0
PROBE_TIMEOUT_S: Final = 8.0
"""Below the ten seconds the SDK itself gives the question, so that the silence is ours to judge."""
DOUBT_TIMEOUT_S: Final = 2.0
"""For a server whose process has exited while something holds its connection open."""
DEBOUNCE_S: Final = 0.3
"""Changes that come together are told once."""
SUBSCRIBE_WAIT_S: Final = 1.0
"""How long connecting waits for the subscription to changes; one that comes later causes a listing of its own."""


def with_last_words(failure: SourceLost, redactor: Redactor, said: str) -> SourceLost:
    """The failure with what the server last said on the side, as a note: for the host, never for the model."""
    if not hasattr(failure, "__notes__") and (words := redactor.clean(said)):
        failure.add_note(f"last output of the server:\n{words}")
    return failure


class Watch:
    """The life of one connection."""

    def __init__(self, link: Link, redactor: Redactor) -> None:
        self._link = link
        self._redactor = redactor
        self._changed = anyio.Event()
        self._gone = anyio.Event()
        self._suspected = anyio.Event()
        self._loss: SourceLost | None = None
        self.listed = False
        """Whether the tools have been asked for: a change before that is none."""
        self.calls = 0
        """Calls under way: a server that does one thing at a time is silent while one runs."""

    async def begin(self, client: ClientSession, tasks: anyio.abc.TaskGroup) -> None:
        """Start watching; the tasks end with the group."""
        tasks.start_soon(self._watch_end)
        tasks.start_soon(self._watch_doubts, client)
        if self._link.needs_probing:
            tasks.start_soon(self._probe, client)
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            subscribed = anyio.Event()
            tasks.start_soon(self._subscribe, client, subscribed)
            with anyio.move_on_after(SUBSCRIBE_WAIT_S):
                await subscribed.wait()

    async def on_message(self, message: Any) -> None:
        """What the server says unasked."""
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def wait_for_change(self) -> None:
        """Return when the tools may have changed.

        Raises:
            SourceLost: the connection is gone.
        """
        await self._changed.wait()
        with anyio.move_on_after(DEBOUNCE_S):
            await self._gone.wait()
        self.raise_if_lost()
        self._changed = anyio.Event()

    def raise_if_lost(self) -> None:
        """Return while the connection lasts.

        Raises:
            SourceLost: it does not.
        """
        if self._loss is not None:
            raise _copy(self._loss)

    def failure(self, error: BaseException) -> SourceLost | ToolCallFailed:
        """What an exception on this connection stands for; a loss is looked into at once."""
        failure = translate(error, self._redactor, closed=self._link.reason)
        if isinstance(failure, SourceLost):
            self._suspected.set()
            return self._told(failure)
        return failure

    def _told(self, failure: SourceLost) -> SourceLost:
        return with_last_words(failure, self._redactor, self._link.host_notes())

    def _lose(self, failure: SourceLost) -> None:
        if self._loss is None:
            self._loss = self._told(failure)
            self._gone.set()
            self._changed.set()

    async def _watch_end(self) -> None:
        await self._link.ended.wait()
        self._lose(SourceLost(self._redactor.clean(self._link.reason)))

    async def _watch_doubts(self, client: ClientSession) -> None:
        """Ask a server that seems to have gone; it may have handed its connection on to what it had started."""
        await self._link.doubtful.wait()
        while self._loss is None and not await self._is_alive(client, DOUBT_TIMEOUT_S, self._link.reason):
            pass  # it is busy

    async def _is_alive(self, client: ClientSession, timeout_s: float, otherwise: str) -> bool:
        """Whether it answers; one that does not, and has nothing to do, is lost."""
        busy = self.calls > 0
        try:
            with anyio.fail_after(timeout_s):
                await _ask_whether_alive(client)
        except TimeoutError:
            if not busy and self.calls == 0:
                self._lose(SourceLost(self._redactor.clean(otherwise)))
            return False
        except Exception as error:
            failure = translate(error, self._redactor, closed=self._link.reason)
            if isinstance(failure, SourceLost):
                self._lose(failure)
                return False
        return True  # any answer, also a refusal, is a sign of life

    async def _subscribe(self, client: ClientSession, subscribed: anyio.Event) -> None:
        """Hear of changes, in the newer protocol: over a request that stays open and is opened again when it ends."""
        pause = 1.0
        while True:
            try:
                async with listen(client, tools_list_changed=True) as events:
                    if not events.honored.tools_list_changed:
                        return
                    if self.listed:
                        self._changed.set()  # nothing is replayed: what changed before this moment has to be looked up
                    subscribed.set()
                    async for _event in events:
                        self._changed.set()
            except Exception as error:
                if not isinstance(self.failure(error), SourceLost):
                    return  # the server does not offer it
            finally:
                subscribed.set()
            await anyio.sleep(pause)
            pause = min(pause * 2, 30.0)

    async def _probe(self, client: ClientSession) -> None:
        """Ask now and then, and at once when a call went wrong, whether the server is still there."""
        while True:
            with anyio.move_on_after(PROBE_INTERVAL_S):
                await self._suspected.wait()
            self._suspected = anyio.Event()
            await self._is_alive(client, PROBE_TIMEOUT_S, "the server did not answer in time")


async def _ask_whether_alive(client: ClientSession) -> None:
    version = client.protocol_version
    if version in MODERN_PROTOCOL_VERSIONS:
        await client.send_discover(version)
    else:
        await client.send_ping()


def _copy(loss: SourceLost) -> SourceLost:
    # Many tasks may raise it at once, and a traceback belongs to one raising.
    copy = SourceLost(str(loss))
    for note in getattr(loss, "__notes__", ()):
        copy.add_note(note)
    return copy
