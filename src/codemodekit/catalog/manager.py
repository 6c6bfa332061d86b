"""Sources in, one catalogue value out: connects every source at once, keeps each connected, publishes what it lists.

Each source has a task of its own and never waits for another. Readers take the last complete value and never wait at
all. Knows nothing of programs, policies or protocols; the bridge asks it for values and live sessions.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from codemodekit.catalog.health import CatalogNote, Reconnect, SourceHealth, SourceState
from codemodekit.catalog.owner import SourceOwner, Timing
from codemodekit.catalog.search.index import SearchIndex
from codemodekit.catalog.snapshot import Catalog, SourceCatalog, build_source, catalog_of
from codemodekit.contracts import ToolListing, ToolProvider, ToolSession
from codemodekit.errors import ClosedError, ConfigurationError

__all__ = ["CatalogManager", "CatalogNote", "Reconnect", "SourceHealth", "SourceState", "Timing"]


class CatalogManager:
    """Owns the sources of one catalogue.

    Raises:
        ConfigurationError: two sources of one name, or a source without a name.
    """

    def __init__(
        self,
        providers: Sequence[ToolProvider],
        *,
        reconnect: Reconnect | None = None,
        timing: Timing | None = None,
        rng: random.Random | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        pace = reconnect or Reconnect()
        chance = rng or random.Random()
        self._timing = timing or Timing()
        self._owners: dict[str, SourceOwner] = {}
        self._catalog = catalog_of({})
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._started = False
        self._closed = False
        self._abandoned: tuple[str, ...] = ()
        for provider in providers:
            name = _new_name(provider, self._owners)
            self._owners[name] = SourceOwner(
                provider,
                timing=self._timing,
                delay=lambda failures: pace.delay(failures, chance),
                publish=self._publisher(name),
                sleep=sleep,
                clock=clock,
            )
        self.index = SearchIndex(tuple(self._owners))
        """Rows of all tools, for search; replaced source by source, just before the snapshot."""

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to connect all sources, and return at once. Twice is fine.

        Raises:
            ClosedError: it has been closed.
        """
        if self._closed:
            raise ClosedError("this catalogue has been closed")
        if self._started:
            return
        self._started = True
        for name, owner in self._owners.items():
            self._tasks[name] = asyncio.create_task(owner.run(), name=f"source {name}")

    async def aclose(self) -> None:
        """Leave all connections, within a bound; a source that does not let go is abandoned. Twice is fine."""
        self._closed = True
        self.index.close()
        for owner in self._owners.values():
            owner.stop()
        running = {task: name for name, task in self._tasks.items() if not task.done()}
        if not running:
            return
        for task in running:
            task.cancel()
        _, stuck = await asyncio.wait(running, timeout=self._timing.close_s)
        self._abandoned = tuple(sorted(running[task] for task in stuck))

    # --- what is known ------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The configured sources, in their order."""
        return tuple(self._owners)

    def known(self, source: str) -> bool:
        """Whether a source of this name is configured."""
        return source in self._owners

    def snapshot(self) -> Catalog:
        """The last complete catalogue; tools of a source that is unavailable are still in it."""
        return self._catalog

    def state(self, source: str) -> SourceState:
        """Where the source is; raises KeyError for one that is not configured."""
        return self._owners[source].state

    def available(self) -> tuple[str, ...]:
        """The sources that can be called now, in the configured order."""
        return tuple(name for name, owner in self._owners.items() if owner.session is not None)

    def session(self, source: str) -> ToolSession | None:
        """The live session of a source; None while it has none."""
        owner = self._owners.get(source)
        return None if owner is None else owner.session

    async def ready(self, source: str, timeout_s: float) -> SourceCatalog | None:
        """What the source contributes, waiting while its first attempt runs; None if it is not available in time."""
        owner = self._owners.get(source)
        if owner is None:
            return None
        if not owner.settled.is_set():
            await _within(timeout_s, owner.settled.wait())
        return self._catalog.sources.get(source) if owner.session is not None else None

    async def settled(self, timeout_s: float) -> None:
        """Wait until the first attempt of every source has ended, or the time is over."""
        await _within(timeout_s, _all([owner.settled for owner in self._owners.values()]))

    async def next_settled(self, timeout_s: float) -> None:
        """Wait until one more source has ended its first attempt, or the time is over; at once if all have."""
        waiting = [
            asyncio.ensure_future(owner.settled.wait()) for owner in self._owners.values() if not owner.settled.is_set()
        ]
        if not waiting:
            return
        try:
            await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    def health(self) -> tuple[SourceHealth, ...]:
        """Every source, in the configured order."""
        return tuple(self._health(name, owner) for name, owner in self._owners.items())

    def diagnostics(self) -> tuple[CatalogNote, ...]:
        """Quarantined tools and oddities of listings, ordered by source."""
        notes: list[CatalogNote] = []
        for name, found in self._catalog.sources.items():
            notes.extend(CatalogNote(name, message) for message in found.notes)
            notes.extend(CatalogNote(name, reason, tool) for tool, reason in found.quarantined.items())
        notes.extend(
            CatalogNote(name, "did not let go of its connection and was abandoned") for name in self._abandoned
        )
        return tuple(notes)

    def _health(self, name: str, owner: SourceOwner) -> SourceHealth:
        found = self._catalog.sources.get(name)
        return SourceHealth(
            source=name,
            state=owner.state,
            tools=len(found.tools) if found else 0,
            quarantined=len(found.quarantined) if found else 0,
            last_error=owner.last_error,
            next_retry_s=owner.next_retry_s,
        )

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _publisher(self, name: str) -> Callable[[ToolListing], Awaitable[bool]]:
        async def publish(listing: ToolListing) -> bool:
            # a thousand schemas take a tenth of a second: too long for the loop that serves running programs
            contribution = await asyncio.to_thread(self._built, name, listing)
            self._catalog = self._catalog.with_source(contribution)
            return bool(contribution.tools)

        return publish

    def _built(self, name: str, listing: ToolListing) -> SourceCatalog:
        contribution = build_source(name, listing)
        self.index.replace(contribution)
        return contribution


def _new_name(provider: ToolProvider, taken: dict[str, SourceOwner]) -> str:
    name = getattr(provider, "name", None)
    if not isinstance(name, str) or not callable(getattr(provider, "connect", None)):
        raise ConfigurationError(
            f"a source is what local(name, tools), mcp.stdio(...) and mcp.http(...) give, or a ToolProvider of yours, "
            f"not {type(provider).__name__!r}"
        )
    if not name:
        raise ConfigurationError(f"a source needs a name that is not empty, not {name!r}")
    if name in taken:
        raise ConfigurationError(f"there are two sources named {name!r}; give each a name of its own")
    return name


async def _all(events: Sequence[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


async def _within(seconds: float, waiting: Awaitable[object]) -> None:
    try:
        async with asyncio.timeout(seconds):
            await waiting
    except TimeoutError:
        return
