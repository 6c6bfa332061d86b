"""All calls of one run: counted, pinned to one catalogue, dispatched in turn, answered once, and kept for the receipt.

Answers leave through a callback as they come; the run loop above decides when the guest sees them. Knows nothing of
sandboxes or compilers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from codemodekit.bridge.admission import check_input, unavailable
from codemodekit.bridge.decisions import ALLOWED, denied
from codemodekit.bridge.failures import CallRefused, error_wire, refused, translate
from codemodekit.bridge.ledger import Ledger
from codemodekit.bridge.pinned import PinnedCatalog
from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.bridge.reporting import reporter, silent
from codemodekit.bridge.results import bound_result, output_note, rounding_note
from codemodekit.bridge.rows import CallRow, call_name
from codemodekit.bridge.shared import CallListener, Shared
from codemodekit.bridge.turns import Deadlines, Turns
from codemodekit.catalog.snapshot import Catalog, CatalogTool
from codemodekit.contracts import Answer, GuestCall, PolicyRequest, ToolCall, ToolResult, ToolSession
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.limits import ExecutionLimits

__all__ = ["BridgeRun"]


class BridgeRun:
    """All calls of one run. Methods are called from the event loop only, except `names`.

    A call that has ended is settled: nothing that its source does afterwards is counted, told or answered.
    """

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
        self._catalog = PinnedCatalog(shared.catalog)
        self._ledger = Ledger(limits)
        self._turns = Turns(limits.max_concurrent_tool_calls)
        self._deadlines = Deadlines(limits.tool_call_time_ms / 1000, self._time_out)
        self._running: dict[int, CallRow] = {}
        self._drained: asyncio.Future[None] | None = None
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self.failures: dict[int, Diagnostic] = {}
        """The diagnostic of each failed call, by the call's number."""
        self._notes: list[str] = []
        self.on_cut_off: Callable[[], None] = _nothing
        """Called when the call that `carry` carries got its answer at its limit, while its tool may still run."""

    # --- what the run loop uses ---------------------------------------------------------------------------------

    @property
    def pinned(self) -> Catalog:
        """The catalogue this run uses; sources that had not listed yet are pinned when they are first ready."""
        return self._catalog.pinned

    @property
    def has_called(self) -> bool:
        """Whether the program has called anything."""
        return self._ledger.attempts > 0

    @property
    def busy(self) -> bool:
        """Whether any call has no answer yet."""
        return bool(self._running)

    def names(self, source: str | None) -> Sequence[str]:
        """Names of the sources, or of a source's tools; safe on any thread.

        Raises:
            LookupError: the source has not listed its tools yet.
        """
        return self._catalog.names(source)

    def begin(self, call: GuestCall) -> None:
        """Take up a call in a task of its own; its answer is delivered once, now or later."""
        row = self._open(call)
        tool = self._admitted(row)
        if not row.settled:
            row.task = self._loop.create_task(self._carry(row, tool))

    async def carry(self, call: GuestCall) -> None:
        """The same in the caller's task, which must do nothing else meanwhile; returns once the answer is delivered.

        A tool that does not heed cancelling holds the caller, but not the answer, beyond the limit of the call.
        """
        row = self._open(call)
        tool = self._admitted(row)
        if not row.settled:
            row.task = task = asyncio.current_task()
            assert task is not None
            row.carried = True
            await self._carry(row, tool)
            if task.cancelling():
                await self._shake_off_cancelling(task)

    async def drain(self) -> None:
        """Wait until every call has ended; the caller bounds it."""
        while self._running:
            self._drained = self._loop.create_future()
            await self._drained

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
        return self._ledger.receipts()

    def notes(self) -> tuple[str, ...]:
        """What the model should know besides values and errors."""
        return (*self._notes, *self._ledger.notes())

    # --- admission: no call that ends here reaches a source -----------------------------------------------------

    def _open(self, call: GuestCall) -> CallRow:
        row = self._ledger.open(call)
        self._running[call.id] = row
        return row

    def _admitted(self, row: CallRow) -> CatalogTool | None:
        """The tool, or None: admission has to wait for something, or the row has been refused."""
        try:
            self._ledger.admit(row.call)
            tool = self._catalog.find(row.call)
            return None if tool is None else _admit(row, tool)
        except CallRefused as refusal:
            self._refuse(row, refusal)
            return None

    # --- the way of an admitted call ----------------------------------------------------------------------------

    async def _carry(self, row: CallRow, tool: CatalogTool | None) -> None:
        try:
            await self._to_its_end(row, tool)
        except CallRefused as refusal:
            self._refuse(row, refusal)
        except asyncio.CancelledError:
            if self._closed:
                raise
            if row.settled:  # it was cancelled here, at the limit of the call
                row.task.uncancel()  # type: ignore[union-attr] # a row that runs has its task
            else:  # the tool did that to itself
                self._refuse(row, translate(RuntimeError("cancelled itself"), row.call.source, row.call.tool))
        except (KeyboardInterrupt, GeneratorExit) as error:
            if isinstance(error, KeyboardInterrupt) or asyncio.current_task() is not row.task:
                raise  # whoever runs us wants to end, or the coroutine is thrown away
            self._broke(row, error)
        except BaseException as error:  # also what is no Exception: an unanswered call would hold the run
            self._broke(row, error)

    async def _to_its_end(self, row: CallRow, tool: CatalogTool | None) -> None:
        if tool is None:
            tool = _admit(row, await self._catalog.find_late(row.call))
        if self._listener is not None:
            self._listener.queued(row.call)
        if not self._turns.take(row):
            await self._turns.wait(row)
        if self._listener is not None or not self._shared.decisions.lets_all_through:
            await self._decide(row.call, tool)
        answer = await self._dispatch(row, tool)
        if answer is not None:
            self._end(row, CallStatus.COMPLETED, None)
            self._deliver(Answer(row.call.id, True, answer))

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

    async def _dispatch(self, row: CallRow, tool: CatalogTool) -> bytes | None:
        """What the program gets; None when the call has ended without it."""
        call = row.call
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
        if row.settled:  # too late, and nobody's any more; but it has taken effect
            self._show_to_host(sent, result, self._limits.tool_result_bytes)
            return None
        return self._bound(row, tool, sent, result)

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

    def _progress(self, row: CallRow) -> Callable[[str], None]:
        listener, call = self._listener, row.call
        if listener is None:
            return silent

        def tell(message: str) -> None:
            if not self._closed and not row.settled:
                listener.progress(call, message)

        return reporter(self._loop, tell)

    def _bound(self, row: CallRow, tool: CatalogTool, sent: ToolCall, result: ToolResult) -> bytes:
        try:
            mismatch = output_note(tool, result)
            answer = bound_result(tool, result, self._limits.tool_result_bytes)
            rounding = rounding_note(tool, result, answer)
            self._notes += [note for note in (mismatch, rounding) if note is not None]
        except CallRefused:
            self._show_to_host(sent, result, self._limits.tool_result_bytes)
            raise
        self._show_to_host(sent, result, len(answer))
        self._ledger.add_result(row, len(answer))
        return answer

    def _show_to_host(self, sent: ToolCall, result: ToolResult, size: int) -> None:
        if self._shared.on_trusted_result is not None:
            self._shared.on_trusted_result(sent, result, size)

    # --- endings ------------------------------------------------------------------------------------------------

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

    def _broke(self, row: CallRow, error: BaseException) -> None:
        failure = translate(error, row.call.source, row.call.tool)
        failure.__cause__ = error
        self._refuse(row, failure)

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
        if self._drained is not None and not self._running and not self._drained.done():
            self._drained.set_result(None)
        if self._listener is None:
            return
        if row.listed:
            self._listener.finished(row.call, row.receipt())
        else:
            self._listener.passed_over()

    async def _shake_off_cancelling(self, task: asyncio.Task[Any]) -> None:
        """A tool may swallow a cancelling, or leave one of its own behind: the caller's next wait would end by it."""
        while task.cancelling() and not self._closed:
            task.uncancel()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if self._closed:
                    raise


def _admit(row: CallRow, tool: CatalogTool) -> CatalogTool:
    annotations = tool.definition.annotations
    row.read_only, row.may_write = annotations.read_only, annotations.may_write
    check_input(row.call, tool)
    return tool


def _nothing() -> None:
    """Nobody needs to know."""
