"""From a call a program made to the answer it gets, under every limit and the policy.

`ToolBridge` belongs to a CodeMode and lives as long; `BridgeRun` belongs to one run: it pins the catalogue, counts, and
keeps the receipt. Answers leave through a callback as they come; the run loop above decides when the guest sees them.
Knows nothing of sandboxes or compilers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

from codemodekit._json import ABSENT, MAX_DEPTH, encode
from codemodekit.bridge.cleaning import clean
from codemodekit.bridge.failures import CallRefused, error_wire, refused, translate
from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.catalog.manager import CatalogManager
from codemodekit.catalog.snapshot import Catalog, CatalogTool, SourceCatalog
from codemodekit.contracts import (
    Allow,
    Answer,
    Ask,
    Decision,
    Deny,
    GuestCall,
    PolicyRequest,
    ToolCall,
    ToolPolicy,
    ToolResult,
    ToolSession,
)
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import ImmediatePolicy

__all__ = ["Approver", "BridgeRun", "CallListener", "FailureRecorder", "ToolBridge", "TrustedResultHandler"]

Approver: TypeAlias = Callable[[PolicyRequest, str | None], Awaitable[Decision]]
"""Answers an Ask with Allow or Deny; anything else denies. Bounded by the wall limit of the run only."""

TrustedResultHandler: TypeAlias = Callable[[ToolCall, ToolResult], None]
"""Trusted host code that sees whole results, sideband included."""

FailureRecorder: TypeAlias = Callable[[str, Diagnostic, BaseException | None], Diagnostic]
"""Keeps the host's record of a failure (run, diagnostic, cause); gives the diagnostic back with its correlation id."""

POLICY_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 10.0
_MOST_REFUSED_ROWS: Final = 100
"""Rows of calls beyond the limit that are still listed one by one."""


class CallListener(Protocol):
    """Hears of the stations of a call; must return at once and never raise."""

    def queued(self, call_id: str, source: str, tool: str) -> None: ...
    def started(self, call_id: str, source: str, tool: str) -> None: ...
    def progress(self, call_id: str, source: str, tool: str, message: str) -> None: ...
    def finished(self, receipt: CallReceipt) -> None: ...


class ToolBridge:
    """The border all runs of one CodeMode share."""

    def __init__(
        self,
        *,
        catalog: CatalogManager,
        policy: ToolPolicy,
        approver: Approver | None = None,
        on_trusted_result: TrustedResultHandler | None = None,
        on_failure: FailureRecorder | None = None,
    ) -> None:
        self.catalog = catalog
        self._policy = policy
        self._immediate = policy if isinstance(policy, ImmediatePolicy) else None
        self.lets_all_through = self._immediate is not None and self._immediate.always == Allow()
        self._approver = approver
        self.on_trusted_result = on_trusted_result
        self.on_failure = on_failure

    def open(
        self,
        execution_id: str,
        limits: ExecutionLimits,
        deliver: Callable[[Answer], None],
        *,
        principal: Any = None,
        listener: CallListener | None = None,
    ) -> BridgeRun:
        """The bridge of one run, pinned to the catalogue of this moment. `deliver` gets each call's answer once."""
        return BridgeRun(self, execution_id, limits, deliver, principal, listener)

    async def decide(self, request: PolicyRequest) -> None:
        """Return if the call is let through.

        Raises:
            CallRefused: it is not; nothing reached the source.
        """
        immediate = self._immediate
        decision: Any = immediate.decide(request) if immediate is not None else await self._ask_policy(request)
        if isinstance(decision, Ask):
            decision = await self._ask_approver(request, decision)
        if not isinstance(decision, Allow):
            reason = decision.reason if isinstance(decision, Deny) else None
            raise _denied(request, reason or "the policy did not allow it")

    async def _ask_policy(self, request: PolicyRequest) -> Any:
        try:
            async with asyncio.timeout(POLICY_SECONDS):
                return await self._policy(request)
        except TimeoutError as error:
            raise _denied(request, "the policy gave no answer in time") from error
        except Exception as error:
            raise _denied(request, "the policy failed, and what it does not allow is denied") from error

    async def _ask_approver(self, request: PolicyRequest, ask: Ask) -> Any:
        if self._approver is None:
            raise _denied(request, ask.reason or "it needs an approval, and this host has nobody to give it")
        try:
            return await self._approver(request, ask.reason)
        except Exception as error:
            raise _denied(request, "the approver failed, and what it does not allow is denied") from error


