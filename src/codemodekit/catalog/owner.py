"""One source over time: connect, list, watch, and after a loss begin again, for as long as it takes.

One task enters and leaves each connection, because clients bind their cancellation to the task that opened them. What
a provider does wrong ends here: it becomes the source's last error. What was listed goes up through a callback.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from codemodekit.catalog.health import SourceState, failure_text
from codemodekit.contracts import ToolListing, ToolProvider, ToolSession
from codemodekit.errors import SourceLost

__all__ = ["SourceOwner", "Timing"]

_log = logging.getLogger(__name__)

_SHORTEST_REFRESH_S: Final = 0.05
"""A source that announces a change without end must not keep the loop busy."""

_MOST_ASIDE: Final = 10
"""Lines of a source's own output that are logged when it is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long things may take."""

    connect_s: float = 120.0
    """Connecting and the first listing; long enough for a package runner that downloads the server first."""
    empty_s: float = 5.0
    """How long a source that had tools may list none before it is believed."""
    close_s: float = 10.0
    """How long closing waits for sources to leave their connections; a child process may take four seconds to die."""


class SourceOwner:
    """Keeps one source connected and tells what it lists."""

    def __init__(
        self,
        provider: ToolProvider,
        *,
        timing: Timing,
        delay: Callable[[int], float],
        publish: Callable[[ToolListing], Awaitable[bool]],
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self._provider = provider
        self._timing = timing
        self._delay = delay
        self._publish = publish
        """Takes a listing in and says whether there is a tool in it."""
        self._sleep = sleep
        self._clock = clock
        self._failures = 0
        self._had_tools = False
        self._retry_at: float | None = None
        self._closing = False
        self.state = SourceState.CONNECTING
        self.session: ToolSession | None = None
        """The live connection; None while there is none."""
        self.last_error: str | None = None
        self.settled = asyncio.Event()
        """Set once the first attempt has ended, well or badly."""

    @property
    def next_retry_s(self) -> float | None:
        """Seconds until the next attempt, while one is waited for."""
        return None if self._retry_at is None else max(0.0, self._retry_at - self._clock())

    def stop(self) -> None:
        """From now on no connection is made; the caller cancels the task."""
        self._closing = True
        self.session = None
        self.state = SourceState.STOPPED
        self._retry_at = None
        self.settled.set()

    async def run(self) -> None:
        """Connect again and again until cancelled."""
        try:
            while not self._closing:
                self._lost(await self._attempt())
                if not self._closing:
                    await self._pause()
        finally:
            self.stop()

    async def _attempt(self) -> BaseException:
        """One connection from its beginning to its end, and why it ended.

        It has a task of its own: a client that breaks may cancel its task, which is told apart only so from being
        cancelled ourselves.
        """
        attempt = asyncio.create_task(self._ended(), name=f"connection of {self._provider.name}")
        try:
            await asyncio.wait([attempt])
        except asyncio.CancelledError:
            attempt.cancel()
            await asyncio.wait([attempt])
            raise
        return asyncio.CancelledError() if attempt.cancelled() else attempt.result()

    async def _ended(self) -> BaseException:
        try:
            await self._connection()
        except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:  # a provider may raise anything, SystemExit too
            return error
        return SourceLost("the connection ended without a reason")

    async def _connection(self) -> None:
        async with asyncio.timeout(self._timing.connect_s) as limit:
            async with self._provider.connect() as session:
                try:
                    await self._follow(session, limit)
                finally:
                    # Leaving a connection may take seconds; nothing is to be sent into it meanwhile.
                    self.session = None
                    if self.state is SourceState.HEALTHY:
                        self.state = SourceState.UNAVAILABLE

    async def _follow(self, session: ToolSession, limit: asyncio.Timeout) -> None:
        """List, and list again at every change, until the connection is lost."""
        listing = await session.list_tools()
        limit.reschedule(None)
        if not listing.definitions and self._had_tools:
            listing = await self._until_filled(session)
        await self._take(session, listing)
        while True:
            await session.wait_for_change()
            await self._take(session, await session.list_tools())
            await self._sleep(_SHORTEST_REFRESH_S)

    async def _until_filled(self, session: ToolSession) -> ToolListing:
        """A restarted source often lists nothing at first; its last tools stay until it means it."""
        try:
            async with asyncio.timeout(self._timing.empty_s) as limit:
                while True:
                    await session.wait_for_change()
                    listing = await session.list_tools()
                    if listing.definitions:
                        return listing
        except TimeoutError:
            if not limit.expired():
                raise
        return await session.list_tools()

    async def _take(self, session: ToolSession, listing: ToolListing) -> None:
        self._had_tools = await self._publish(listing)
        if self._closing:
            return
        self._failures = 0
        self.last_error = None
        self.session = session
        self.state = SourceState.HEALTHY
        self.settled.set()

    def _lost(self, error: BaseException) -> None:
        self.session = None
        if self._closing:
            return
        words = self._words(error)
        if words != self.last_error:  # the same failure again, at every attempt, is no news
            _log.warning("source %r is unavailable: %s%s", self._provider.name, words, _aside(error))
        self.last_error = words
        self.state = SourceState.UNAVAILABLE
        self.settled.set()

    def _words(self, error: BaseException) -> str:
        if isinstance(error, asyncio.CancelledError):
            return "the connection broke off"
        if isinstance(error, TimeoutError) and not str(error):
            return "connecting and listing took too long"
        return failure_text(error)

    async def _pause(self) -> None:
        self._failures += 1
        delay = self._delay(self._failures)
        self._retry_at = self._clock() + delay
        try:
            await self._sleep(delay)
        finally:
            self._retry_at = None


def _aside(error: BaseException) -> str:
    """The last lines of what a source said on the side: for whoever runs the host, never for a model."""
    lines = [line for note in getattr(error, "__notes__", ()) for line in str(note).splitlines() if line.strip()]
    return "".join("\n  " + "".join(c if c.isprintable() else " " for c in line) for line in lines[-_MOST_ASIDE:])
