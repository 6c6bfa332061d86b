"""Failures of calls: the exception that carries one in the bridge, and the border where foreign ones are told apart.

Knows the diagnostics and the errors of the contracts; `bridge` raises and catches what is made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codemodekit._json import encode
from codemodekit.bridge.cleaning import clean_details
from codemodekit.bridge.receipts import CallStatus
from codemodekit.catalog.schemas import FieldError
from codemodekit.cleaning import clean
from codemodekit.diagnostics import Diagnostic, DiagnosticCode, ToolReference, phase_of
from codemodekit.errors import SourceLost, ToolCallFailed, ToolError, ToolResultInvalid, ToolResultTooLarge

__all__ = ["CallRefused", "error_wire", "listed", "refused", "translate"]


class CallRefused(Exception):
    """A call ends here with this diagnostic; only ever raised and caught inside the bridge."""

    def __init__(self, diagnostic: Diagnostic, status: CallStatus) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
        self.status = status


def refused(
    code: DiagnosticCode,
    message: str,
    source: str,
    tool: str,
    *,
    status: CallStatus = CallStatus.REJECTED,
    details: Any = None,
) -> CallRefused:
    """A refusal of the bridge's own."""
    diagnostic = Diagnostic(code=code, message=message, tool=ToolReference(source, tool), details=details)
    return CallRefused(diagnostic, status)


def translate(error: BaseException, source: str, tool: str) -> CallRefused:
    """Whatever a source raised during a call, as the failure of that call."""
    reference, code, details, status = (
        ToolReference(source, tool),
        DiagnosticCode.TOOL_EXECUTION_FAILED,
        None,
        CallStatus.FAILED,
    )
    if isinstance(error, ToolError):
        message = clean(str(error)) or "the tool failed without saying why"
    elif isinstance(error, ToolCallFailed):
        message = clean(error.message) or "the source reported a failure without saying why"
        if isinstance(error, ToolResultTooLarge):
            code = DiagnosticCode.TOOL_OUTPUT_LIMIT_EXCEEDED
        elif isinstance(error, ToolResultInvalid):
            code = DiagnosticCode.TOOL_OUTPUT_INVALID
        upstream = clean(error.upstream_code, 256) if isinstance(error.upstream_code, str) else error.upstream_code
        reference, details = ToolReference(source, tool, upstream), clean_details(error.details)
    elif isinstance(error, SourceLost):
        code, status = DiagnosticCode.SOURCE_UNAVAILABLE, CallStatus.UNKNOWN
        lost = f"the connection to source {source!r} was lost during the call; whether it took effect is not known"
        message = f"{lost}: {clean(str(error))}"
    else:
        message = f"{source}.{tool} failed with an internal error of its own"
    return CallRefused(Diagnostic(code=code, message=message, tool=reference, details=details), status)


def error_wire(diagnostic: Diagnostic) -> bytes:
    """The fields of the `ToolCallError` a program catches."""
    tool = diagnostic.tool
    fields: dict[str, Any] = {
        "message": diagnostic.message,
        "code": str(diagnostic.code),
        "phase": str(diagnostic.phase or phase_of(diagnostic.code)),
        "source": tool.source if tool else None,
        "tool": tool.name if tool else None,
    }
    if tool is not None and tool.upstream_code is not None:
        fields["upstreamCode"] = tool.upstream_code
    if diagnostic.details is not None:
        fields["details"] = diagnostic.details
    return encode(fields)


def listed(errors: Sequence[FieldError]) -> str:
    """Fields that do not match a schema, in one line."""
    parts = []
    for error in errors:
        hint = f", did you mean {error.did_you_mean!r}?" if error.did_you_mean else ""
        parts.append(f"{error.pointer or '/'}: expected {error.expected}, given {error.given}{hint}")
    return "; ".join(parts)
