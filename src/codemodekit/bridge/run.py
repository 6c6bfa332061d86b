"""All calls of one run: counted, pinned to one catalogue, dispatched in turn, answered once, and kept for the receipt.

Answers leave through a callback as they come; the run loop above decides when the guest sees them. Knows nothing of
sandboxes or compilers.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from codemodekit.bridge.admission import check_input, find_tool, no_source, unavailable
from codemodekit.bridge.decisions import ALLOWED, Decisions, Verdict, denied
from codemodekit.bridge.failures import CallRefused, error_wire, refused, translate
from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.bridge.results import bound_result, output_note, rounding_note
from codemodekit.bridge.rows import CallRow, call_name
from codemodekit.bridge.turns import Deadlines, Turns
from codemodekit.catalog.manager import CatalogManager
from codemodekit.catalog.snapshot import Catalog, CatalogTool, SourceCatalog
from codemodekit.contracts import Answer, GuestCall, PolicyRequest, ToolCall, ToolResult, ToolSession
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.limits import ExecutionLimits

__all__ = ["BridgeRun", "CallListener", "FailureRecorder", "Shared", "TrustedResultHandler"]

TrustedResultHandler: TypeAlias = Callable[[ToolCall, ToolResult, int], None]
"""Shows a whole result, sideband included, to trusted host code; the last is about how many bytes it is. Must return at
once and never raise."""

FailureRecorder: TypeAlias = Callable[[str, Diagnostic, BaseException | None], Diagnostic]
"""Keeps the host's record of a failure (run, diagnostic, cause); gives the diagnostic back with its correlation id."""

CONNECT_SECONDS: Final = 10.0
"""How long a call waits for a source that is still connecting."""

_MOST_REFUSED_ROWS: Final = 100
"""Rows of calls beyond the limit that are still listed one by one."""


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


