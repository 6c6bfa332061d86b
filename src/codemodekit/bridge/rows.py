"""A call while it is in flight; it becomes a row of the receipt."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.contracts import GuestCall

__all__ = ["CallRow", "call_name"]


_LONGEST_NAME: Final = 512
"""Longest name of a source or tool that can exist."""


class CallRow:
    """A call in flight; becomes a receipt."""

    __slots__ = (
        "call",
        "carried",
        "code",
        "dispatched",
        "ended",
        "has_turn",
        "listed",
        "may_write",
        "read_only",
        "result_bytes",
        "settled",
        "started",
        "status",
        "task",
    )

    def __init__(self, call: GuestCall) -> None:
        self.call = _with_bounded_names(call)
        self.status = CallStatus.REJECTED
        self.read_only: bool | None = None
        self.may_write = True
        self.dispatched = False
        self.started = self.ended = 0.0
        self.result_bytes: int | None = None
        self.code: str | None = None
        self.settled = False
        self.has_turn = False
        self.listed = True
        self.carried = False
        self.task: asyncio.Task[Any] | None = None

    def receipt(self) -> CallReceipt:
        return CallReceipt(
            id=call_name(self.call.id),
            source=self.call.source,
            tool=self.call.tool,
            status=self.status,
            read_only=self.read_only,
            duration_ms=round((self.ended - self.started) * 1000, 3) if self.dispatched else None,
            input_bytes=self.call.input_bytes,
            result_bytes=self.result_bytes,
            code=self.code,
            dispatched=self.dispatched,
            may_write=self.may_write,
        )


def _with_bounded_names(call: GuestCall) -> GuestCall:
    # What a program calls a source or tool is copied into receipt, failure and events; nothing has so long a name.
    if len(call.source) <= _LONGEST_NAME and len(call.tool) <= _LONGEST_NAME:
        return call
    return call._replace(source=_bounded(call.source), tool=_bounded(call.tool))


def _bounded(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def call_name(number: int) -> str:
    """The id of a run's call: `call_1` is the first it made."""
    return f"call_{number}"
