"""The progress of one run for the listener it was given, within the limits on size, number and rate."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from codemodekit.bridge.receipts import CallReceipt
from codemodekit.bridge.rows import call_name
from codemodekit.cleaning import clean
from codemodekit.code_mode.events import EventKind, RunEvent
from codemodekit.code_mode.listeners import Outbox
from codemodekit.code_mode.watching import Ended, Watcher
from codemodekit.contracts import GuestCall
from codemodekit.limits import ExecutionLimits

__all__ = ["ProgressWatcher", "bounded_message"]

_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class ProgressWatcher(Watcher):
    """Tells one listener the stations of one run. The last place of each limit is kept for the terminal event."""

    def __init__(
        self,
        execution_id: str,
        limits: ExecutionLimits,
        outbox: Outbox,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._execution_id = execution_id
        self._most_bytes = limits.progress_message_bytes
        self._most = limits.max_progress_events - 1
        self._most_a_second = max(1, limits.progress_events_per_second - 1)
        self._outbox = outbox
        self._clock = clock
        self._sequence = 0
        self._reported = 0
        self._recent: deque[float] = deque()

    def compiled(self) -> None:
        self._tell("compiled")

    def running(self) -> None:
        self._tell("started")

    def queued(self, call: GuestCall) -> None:
        self._tell("tool_queued", **_of(call))

    def started(self, call: GuestCall) -> None:
        self._tell("tool_started", **_of(call))

    def progress(self, call: GuestCall, message: str) -> None:
        self._sequence += 1
        if self._may_tell():
            text = bounded_message(message, self._most_bytes)
            self._put(RunEvent(**self._head("tool_progress"), **_of(call), message=text))

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        self._tell("tool_finished", **_of(call), status=str(receipt.status), code=receipt.code)

    def ended(self, end: Ended) -> None:
        self._sequence += 1
        self._put(RunEvent(**self._head("finished"), status=end.status, code=end.code), last=True)

    def _tell(self, kind: EventKind, **more: Any) -> None:
        self._sequence += 1
        if self._may_tell():
            self._put(RunEvent(**self._head(kind), **more))

    def _head(self, kind: EventKind) -> dict[str, Any]:
        return {"sequence": self._sequence, "kind": kind, "execution_id": self._execution_id}

    def _put(self, event: RunEvent, *, last: bool = False) -> None:
        self._outbox.put(event, last=last)

    def _may_tell(self) -> bool:
        now = self._clock()
        while self._recent and self._recent[0] <= now - 1:
            self._recent.popleft()
        if self._reported >= self._most or len(self._recent) >= self._most_a_second:
            return False
        self._reported += 1
        self._recent.append(now)
        return True


def bounded_message(message: str, most: int) -> str:
    """What an upstream said, on one line, cleaned, and cut to so many bytes."""
    text = _CONTROLS.sub(" ", clean(message, most)).strip()
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return data.decode()
    mark = "…" if most > 3 else ""
    return data[: most - len(mark.encode())].decode("utf-8", "ignore") + mark


def _of(call: GuestCall) -> dict[str, Any]:
    return {"call_id": call_name(call.id), "source": call.source, "tool": call.tool}
