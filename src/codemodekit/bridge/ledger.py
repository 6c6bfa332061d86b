"""Every call of a run in the order of issue, counted: where the receipt comes from, and where totals are limited."""

from __future__ import annotations

from typing import Final

from codemodekit.bridge.failures import CallRefused, refused
from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.bridge.rows import CallRow
from codemodekit.contracts import GuestCall
from codemodekit.diagnostics import DiagnosticCode
from codemodekit.limits import ExecutionLimits

__all__ = ["Ledger"]

_MOST_REFUSED_ROWS: Final = 100
"""Rows of calls beyond the limit that are still listed one by one."""


class Ledger:
    """The rows of one run."""

    def __init__(self, limits: ExecutionLimits) -> None:
        self._limits = limits
        self._rows: list[CallRow] = []
        self._bytes = 0
        self._unlisted = 0
        self.attempts = 0
        """How many calls the program has made, refused ones included."""

    def open(self, call: GuestCall) -> CallRow:
        """A row for a call that has just been made."""
        row = CallRow(call)
        self.attempts += 1
        if len(self._rows) < self._limits.max_tool_calls + _MOST_REFUSED_ROWS:
            self._rows.append(row)
        else:
            row.listed = False
            self._unlisted += 1
        return row

    def admit(self, call: GuestCall) -> None:
        """Count the call that was just opened, and its input.

        Raises:
            CallRefused: it is one too many, or too large.
        """
        most = self._limits.max_tool_calls
        if self.attempts > most:
            message = f"this run may make {most} tool calls and this is number {self.attempts}"
            raise refused(DiagnosticCode.TOOL_CALL_LIMIT_EXCEEDED, message, call.source, call.tool)
        self._bytes += call.input_bytes
        if call.oversize or self._bytes > self._limits.total_bridge_bytes:
            raise self._full(call, CallStatus.REJECTED)

    def add_result(self, row: CallRow, size: int) -> None:
        """Count the result of a call.

        Raises:
            CallRefused: it is too large together with all that went before.
        """
        row.result_bytes = size
        self._bytes += size
        if self._bytes > self._limits.total_bridge_bytes:
            raise self._full(row.call, CallStatus.FAILED)

    def receipts(self) -> tuple[CallReceipt, ...]:
        """The receipt so far."""
        return tuple(row.receipt() for row in self._rows)

    def notes(self) -> list[str]:
        """What the receipt does not show."""
        if not self._unlisted:
            return []
        return [f"{self._unlisted} more calls beyond the limit were rejected and are not listed"]

    def _full(self, call: GuestCall, status: CallStatus) -> CallRefused:
        most = self._limits.total_bridge_bytes
        message = f"inputs and results of this run may be {most} bytes together, and are more with this call"
        return refused(DiagnosticCode.BRIDGE_LIMIT_EXCEEDED, message, call.source, call.tool, status=status)
