"""The stations of one run as OpenTelemetry spans: one for the run, one below it for each call.

Nothing is recorded, and OpenTelemetry is not even imported, unless the host has set up a tracer provider. Calls are
named and described by the semantic conventions for executing tools (GenAI), whose attributes for arguments and results
are left out. No convention describes running a program, so that span and the rest have names of our own.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from codemodekit.bridge.receipts import CallReceipt, CallStatus
from codemodekit.bridge.rows import call_name
from codemodekit.code_mode.watching import Ended, Watcher
from codemodekit.contracts import GuestCall
from codemodekit.diagnostics import DiagnosticCode

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

__all__ = ["SpanWatcher", "span_watcher"]

_log = logging.getLogger("codemodekit")

RUN_SPAN: Final = "codemodekit.run"
TOOL_OPERATION: Final = "execute_tool"

_REFUSED_FOR_ITSELF: Final = frozenset({DiagnosticCode.TOOL_INPUT_INVALID, DiagnosticCode.TOOL_SCHEMA_UNSUPPORTED})
"""Refusals of calls whose tool exists. In others that come before the queue, the names are the program's own text."""


def span_watcher(execution_id: str, program_bytes: int) -> SpanWatcher | None:
    """A watcher, if the host has somebody to record spans. A provider of its own that fails records nothing."""
    api: Any = sys.modules.get("opentelemetry.trace")  # a host that traces has imported it
    if api is None:
        return None
    try:
        provider = api.get_tracer_provider()
        if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
            return None
        return SpanWatcher(provider.get_tracer("codemodekit"), execution_id, program_bytes)
    except Exception as error:
        _log.debug("no spans are recorded: %s", type(error).__name__)
        return None


class SpanWatcher(Watcher):
    """Records one run. `began` and `ended` are called in one task, in which the run's span is current meanwhile."""

    def __init__(self, tracer: Tracer, execution_id: str, program_bytes: int) -> None:
        from opentelemetry import context, trace  # the host has imported them: see `span_watcher`

        self._context, self._trace = context, trace
        self._tracer = tracer
        self._execution_id = execution_id
        self._program_bytes = program_bytes
        self._run: Span | None = None
        self._token: Any = None
        self._above: Context | None = None
        self._calls: dict[int, Span] = {}

    def began(self) -> None:
        attributes: dict[str, str | int] = {
            "codemodekit.execution.id": self._execution_id,
            "codemodekit.program.bytes": self._program_bytes,
        }
        self._run = self._tracer.start_span(RUN_SPAN, attributes=attributes)
        self._above = self._trace.set_span_in_context(self._run)
        self._token = self._context.attach(self._above)

    def queued(self, call: GuestCall) -> None:
        self._calls[call.id] = self._start(call, named=True)

    def started(self, call: GuestCall) -> None:
        span = self._calls.get(call.id)
        if span is not None:
            span.add_event("codemodekit.call.dispatched")

    def carrying(self, call: GuestCall) -> AbstractContextManager[object] | None:
        span = self._calls.get(call.id)
        return None if span is None else self._current(span)

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        span = self._calls.pop(call.id, None)
        if span is None:
            span = self._start(call, named=receipt.code in _REFUSED_FOR_ITSELF)
        span.set_attribute("codemodekit.call.status", str(receipt.status))
        if receipt.read_only is not None:
            span.set_attribute("codemodekit.tool.read_only", receipt.read_only)
        if receipt.result_bytes is not None:
            span.set_attribute("codemodekit.call.result_bytes", receipt.result_bytes)
        if receipt.status is not CallStatus.COMPLETED:
            self._fail(span, receipt.code or str(receipt.status))
        span.end()

    def ended(self, end: Ended) -> None:
        if self._token is not None:
            self._context.detach(self._token)
        for span in self._calls.values():
            span.end()
        run = self._run
        if run is None:
            return
        run.set_attribute("codemodekit.run.status", end.status)
        run.set_attribute("codemodekit.run.calls", end.calls)
        if end.rerun is not None:
            run.set_attribute("codemodekit.run.rerun", str(end.rerun))
        if end.result_bytes is not None:
            run.set_attribute("codemodekit.run.result_bytes", end.result_bytes)
        if end.status != "ok":
            self._fail(run, end.code or end.status)
        run.end()

    def _start(self, call: GuestCall, *, named: bool) -> Span:
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": TOOL_OPERATION,
            "gen_ai.tool.call.id": call_name(call.id),
            "codemodekit.execution.id": self._execution_id,
            "codemodekit.call.input_bytes": call.input_bytes,
        }
        if not named:
            return self._tracer.start_span(TOOL_OPERATION, context=self._above, attributes=attributes)
        tool = _whole(call.tool)
        attributes |= {"gen_ai.tool.name": tool, "codemodekit.source": _whole(call.source)}
        return self._tracer.start_span(f"{TOOL_OPERATION} {tool}", context=self._above, attributes=attributes)

    def _fail(self, span: Span, error: str) -> None:
        span.set_attribute("error.type", error)
        span.set_status(self._trace.StatusCode.ERROR)  # without a description, which would be a message

    @contextmanager
    def _current(self, span: Span) -> Iterator[None]:
        token = self._context.attach(self._trace.set_span_in_context(span))
        try:
            yield
        finally:
            self._context.detach(token)


def _whole(name: str) -> str:
    """A name without half surrogate pairs, at which exporters fail with all the spans they carry."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode()
