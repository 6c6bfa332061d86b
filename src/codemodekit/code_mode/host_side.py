"""The host's side of all runs: the code of its own that listens, and the records that stay with it.

Opens a watch for each run, keeps the record behind each correlation id, and gives listeners that keep up a moment to
hear the end of a run before its caller has the result.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, replace
from typing import Any, Final

from codemodekit.code_mode.audit.lines import AuditWatcher
from codemodekit.code_mode.audit.log import AuditHealth, AuditLog
from codemodekit.code_mode.events import Listener, Observer
from codemodekit.code_mode.listeners import HostCode, Outbox, Teller
from codemodekit.code_mode.observing import ObserverWatcher
from codemodekit.code_mode.progress import ProgressWatcher
from codemodekit.code_mode.result import TrustedRecord
from codemodekit.code_mode.spans import span_watcher
from codemodekit.code_mode.watching import Watch, Watcher
from codemodekit.contracts import ToolCall, ToolResult
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.errors import ConfigurationError
from codemodekit.limits import ExecutionLimits

__all__ = ["HostSide", "ObservationHealth"]

_CATCH_UP_S: Final = 0.25
"""How long a run that is over waits for listeners that keep up."""

_MOST_EVENTS: Final = 10_000
_MOST_RECORDS: Final = 1_000
"""What may wait for one listener; a record holds an exception, and with it what its frames hold."""

_CUT_OFF_S: Final = 1.0
"""How long a coroutine that listens to one run may go on after its end."""


@dataclass(frozen=True, slots=True)
class ObservationHealth:
    """What went wrong beside the runs, and did not touch them."""

    listener_failures: int
    """Times that a listener raised."""
    untold: int
    """Events, results and records that were not told to a listener, because it did not keep up."""
    audit: AuditHealth | None
    """How the audit log is doing, if there is one."""

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"listenerFailures": self.listener_failures, "untold": self.untold}
        return wire if self.audit is None else {**wire, "audit": self.audit.to_wire()}


class HostSide:
    """What listens to the runs of one Code Mode.

    Raises:
        ConfigurationError: something that is to listen is no function.
    """

    def __init__(
        self,
        *,
        observer: Observer | None,
        on_trusted_result: HostCode | None,
        on_diagnostic: HostCode | None,
        audit: AuditLog | None,
    ) -> None:
        if audit is not None and not isinstance(audit, AuditLog):
            raise ConfigurationError(f"audit must be an AuditLog, not {audit!r}")
        self._audit = audit
        self._code: dict[str, HostCode | None] = {
            "on_trusted_result": on_trusted_result,
            "observer": observer,
            "on_diagnostic": on_diagnostic,
        }
        for name, function in self._code.items():
            if function is not None and not callable(function):
                raise ConfigurationError(f"{name} must be a function, not {function!r}")
        self._teller = Teller()
        self._outboxes: dict[str, Outbox] = {}
        self._open = False

    @property
    def wants_results(self) -> bool:
        """Whether whole tool results are to be shown."""
        return self._code["on_trusted_result"] is not None

    def open(self) -> None:
        """Begin to listen; on the event loop, before the first run.

        Raises:
            ConfigurationError: the audit log cannot be written.
        """
        if self._audit is not None:
            self._audit.open()
        self._open = True
        for name, function in self._code.items():
            if function is not None:
                most = _MOST_RECORDS if name == "on_diagnostic" else _MOST_EVENTS
                self._outboxes[name] = Outbox(function, self._teller, what=name, most=most)
        if self.wants_results:
            self._outboxes["on_trusted_result"].on_failure = self._record_choking

    async def aclose(self) -> None:
        """Let listeners hear what there is, within a bound, and tell them nothing more. Twice is fine."""
        await self._catch_up(None)
        await self._teller.aclose()
        if self._audit is not None and self._open:
            self._open = False
            await self._audit.aclose()

    def health(self) -> ObservationHealth:
        """What went wrong beside the runs so far."""
        audit = None if self._audit is None else self._audit.health()
        return ObservationHealth(self._teller.failed, self._teller.lost, audit)

    # --- one run ------------------------------------------------------------------------------------------------

    def progress(self, listener: Listener | None) -> Outbox | None:
        """The way to the listener of one run.

        Raises:
            ConfigurationError: it is no function.
        """
        if listener is not None and not callable(listener):
            raise ConfigurationError(f"on_progress must be a function, not {listener!r}")
        return None if listener is None else Outbox(listener, self._teller, what="on_progress")

    def watch(
        self, execution_id: str, code: str, principal: Any, limits: ExecutionLimits, progress: Outbox | None
    ) -> Watch | None:
        """Who watches a run; None when nobody does."""
        watchers: list[Watcher] = []
        size = len(code.encode("utf-8", "surrogatepass"))
        spans = span_watcher(execution_id, size)
        observer = self._outboxes.get("observer")
        if spans is not None:
            watchers.append(spans)
        if observer is not None:
            watchers.append(ObserverWatcher(execution_id, size, observer))
        if self._audit is not None:
            watchers.append(AuditWatcher(self._audit, execution_id, size, principal))
        if progress is not None:
            watchers.append(ProgressWatcher(execution_id, limits, progress))
        return Watch(watchers) if watchers else None

    async def heard(self, progress: Outbox | None) -> None:
        """Return when listeners that keep up have heard of a run that is over."""
        try:
            await self._catch_up(progress)
        finally:
            if progress is not None:
                progress.cut_off(_CUT_OFF_S)

    async def _catch_up(self, progress: Outbox | None) -> None:
        due = time.monotonic() + _CATCH_UP_S
        for outbox in (*(() if progress is None else (progress,)), *self._outboxes.values()):
            await outbox.caught_up(due - time.monotonic())

    # --- results and records ------------------------------------------------------------------------------------

    def show_result(self, sent: ToolCall, result: ToolResult, size: int) -> None:
        """Show a whole result to the host."""
        self._outboxes["on_trusted_result"].put(sent, result, weight=size)

    def record(self, execution_id: str, diagnostic: Diagnostic, cause: BaseException | None) -> Diagnostic:
        """Keep the host's record of a failure; the diagnostic with its correlation id."""
        diagnostic = replace(diagnostic, correlation_id="diag_" + secrets.token_hex(8))
        outbox = self._outboxes.get("on_diagnostic")
        if outbox is not None:
            outbox.put(
                TrustedRecord(
                    correlation_id=diagnostic.correlation_id,
                    execution_id=execution_id,
                    diagnostic=diagnostic,
                    exception=cause,
                )
            )
        return diagnostic

    def _record_choking(self, error: BaseException, told: tuple[Any, ...]) -> None:
        sent: ToolCall = told[0]
        message = f"on_trusted_result failed with the result of {sent.source}.{sent.tool}"
        self.record(sent.execution_id, Diagnostic(code=DiagnosticCode.INTERNAL_ERROR, message=message), error)
