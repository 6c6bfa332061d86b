"""The outcome of a run as a value, and its form on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codemodekit._json import ABSENT, Absent, JsonValue
from codemodekit.bridge.receipts import CallReceipt, Rerun
from codemodekit.contracts import LogEntry
from codemodekit.diagnostics import Diagnostic

__all__ = ["RunResult", "TrustedRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended. `ok` tells a value from an error; everything else is there either way."""

    ok: bool
    execution_id: str
    value: JsonValue | Absent = ABSENT
    """What the program returned; ABSENT for `undefined` and for a failure, None for `null`."""
    error: Diagnostic | None = None
    logs: tuple[LogEntry, ...] = ()
    calls: tuple[CallReceipt, ...] = ()
    rerun: Rerun = Rerun.SAFE
    notes: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """The JSON form: `value` is left out for `undefined`, `notes` when there are none."""
        wire: dict[str, Any] = {"ok": self.ok, "executionId": self.execution_id}
        if self.error is not None:
            wire["error"] = self.error.to_wire()
        elif self.value is not ABSENT:
            wire["value"] = self.value
        wire["logs"] = [entry.to_wire() for entry in self.logs]
        wire["calls"] = [call.to_wire() for call in self.calls]
        wire["rerun"] = str(self.rerun)
        if self.notes:
            wire["notes"] = list(self.notes)
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedRecord:
    """The host's own record behind a diagnostic: may hold secrets and host paths, never reaches model or program."""

    correlation_id: str
    execution_id: str
    diagnostic: Diagnostic
    exception: BaseException | None = None
