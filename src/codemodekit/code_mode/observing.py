"""The stations of one run for the observer of all runs, with nothing in them of what was said."""

from __future__ import annotations

import time
from typing import Any

from codemodekit.bridge.receipts import CallReceipt
from codemodekit.bridge.rows import call_name
from codemodekit.code_mode.events import ObserverEvent, ObserverEventKind
from codemodekit.code_mode.listeners import Outbox
from codemodekit.code_mode.watching import Ended, Watcher
from codemodekit.contracts import GuestCall

__all__ = ["ObserverWatcher"]


class ObserverWatcher(Watcher):
    """Tells the observer about one run."""

    def __init__(self, execution_id: str, program_bytes: int, outbox: Outbox) -> None:
        self._execution_id = execution_id
        self._program_bytes = program_bytes
        self._outbox = outbox
        self._sequence = 0

    def began(self) -> None:
        self._tell("execution_started", input_bytes=self._program_bytes)

    def queued(self, call: GuestCall) -> None:
        self._tell_of("tool_call_queued", call)

    def started(self, call: GuestCall) -> None:
        self._tell_of("tool_call_started", call)

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        self._tell_of(
            "tool_call_completed",
            call,
            status=str(receipt.status),
            code=receipt.code,
            duration_ms=receipt.duration_ms,
            result_bytes=receipt.result_bytes,
        )

    def ended(self, end: Ended) -> None:
        self._tell(
            "execution_completed",
            last=True,
            status=end.status,
            code=end.code,
            duration_ms=end.duration_ms,
            input_bytes=self._program_bytes,
            result_bytes=end.result_bytes,
            calls=end.calls,
        )

    def _tell_of(self, kind: ObserverEventKind, call: GuestCall, **more: Any) -> None:
        name = call_name(call.id)
        self._tell(kind, call_id=name, source=call.source, tool=call.tool, input_bytes=call.input_bytes, **more)

    def _tell(self, kind: ObserverEventKind, *, last: bool = False, **more: Any) -> None:
        self._sequence += 1
        event = ObserverEvent(
            sequence=self._sequence, kind=kind, execution_id=self._execution_id, time=time.time(), **more
        )
        self._outbox.put(event, last=last)