class BridgeRun:
    """All calls of one run. Methods are called from the event loop only, except `names`."""

    def __init__(
        self,
        shared: Shared,
        execution_id: str,
        limits: ExecutionLimits,
        deliver: Callable[[Answer], None],
        principal: Any,
        listener: CallListener | None,
    ) -> None:
        self._shared = shared
        self._execution_id = execution_id
        self._limits = limits
        self._deliver = deliver
        self._principal = principal
        self._listener = listener
        self._pinned: Catalog = shared.catalog.snapshot()
        self._late: dict[str, SourceCatalog] = {}
        self._rows: list[CallRow] = []
        self._attempts = 0
        self._over_limit = 0
        self._bytes = 0
        self._turns = Turns(limits.max_concurrent_tool_calls)
        self._deadlines = Deadlines(limits.tool_call_time_ms / 1000, self._time_out)
        self._running: dict[int, CallRow] = {}
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self.failures: dict[int, Diagnostic] = {}
        """The diagnostic of each failed call, by the call's number."""
        self.notes: list[str] = []
        """What the model should know besides values and errors."""
        self.on_cut_off: Callable[[], None] = _nothing
        """Called when the call that `carry` carries got its answer at its limit, while its tool may still run."""

    # --- what the run loop uses ---------------------------------------------------------------------------------

    @property
    def pinned(self) -> Catalog:
        """The catalogue this run uses; sources that had not listed yet are pinned when they are first ready."""
        return self._pinned

    @property
    def has_called(self) -> bool:
        """Whether the program has called anything."""
        return self._attempts > 0

    @property
    def busy(self) -> bool:
        """Whether any call has no answer yet."""
        return bool(self._running)

    def names(self, source: str | None) -> Sequence[str]:
        """Names of the sources, or of a source's tools; safe on any thread.

        Raises:
            LookupError: the source has not listed its tools yet.
        """
        if source is None:
            return self._shared.catalog.names
        found = self._pin(source)
        if found is None:
            raise LookupError(source)
        return list(found.tools)

    def begin(self, call: GuestCall) -> None:
        """Take up a call in a task of its own; its answer is delivered once, now or later."""
        row = self._row(call)
        tool = self._admitted(row)
        if not row.settled:
            row.task = self._loop.create_task(self._carry(row, tool))

    async def carry(self, call: GuestCall) -> None:
        """The same in the caller's task, which must do nothing else meanwhile; returns once the answer is delivered.

        A tool that does not heed cancelling holds the caller, but not the answer, beyond the limit of the call.
        """
        row = self._row(call)
        tool = self._admitted(row)
        if not row.settled:
            row.task = task = asyncio.current_task()
            assert task is not None
            row.carried = True
            await self._carry(row, tool)
            if task.cancelling():
                await self._shake_off_cancelling(task)

    async def _shake_off_cancelling(self, task: asyncio.Task[Any]) -> None:
        """A tool may swallow a cancelling, or leave one of its own behind: the caller's next wait would end by it."""
        while task.cancelling() and not self._closed:
            task.uncancel()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if self._closed:
                    raise

    def _row(self, call: GuestCall) -> CallRow:
        row = CallRow(call)
        self._attempts += 1
        if len(self._rows) < self._limits.max_tool_calls + _MOST_REFUSED_ROWS:
            self._rows.append(row)
        else:
            row.listed = False
            self._over_limit += 1
        self._running[call.id] = row
        return row

    def _admitted(self, row: CallRow) -> CatalogTool | None:
        """The tool, or None: admission has to wait for something, or the row has been refused."""
        try:
            self._count(row.call)
            source = self._pin(row.call.source)
            if source is None:
                return None
            tool = find_tool(row.call, source)
            return self._admit(row, tool) if _is_ready(tool) else None
        except CallRefused as refusal:
            self._refuse(row, refusal)
            return None

    async def drain(self) -> None:
        """Wait until no call runs; the caller bounds it."""
        while tasks := [row.task for row in self._running.values() if row.task is not None]:
            await asyncio.wait(tasks)

    def abandon(self, reason: DiagnosticCode) -> list[asyncio.Task[Any]]:
        """End every call that still runs; the tasks that are ending."""
        self.close()
        ending = []
        for row in list(self._running.values()):
            status = CallStatus.UNFINISHED if row.dispatched else CallStatus.REJECTED
            code = None if row.dispatched else str(reason)
            if row.task is not None:
                row.task.cancel()
                ending.append(row.task)
            self._end(row, status, code)
        return ending

    def close(self) -> None:
        """Nothing more is decided, dispatched or reported."""
        self._closed = True
        self._shared.decisions.ended(self._execution_id)
        self._deadlines.close()

    def receipts(self) -> tuple[CallReceipt, ...]:
        """The receipt so far, in the order of issue."""
        if self._over_limit:
            self.notes.append(f"{self._over_limit} more calls beyond the limit were rejected and are not listed")
            self._over_limit = 0
        return tuple(row.receipt() for row in self._rows)

    # --- admission: no call that ends here reaches a source -----------------------------------------------------

    def _count(self, call: GuestCall) -> None:
        most = self._limits.max_tool_calls
        if self._attempts > most:
            message = f"this run may make {most} tool calls and this is number {self._attempts}"
            raise refused(DiagnosticCode.TOOL_CALL_LIMIT_EXCEEDED, message, call.source, call.tool)
        self._bytes += call.input_bytes
        if call.oversize or self._bytes > self._limits.total_bridge_bytes:
            raise self._bridge_full(call)

    def _bridge_full(self, call: GuestCall, status: CallStatus = CallStatus.REJECTED) -> CallRefused:
        most = self._limits.total_bridge_bytes
        message = f"inputs and results of this run may be {most} bytes together, and are more with this call"
        return refused(DiagnosticCode.BRIDGE_LIMIT_EXCEEDED, message, call.source, call.tool, status=status)

    def _pin(self, source: str) -> SourceCatalog | None:
        return self._pinned.sources.get(source) or self._late.get(source)

    def _admit(self, row: CallRow, tool: CatalogTool) -> CatalogTool:
        annotations = tool.definition.annotations
        row.read_only, row.may_write = annotations.read_only, annotations.may_write
        check_input(row.call, tool)
        return tool

    async def _admit_late(self, row: CallRow) -> CatalogTool:
        """Admission that has to wait: for a source that has not listed yet, or for a very large schema."""
        source = self._pin(row.call.source) or await self._await_source(row.call)
        tool = find_tool(row.call, source)
        for check in (tool.input, tool.output):
            if check is not None and not check.prepared:
                await asyncio.to_thread(check.is_valid, None)
        return self._admit(row, tool)

    async def _await_source(self, call: GuestCall) -> SourceCatalog:
        """A source that has not listed yet is pinned when it is first ready."""
        catalog = self._shared.catalog
        if not catalog.known(call.source):
            raise no_source(call, catalog.names)
        found = await catalog.ready(call.source, CONNECT_SECONDS)
        if found is None:
            raise unavailable(call, catalog)
        return self._late.setdefault(call.source, found)

    # --- the way of an admitted call ----------------------------------------------------------------------------

    async def _carry(self, row: CallRow, tool: CatalogTool | None) -> None:
        try:
            if tool is None:
                tool = await self._admit_late(row)
            if self._listener is not None:
                self._listener.queued(row.call)
            if not self._turns.take(row):
                await self._turns.wait(row)
            answer = await self._dispatch(row, tool)
            if not row.settled:
                self._end(row, CallStatus.COMPLETED, None)
                self._deliver(Answer(row.call.id, True, answer))
        except CallRefused as refusal:
            self._refuse(row, refusal)
        except asyncio.CancelledError:
            if self._closed:
                raise
            if row.settled:  # it was cancelled here, at the limit of the call
                row.task.uncancel()  # type: ignore[union-attr] # a row that runs has its task
            else:  # the tool did that to itself
                self._refuse(row, translate(RuntimeError("cancelled itself"), row.call.source, row.call.tool))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # also what is no Exception: an unanswered call would hold the run
            failure = translate(error, row.call.source, row.call.tool)
            failure.__cause__ = error
            self._refuse(row, failure)

    async def _dispatch(self, row: CallRow, tool: CatalogTool) -> bytes:
        call = row.call
        if self._listener is not None or not self._shared.decisions.lets_all_through:
            await self._decide(call, tool)
        session = self._shared.catalog.session(call.source)
        if session is None:
            raise unavailable(call, self._shared.catalog)
        sent = ToolCall(
            execution_id=self._execution_id,
            call_id=call_name(call.id),
            source=call.source,
            tool=call.tool,
            input=call.input,
            report_progress=self._progress(row),
        )
        result = await self._timed(row, session, sent)
        return self._bound(row, tool, sent, result)

    async def _decide(self, call: GuestCall, tool: CatalogTool) -> None:
        decisions, listener, verdict = self._shared.decisions, self._listener, ALLOWED
        request = self._request(call, tool)
        if not decisions.lets_all_through:
            verdict = await decisions.judge(request, name_rule=listener is not None)
        if listener is not None:
            listener.decided(call, verdict)
        if not verdict.allowed:
            raise denied(request, verdict)

    def _request(self, call: GuestCall, tool: CatalogTool) -> PolicyRequest:
        return PolicyRequest(
            execution_id=self._execution_id,
            call_id=call_name(call.id),
            source=call.source,
            tool=call.tool,
            input=call.input,
            annotations=tool.definition.annotations,
            principal=self._principal,
        )

    async def _timed(self, row: CallRow, session: ToolSession, sent: ToolCall) -> ToolResult:
        listener = self._listener
        if listener is not None:
            listener.started(row.call)
        row.dispatched, row.started = True, time.perf_counter()
        self._deadlines.add(row)
        try:
            if listener is None:
                return await session.call(sent)
            with listener.carrying(row.call):
                return await session.call(sent)
        except (Exception, SystemExit) as error:  # a function that calls exit() ends its call, not the host
            raise translate(error, sent.source, sent.tool) from error

    def _time_out(self, row: CallRow) -> None:
        # The program gets its answer now, even if the tool does not heed the cancelling.
        limit = self._limits.tool_call_time_ms
        message = (
            f"{row.call.source}.{row.call.tool} gave no answer within {limit} ms; whether it took effect is not known"
        )
        code, status = DiagnosticCode.TOOL_CALL_TIMEOUT, CallStatus.TIMED_OUT
        self._refuse(row, refused(code, message, row.call.source, row.call.tool, status=status))
        if row.task is not None:
            row.task.cancel()
        if row.carried:
            self.on_cut_off()

    def _progress(self, row: CallRow) -> Callable[[str], None]:
        listener = self._listener
        if listener is None:
            return _silent

        call = row.call

        def tell(message: str) -> None:
            if not self._closed and not row.settled:
                listener.progress(call, message)

        def report(message: object) -> None:
            if not isinstance(message, str):
                return
            if _on(self._loop):
                tell(message)
            else:  # a tool in a thread, which may outlive the loop
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(tell, message)

        return report

    def _bound(self, row: CallRow, tool: CatalogTool, sent: ToolCall, result: ToolResult) -> bytes:
        try:
            mismatch = output_note(tool, result)
            answer = bound_result(tool, result, self._limits.tool_result_bytes)
            rounding = rounding_note(tool, result, answer)
            self.notes += [note for note in (mismatch, rounding) if note is not None]
        except CallRefused:
            self._show_to_host(sent, result, self._limits.tool_result_bytes)
            raise
        self._show_to_host(sent, result, len(answer))
        row.result_bytes = len(answer)
        self._bytes += len(answer)
        if self._bytes > self._limits.total_bridge_bytes:
            raise self._bridge_full(row.call, CallStatus.FAILED)
        return answer

    def _show_to_host(self, sent: ToolCall, result: ToolResult, size: int) -> None:
        if self._shared.on_trusted_result is not None:
            self._shared.on_trusted_result(sent, result, size)

    # --- endings ------------------------------------------------------------------------------------------------

    def _refuse(self, row: CallRow, refusal: CallRefused) -> None:
        if row.settled:
            return
        diagnostic = refusal.diagnostic
        if self._shared.on_failure is not None:
            diagnostic = self._shared.on_failure(self._execution_id, diagnostic, refusal.__cause__)
        self.failures[row.call.id] = diagnostic
        self._end(row, refusal.status, str(diagnostic.code))
        self._deliver(Answer(row.call.id, False, error_wire(diagnostic)))

    def _end(self, row: CallRow, status: CallStatus, code: str | None) -> None:
        row.settled, row.status, row.code = True, status, code
        row.ended = time.perf_counter()
        self._running.pop(row.call.id, None)
        self._turns.give_back(row)
        if self._listener is None:
            return
        if row.listed:
            self._listener.finished(row.call, row.receipt())
        else:
            self._listener.passed_over()


def _is_ready(tool: CatalogTool) -> bool:
    return tool.input.prepared and (tool.output is None or tool.output.prepared)


def _on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:  # this thread has none
        return False


def _nothing() -> None:
    """Nobody needs to know."""


def _silent(_message: str) -> None:
    """Nobody listens."""
