"""How a guest ended, said in the stable codes and in the program's own coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from codemodekit.code_mode import parse_errors
from codemodekit.code_mode.absent_names import advice_about
from codemodekit.contracts import GuestError, GuestErrorKind, GuestFrame, Program
from codemodekit.diagnostics import Diagnostic, DiagnosticCode, Location, StackFrame, code_frame
from codemodekit.limits import ExecutionLimits

__all__ = ["describe", "unhandled_note"]

_CODES: Final[Mapping[GuestErrorKind, DiagnosticCode]] = {
    "exception": DiagnosticCode.SANDBOX_EXCEPTION,
    "syntax": DiagnosticCode.COMPILE_ERROR,
    "tool": DiagnosticCode.TOOL_EXECUTION_FAILED,
    "compute": DiagnosticCode.COMPUTE_LIMIT_EXCEEDED,
    "memory": DiagnosticCode.MEMORY_LIMIT_EXCEEDED,
    "stack": DiagnosticCode.STACK_LIMIT_EXCEEDED,
    "not_serializable": DiagnosticCode.OUTPUT_NOT_SERIALIZABLE,
    "output_limit": DiagnosticCode.OUTPUT_LIMIT_EXCEEDED,
    "bridge_limit": DiagnosticCode.BRIDGE_LIMIT_EXCEEDED,
    "internal": DiagnosticCode.INTERNAL_ERROR,
}


_ABOUT_THE_VALUE: Final = frozenset({DiagnosticCode.OUTPUT_NOT_SERIALIZABLE, DiagnosticCode.OUTPUT_LIMIT_EXCEEDED})


def describe(
    error: GuestError, program: Program, limits: ExecutionLimits, failures: Mapping[int, Diagnostic]
) -> Diagnostic:
    """The diagnostic of a guest's ending. `failures`: the run's failed calls by number, whose codes the host says."""
    failed = failures.get(error.call_id) if error.call_id is not None else None
    diagnostic = failed or Diagnostic(code=_CODES[error.kind], message=_message(error, limits))
    if error.kind == "syntax":
        return _unparsable(replace(diagnostic, compiler_code="syntax"), error.frames, program)
    if error.path is not None:
        diagnostic = replace(diagnostic, details={"path": error.path})
    return _located(diagnostic, error.frames, program)


def unhandled_note(error: GuestError, program: Program, failures: Mapping[int, Diagnostic]) -> str:
    """A sentence about a rejection nobody handled."""
    if not error.name:
        return f"{error.message}; await them, or catch them"
    failed = failures.get(error.call_id) if error.call_id is not None else None
    what = f"{failed.code}: {failed.message}" if failed else _thrown(error)
    place = _place(error.frames, program)
    where = f" (line {place.line})" if place else ""
    return f"a rejected promise was not handled{where}: {what}; await it, or catch it"


def _message(error: GuestError, limits: ExecutionLimits) -> str:
    match error.kind:
        case "compute":
            return f"the program computed for longer than {limits.compute_time_ms} ms; waiting for tools does not count"
        case "memory":
            return f"the program needs more than {limits.memory_bytes} bytes of memory; keep less data at a time"
        case "stack":
            return "the program called functions inside functions too deeply; use a loop instead of recursion"
        case "not_serializable":
            return f"the returned value cannot be given back: at {error.path}: {error.message}"
        case "output_limit":
            most = limits.final_result_bytes
            return f"the returned value is larger than {most} bytes; return less, such as a count or the first rows"
        case "bridge_limit":
            return f"the program sent more than {limits.total_bridge_bytes} bytes to tools in one go"
        case "internal":
            return "the sandbox failed; this is not the program's fault"
        case "syntax":
            return error.message
        case _:
            return _thrown(error)


def _thrown(error: GuestError) -> str:
    if error.name == "Thrown":
        return f"the program threw {error.message}"
    parts = [part for part in (error.name, error.message) if part]
    said = ": ".join(parts) or "the program threw an error without a name or a message"
    if error.name == "ReferenceError" and (advice := advice_about(error.message)) is not None:
        said += f"; {advice}"
    return said + (f" (behind it: {'; '.join(error.behind)})" if error.behind else "")


def _located(diagnostic: Diagnostic, frames: tuple[GuestFrame, ...], program: Program) -> Diagnostic:
    stack = tuple(
        StackFrame(place.line, place.column, frame.function)
        for frame in frames
        if (place := program.locate(frame.line, frame.column)) is not None
    )
    place = _place(frames, program)
    if place is None and diagnostic.code in _ABOUT_THE_VALUE:
        place = program.returned_at
    if place is None:
        return diagnostic
    return replace(diagnostic, location=place, frame=code_frame(program.source, place), stack=stack)


def _unparsable(diagnostic: Diagnostic, frames: tuple[GuestFrame, ...], program: Program) -> Diagnostic:
    if not frames:
        return diagnostic
    message, place = parse_errors.explain(diagnostic.message, frames[0], program)
    excerpt = code_frame(program.source, place) if place is not None else None
    return replace(diagnostic, message=message, location=place, frame=excerpt)


def _place(frames: tuple[GuestFrame, ...], program: Program) -> Location | None:
    """The innermost place that is in the program."""
    return next((found for frame in frames if (found := program.locate(frame.line, frame.column))), None)
