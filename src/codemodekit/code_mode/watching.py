"""The stations of one run on their way to whoever watches it: progress, observers, spans, the audit log.

A watcher is a part of the kit, not of the host: it returns at once and hands on what it heard. One that fails is noted
and changes nothing for the run or for the others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from codemodekit.bridge.decisions import Verdict
from codemodekit.bridge.receipts import CallReceipt, Rerun
from codemodekit.contracts import GuestCall

__all__ = ["EndStatus", "Ended", "Watch", "Watcher"]

_log = logging.getLogger("codemodekit")

EndStatus: TypeAlias = Literal["ok", "failed", "cancelled"]

_SURVIVED: Final = (Exception, SystemExit, asyncio.CancelledError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended, without anything it said."""

    status: EndStatus
    code: str | None
    duration_ms: float
    calls: int
    unlisted: int
    """How many of the calls were refused so far beyond the limit that they have no row in the receipt."""
    rerun: Rerun | None
    result_bytes: int | None


class Watcher:
    """Hears of the stations of one run, on the event loop. A watcher overrides those it cares for."""

    def began(self) -> None:
        """Nothing has been done yet."""

    def compiled(self) -> None:
        """The program can be run."""

    def running(self) -> None:
        """It is about to be run."""

    def queued(self, call: GuestCall) -> None:
        """A call has been admitted and waits for its turn."""

    def decided(self, call: GuestCall, verdict: Verdict) -> None:
        """The policy has spoken about a call."""

    def started(self, call: GuestCall) -> None:
        """A call is sent to its source."""

    def carrying(self, _call: GuestCall) -> AbstractContextManager[object] | None:
        """What to enter around what the source does."""
        return None

    def progress(self, call: GuestCall, message: str) -> None:
        """A tool says how far it has come."""

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        """A call has ended, also when it never got as far as the queue."""

    def ended(self, end: Ended) -> None:
        """The run is over; nothing follows."""


class Watch:
    """All watchers of one run as one; the bridge's CallListener."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)
        self._began = time.perf_counter()
        self._calls = self._unlisted = 0
        self._over = False
        self.result_bytes: int | None = None
        """Size of the value the program returned, once it is known."""

    def began(self) -> None:
        self._each(lambda watcher: watcher.began())

    def compiled(self) -> None:
        self._each(lambda watcher: watcher.compiled())

    def running(self) -> None:
        self._each(lambda watcher: watcher.running())

    def queued(self, call: GuestCall) -> None:
        self._each(lambda watcher: watcher.queued(call))

    def decided(self, call: GuestCall, verdict: Verdict) -> None:
        self._each(lambda watcher: watcher.decided(call, verdict))

    def started(self, call: GuestCall) -> None:
        self._each(lambda watcher: watcher.started(call))

    def carrying(self, call: GuestCall) -> AbstractContextManager[object]:
        around: list[AbstractContextManager[object]] = []
        self._each(lambda watcher: around.append(found) if (found := watcher.carrying(call)) is not None else None)
        return around[0] if around else nullcontext()

    def progress(self, call: GuestCall, message: str) -> None:
        self._each(lambda watcher: watcher.progress(call, message))

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        self._calls += 1
        self._each(lambda watcher: watcher.finished(call, receipt))

    def passed_over(self) -> None:
        self._calls += 1
        self._unlisted += 1

    def end(self, status: EndStatus, code: str | None, rerun: Rerun | None) -> None:
        """The run is over. Twice is fine: the first ending stands."""
        if self._over:
            return
        end = Ended(
            status=status,
            code=code,
            duration_ms=round((time.perf_counter() - self._began) * 1000, 3),
            calls=self._calls,
            unlisted=self._unlisted,
            rerun=rerun,
            result_bytes=self.result_bytes if status == "ok" else None,
        )
        self._each(lambda watcher: watcher.ended(end))
        self._over = True

    def _each(self, tell: Callable[[Watcher], Any]) -> None:
        if self._over:
            return
        for watcher in self._watchers:
            try:
                tell(watcher)
            except _SURVIVED as error:  # a span processor of the host's, for one
                _log.debug("%s failed with %s", type(watcher).__name__, type(error).__name__)
