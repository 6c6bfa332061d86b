"""What listeners hear while a run goes on: lifecycle events without payloads, bounded, never in the run's way."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from codemodekit.bridge.receipts import CallReceipt
from codemodekit.limits import ExecutionLimits

__all__ = ["EventKind", "EventStream", "Listener", "RunEvent"]

EventKind: TypeAlias = Literal[
    "compiled", "started", "tool_queued", "tool_started", "tool_progress", "tool_finished", "finished"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One station of a run."""

    sequence: int
    """Increases by at least one from event to event of a run."""
    kind: EventKind
    execution_id: str
    call_id: str | None = None
    source: str | None = None
    tool: str | None = None
    message: str | None = None
    """For tool_progress: what the tool said, cleaned and bounded."""
    status: str | None = None
    """For tool_finished and finished: how it ended."""
    code: str | None = None


Listener: TypeAlias = Callable[[RunEvent], None]
"""Called on the event loop; must return at once. What it raises is dropped."""


class EventStream:
    """The events of one run for its listeners; implements the bridge's CallListener."""

    def __init__(
        self, execution_id: str, limits: ExecutionLimits, progress: Listener | None, observer: Listener | None
    ) -> None:
        self._execution_id = execution_id
        self._limits = limits
        self._progress = progress
        self._observer = observer
        self._sequence = 0
        self._reported = 0
        self._recent: deque[float] = deque()

    def compiled(self) -> None:
        self._emit("compiled")

    def running(self) -> None:
        self._emit("started")

    def ended(self, status: str, code: str | None) -> None:
        self._emit("finished", status=status, code=code, always=True)

    def queued(self, call_id: str, source: str, tool: str) -> None:
        self._emit("tool_queued", call_id=call_id, source=source, tool=tool)

    def started(self, call_id: str, source: str, tool: str) -> None:
        self._emit("tool_started", call_id=call_id, source=source, tool=tool)

    def progress(self, call_id: str, source: str, tool: str, message: str) -> None:
        most = self._limits.progress_message_bytes
        text = message.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
        self._emit("tool_progress", call_id=call_id, source=source, tool=tool, message=text)

    def finished(self, receipt: CallReceipt) -> None:
        self._emit(
            "tool_finished", call_id=receipt.id, source=receipt.source, tool=receipt.tool, status=str(receipt.status),
            code=receipt.code,
        )  # fmt: skip

    def _emit(
        self,
        kind: EventKind,
        *,
        call_id: str | None = None,
        source: str | None = None,
        tool: str | None = None,
        message: str | None = None,
        status: str | None = None,
        code: str | None = None,
        always: bool = False,
    ) -> None:
        self._sequence += 1
        event = RunEvent(
            sequence=self._sequence, kind=kind, execution_id=self._execution_id, call_id=call_id, source=source,
            tool=tool, message=message, status=status, code=code,
        )  # fmt: skip
        if self._observer is not None and kind != "tool_progress":
            _tell(self._observer, event)
        if self._progress is not None and (always or self._may_report()):
            _tell(self._progress, event)

    def _may_report(self) -> bool:
        # The last place is kept for the terminal event.
        now = time.monotonic()
        while self._recent and self._recent[0] <= now - 1:
            self._recent.popleft()
        if self._reported >= self._limits.max_progress_events - 1:
            return False
        if len(self._recent) >= self._limits.progress_events_per_second:
            return False
        self._reported += 1
        self._recent.append(now)
        return True


def _tell(listener: Listener, event: RunEvent) -> None:
    try:
        listener(event)
    except Exception:  # delivery is advisory: a failing listener changes nothing for the run
        return
