"""What happened to each call of a run, and whether running the program again is safe."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["CallReceipt", "CallStatus", "Rerun", "rerun_verdict"]


class CallStatus(enum.StrEnum):
    """How a call ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"
    TIMED_OUT = "timedOut"
    REJECTED = "rejected"
    """It never reached the source."""
    UNFINISHED = "unfinished"
    """It was still running when the program ended."""
    UNKNOWN = "unknown"
    """It was sent and no answer came."""


class Rerun(enum.StrEnum):
    """Whether the same program may be run again."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReceipt:
    """One row of the receipt."""

    id: str
    source: str
    tool: str
    status: CallStatus
    read_only: bool | None = None
    """As the source annotated the tool; None where it did not."""
    duration_ms: float | None = None
    """From dispatch to answer; None when it was never dispatched."""
    input_bytes: int = 0
    result_bytes: int | None = None
    code: str | None = None
    dispatched: bool = False
    may_write: bool = True

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"id": self.id, "source": self.source, "tool": self.tool, "status": str(self.status)}
        if self.read_only is not None:
            wire["readOnly"] = self.read_only
        if self.duration_ms is not None:
            wire["durationMs"] = self.duration_ms
        wire["inputBytes"] = self.input_bytes
        if self.result_bytes is not None:
            wire["resultBytes"] = self.result_bytes
        if self.code is not None:
            wire["code"] = self.code
        return wire


_UNCERTAIN = frozenset({CallStatus.UNKNOWN, CallStatus.UNFINISHED, CallStatus.TIMED_OUT})


def rerun_verdict(receipts: Iterable[CallReceipt]) -> Rerun:
    """Safe unless something that may write was sent; unknown if nobody can say whether it took effect."""
    writes = [receipt for receipt in receipts if receipt.may_write and receipt.dispatched]
    if any(receipt.status in _UNCERTAIN for receipt in writes):
        return Rerun.UNKNOWN
    return Rerun.UNSAFE if writes else Rerun.SAFE