def _denied(request: PolicyRequest, reason: str) -> CallRefused:
    message = f"{request.source}.{request.tool} was not allowed: {clean(reason, 500)}"
    code = DiagnosticCode.TOOL_APPROVAL_DENIED
    return refused(code, message, request.source, request.tool, status=CallStatus.DENIED)


class _Row:
    """A call in flight; becomes a receipt."""

    __slots__ = (
        "call", "code", "dispatched", "ended", "holds_slot", "may_write", "read_only", "result_bytes", "settled",
        "started", "status", "task",
    )  # fmt: skip

    def __init__(self, call: GuestCall) -> None:
        self.call = call
        self.status = CallStatus.REJECTED
        self.read_only: bool | None = None
        self.may_write = True
        self.dispatched = False
        self.started = self.ended = 0.0
        self.result_bytes: int | None = None
        self.code: str | None = None
        self.settled = False
        self.holds_slot = False
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


def call_name(number: int) -> str:
    """The id of a run's call: `call_1` is the first it made."""
    return f"call_{number}"


class BridgeRun:
    """All calls of one run. Methods are called from the event loop only, except `names`."""

    def __init__(
        self,
        bridge: ToolBridge,
        execution_id: str,
        limits: ExecutionLimits,
        deliver: Callable[[Answer], None],
        principal: Any,
        listener: CallListener | None,
    ) -> None:
        self._bridge = bridge
        self._execution_id = execution_id
        self._limits = limits
        self._deliver = deliver
        self._principal = principal
        self._listener = listener
        self._pinned: Catalog = bridge.catalog.snapshot()
        self._late: dict[str, SourceCatalog] = {}
        self._rows: list[_Row] = []
        self._attempts = 0
        self._over_limit = 0
        self._bytes = 0
        self._active = 0
        self._queue: deque[tuple[asyncio.Future[None], _Row]] = deque()
        self._running: dict[int, _Row] = {}
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._deadlines: deque[tuple[float, _Row]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.failures: dict[int, Diagnostic] = {}
        """The diagnostic of each failed call, by the call's number."""
        self.notes: list[str] = []
        """What the model should know besides values and errors."""

    # --- what the run loop uses ---------------------------------------------------------------------------------

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
            return self._bridge.catalog.names
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
            row.task = asyncio.current_task()
            await self._carry(row, tool)

    def _row(self, call: GuestCall) -> _Row:
        row = _Row(call)
        self._attempts += 1
        if len(self._rows) < self._limits.max_tool_calls + _MOST_REFUSED_ROWS:
            self._rows.append(row)
        else:
            self._over_limit += 1
        self._running[call.id] = row
        return row

    def _admitted(self, row: _Row) -> CatalogTool | None:
        """The tool, or None: its source has not listed yet, or the row has been refused."""
        try:
            self._count(row.call)
            source = self._pin(row.call.source)
            return None if source is None else self._admit(row, source)
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
        """Nothing more is dispatched or reported."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

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

    def _admit(self, row: _Row, source: SourceCatalog) -> CatalogTool:
        call = row.call
        tool = source.tools.get(call.tool)
        if tool is None:
            raise self._no_tool(call, source)
        annotations = tool.definition.annotations
        row.read_only, row.may_write = annotations.read_only, annotations.may_write
        if call.problem is not None:
            raise refused(DiagnosticCode.TOOL_INPUT_INVALID, f"{tool.callable}: {call.problem}", call.source, call.tool)
        if not tool.input.is_valid(call.input):
            raise _bad_input(tool, call)
        return tool

    def _no_tool(self, call: GuestCall, source: SourceCatalog) -> CallRefused:
        reason = source.quarantined.get(call.tool)
        if reason is not None:
            message = f"{call.source}.{call.tool} cannot be called, its schema cannot be enforced: {clean(reason, 500)}"
            return refused(DiagnosticCode.TOOL_SCHEMA_UNSUPPORTED, message, call.source, call.tool)
        near = self._pinned.near_tools(call.source, call.tool)
        message = f"source {call.source!r} has no tool {clean(call.tool, 200)!r}{_near(near)}"
        return refused(DiagnosticCode.TOOL_NOT_FOUND, message, call.source, call.tool, details=_near_details(near))

    async def _await_source(self, row: _Row) -> CatalogTool:
        """Admission of a call to a source that has not listed yet: pinned when it is first ready."""
        call, catalog = row.call, self._bridge.catalog
        if not catalog.known(call.source):
            near = self._pinned.near_sources(call.source)
            message = f"there is no source {clean(call.source, 200)!r}{_near(near)}"
            raise refused(DiagnosticCode.SOURCE_NOT_FOUND, message, call.source, call.tool, details=_near_details(near))
        found = await catalog.ready(call.source, CONNECT_SECONDS)
        if found is None:
            raise self._unavailable(call)
        self._late.setdefault(call.source, found)
        return self._admit(row, self._late[call.source])

    def _unavailable(self, call: GuestCall) -> CallRefused:
        health = next((each for each in self._bridge.catalog.health() if each.source == call.source), None)
        state = health.state if health is not None else "unavailable"
        why = f" ({clean(health.last_error, 300)})" if health is not None and health.last_error else ""
        message = f"source {call.source!r} is {state}{why}"
        return refused(DiagnosticCode.SOURCE_UNAVAILABLE, message, call.source, call.tool)

    # --- the way of an admitted call ----------------------------------------------------------------------------

    async def _carry(self, row: _Row, tool: CatalogTool | None) -> None:
        try:
            if tool is None:
                tool = await self._await_source(row)
            if self._listener is not None:
                self._listener.queued(call_name(row.call.id), row.call.source, row.call.tool)
            await self._enter_queue(row)
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
        except Exception as error:
            failure = translate(error, row.call.source, row.call.tool)
            failure.__cause__ = error
            self._refuse(row, failure)

    async def _enter_queue(self, row: _Row) -> None:
        if self._active >= self._limits.max_concurrent_tool_calls:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.append((turn, row))
            await turn
        else:
            self._active += 1
            row.holds_slot = True

    def _leave_queue(self, row: _Row) -> None:
        if not row.holds_slot:
            return
        row.holds_slot = False
        self._active -= 1
        while self._queue and self._active < self._limits.max_concurrent_tool_calls:
            turn, waiting = self._queue.popleft()
            if not turn.done() and not waiting.settled:
                self._active += 1
                waiting.holds_slot = True
                turn.set_result(None)

    async def _dispatch(self, row: _Row, tool: CatalogTool) -> bytes:
        call = row.call
        if not self._bridge.lets_all_through:
            await self._bridge.decide(self._request(call, tool))
        session = self._bridge.catalog.session(call.source)
        if session is None:
            raise self._unavailable(call)
        sent = ToolCall(
            execution_id=self._execution_id,
            call_id=call_name(call.id),
            source=call.source,
            tool=call.tool,
            input=call.input,
            report_progress=self._progress(call),
        )
        result = await self._timed(row, session, sent)
        return self._bound(row, tool, sent, result)

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

    async def _timed(self, row: _Row, session: ToolSession, sent: ToolCall) -> ToolResult:
        if self._listener is not None:
            self._listener.started(sent.call_id, sent.source, sent.tool)
        row.dispatched, row.started = True, time.perf_counter()
        self._set_deadline(row)
        try:
            return await session.call(sent)
        except Exception as error:
            raise translate(error, sent.source, sent.tool) from error

    def _set_deadline(self, row: _Row) -> None:
        # All calls of a run have the same limit, so they fall due in the order of dispatch and one timer serves them.
        due = self._loop.time() + self._limits.tool_call_time_ms / 1000
        self._deadlines.append((due, row))
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._look_at_deadlines)

    def _look_at_deadlines(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._deadlines:
            due, row = self._deadlines[0]
            if not row.settled and due > now:
                self._timer = self._loop.call_at(due, self._look_at_deadlines)
                return
            self._deadlines.popleft()
            if not row.settled:
                self._time_out(row)

    def _time_out(self, row: _Row) -> None:
        # The program gets its answer now, even if the tool does not heed the cancelling.
        limit = self._limits.tool_call_time_ms
        message = (
            f"{row.call.source}.{row.call.tool} gave no answer within {limit} ms; whether it took effect is not known"
        )
        code, status = DiagnosticCode.TOOL_CALL_TIMEOUT, CallStatus.TIMED_OUT
        self._refuse(row, refused(code, message, row.call.source, row.call.tool, status=status))
        if row.task is not None:
            row.task.cancel()

    def _progress(self, call: GuestCall) -> Callable[[str], None]:
        listener = self._listener
        if listener is None:
            return _silent

        def report(message: str) -> None:
            if not self._closed:
                listener.progress(call_name(call.id), call.source, call.tool, clean(str(message), 1024))

        return report

    # --- results ------------------------------------------------------------------------------------------------

    def _bound(self, row: _Row, tool: CatalogTool, sent: ToolCall, result: ToolResult) -> bytes:
        call = row.call
        if self._bridge.on_trusted_result is not None:
            self._bridge.on_trusted_result(sent, result)
        structured = result.structured_content
        if tool.output is not None:
            self._check_output(tool, call, structured, bool(result.content))
        if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in result.content):
            raise _bad_output(call, "a content block has no type")
        try:
            answer = encode(result.to_wire())
        except (TypeError, ValueError, RecursionError) as error:
            raise _bad_output(call, f"it is not JSON ({error})") from error
        if len(answer) > 2 * MAX_DEPTH and _deeper_than(structured, MAX_DEPTH):
            raise _bad_output(call, f"it is nested deeper than {MAX_DEPTH} levels")
        row.result_bytes = len(answer)
        if len(answer) > self._limits.tool_result_bytes:
            most = self._limits.tool_result_bytes
            name = f"{call.source}.{call.tool}"
            message = f"the result of {name} is {len(answer)} bytes and may be {most}; ask the tool for less"
            code = DiagnosticCode.TOOL_OUTPUT_LIMIT_EXCEEDED
            raise refused(code, message, call.source, call.tool, status=CallStatus.FAILED)
        self._bytes += len(answer)
        if self._bytes > self._limits.total_bridge_bytes:
            raise self._bridge_full(call, CallStatus.FAILED)
        return answer

    def _check_output(self, tool: CatalogTool, call: GuestCall, structured: Any, has_content: bool) -> None:
        assert tool.output is not None
        if structured is not ABSENT and tool.output.is_valid(structured):
            return
        if structured is ABSENT:
            what, details = "it has no structuredContent, which its output schema asks for", None
        else:
            errors = tool.output.errors(structured)
            what, details = _listed(errors), [error.to_wire() for error in errors]
        if tool.definition.output_mismatch == "warn":
            self.notes.append(f"the result of {call.source}.{call.tool} does not match its output schema: {what}")
            return
        raise _bad_output(call, what, details)

    # --- endings ------------------------------------------------------------------------------------------------

    def _refuse(self, row: _Row, refusal: CallRefused) -> None:
        if row.settled:
            return
        diagnostic = refusal.diagnostic
        if self._bridge.on_failure is not None:
            diagnostic = self._bridge.on_failure(self._execution_id, diagnostic, refusal.__cause__)
        self.failures[row.call.id] = diagnostic
        self._end(row, refusal.status, str(diagnostic.code))
        self._deliver(Answer(row.call.id, False, error_wire(diagnostic)))

    def _end(self, row: _Row, status: CallStatus, code: str | None) -> None:
        row.settled, row.status, row.code = True, status, code
        row.ended = time.perf_counter()
        self._running.pop(row.call.id, None)
        self._leave_queue(row)
        if self._listener is not None:
            self._listener.finished(row.receipt())


def _silent(_message: str) -> None:
    """Nobody listens."""


def _near(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, names))}?" if names else ""


def _near_details(names: Sequence[str]) -> Any:
    return {"near": list(names)} if names else None


def _listed(errors: Sequence[Any]) -> str:
    parts = []
    for error in errors:
        hint = f", did you mean {error.did_you_mean!r}?" if error.did_you_mean else ""
        parts.append(f"{error.pointer or '/'}: expected {error.expected}, given {error.given}{hint}")
    return "; ".join(parts)


def _bad_input(tool: CatalogTool, call: GuestCall) -> CallRefused:
    errors = tool.input.errors(call.input)
    message = f"the input of {tool.callable} is not valid: {_listed(errors)}"
    details = {"errors": [error.to_wire() for error in errors]}
    return refused(DiagnosticCode.TOOL_INPUT_INVALID, message, call.source, call.tool, details=details)


def _bad_output(call: GuestCall, what: str, details: Any = None) -> CallRefused:
    message = f"the result of {call.source}.{call.tool} cannot be used: {clean(what, 1000)}"
    given = {"errors": details} if details else None
    return refused(
        DiagnosticCode.TOOL_OUTPUT_INVALID, message, call.source, call.tool, status=CallStatus.FAILED, details=given
    )


def _deeper_than(value: Any, most: int) -> bool:
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(most):
        if not level:
            return False
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | dict)
        ]
    return bool(level)
