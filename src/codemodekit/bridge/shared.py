"""What the calls of all runs of one CodeMode share, and the callbacks by which the rooms above hear of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from codemodekit.bridge.decisions import Decisions, Verdict
from codemodekit.bridge.receipts import CallReceipt
from codemodekit.catalog.manager import CatalogManager
from codemodekit.contracts import GuestCall, ToolCall, ToolResult
from codemodekit.diagnostics import Diagnostic

__all__ = ["CallListener", "FailureRecorder", "Shared", "TrustedResultHandler"]

TrustedResultHandler: TypeAlias = Callable[[ToolCall, ToolResult, int], None]
"""Shows a whole result, sideband included, to trusted host code; the last is about how many bytes it is. Must return at
once and never raise."""

FailureRecorder: TypeAlias = Callable[[str, Diagnostic, BaseException | None], Diagnostic]
"""Keeps the host's record of a failure (run, diagnostic, cause); gives the diagnostic back with its correlation id."""


class CallListener(Protocol):
    """Hears of the stations of a call; must return at once and never raise."""

    def queued(self, call: GuestCall) -> None:
        """It has been admitted and waits for its turn."""

    def decided(self, call: GuestCall, verdict: Verdict) -> None:
        """The policy, and the approver if it was asked, have spoken."""

    def started(self, call: GuestCall) -> None:
        """It is sent to its source."""

    def carrying(self, call: GuestCall) -> AbstractContextManager[object]:
        """Entered around what the source does."""
        ...

    def progress(self, call: GuestCall, message: str) -> None:
        """Its tool says how far it has come; not yet bounded or cleaned."""

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        """It has its answer, or will never have one; also when it never got as far as the queue."""

    def passed_over(self) -> None:
        """One more call beyond those that are listed was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all runs of one CodeMode share."""

    catalog: CatalogManager
    decisions: Decisions
    on_trusted_result: TrustedResultHandler | None
    on_failure: FailureRecorder | None
