"""What went wrong in a program, a tool or a source, as a value the model can act on.

Codes are stable: a code never changes its meaning within a major version, a minor one may add codes. Knows nothing of
how a failure came about; the rooms above build diagnostics, `code_mode` puts them into results.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = [
    "Diagnostic",
    "DiagnosticCode",
    "Location",
    "Phase",
    "StackFrame",
    "ToolReference",
    "code_frame",
    "phase_of",
    "utf16_length",
]


class Phase(enum.StrEnum):
    """Where a run ended."""

    COMPILE = "compile"
    SANDBOX = "sandbox"
    TOOL = "tool"


class DiagnosticCode(enum.StrEnum):
    """The stable codes."""

    COMPILE_ERROR = "COMPILE_ERROR"
    UNSAFE_SYNTAX = "UNSAFE_SYNTAX"
    TYPE_ERROR = "TYPE_ERROR"
    SOURCE_LIMIT_EXCEEDED = "SOURCE_LIMIT_EXCEEDED"

    SANDBOX_EXCEPTION = "SANDBOX_EXCEPTION"
    EXECUTION_TIMEOUT = "EXECUTION_TIMEOUT"
    EXECUTION_CANCELLED = "EXECUTION_CANCELLED"
    COMPUTE_LIMIT_EXCEEDED = "COMPUTE_LIMIT_EXCEEDED"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"
    STACK_LIMIT_EXCEEDED = "STACK_LIMIT_EXCEEDED"
    NEVER_SETTLED = "NEVER_SETTLED"
    OUTPUT_NOT_SERIALIZABLE = "OUTPUT_NOT_SERIALIZABLE"
    OUTPUT_LIMIT_EXCEEDED = "OUTPUT_LIMIT_EXCEEDED"

    SOURCE_NOT_FOUND = "SOURCE_NOT_FOUND"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_SCHEMA_UNSUPPORTED = "TOOL_SCHEMA_UNSUPPORTED"
    TOOL_INPUT_INVALID = "TOOL_INPUT_INVALID"
    TOOL_OUTPUT_INVALID = "TOOL_OUTPUT_INVALID"
    TOOL_CALL_TIMEOUT = "TOOL_CALL_TIMEOUT"
    TOOL_CALL_LIMIT_EXCEEDED = "TOOL_CALL_LIMIT_EXCEEDED"
    TOOL_OUTPUT_LIMIT_EXCEEDED = "TOOL_OUTPUT_LIMIT_EXCEEDED"
    BRIDGE_LIMIT_EXCEEDED = "BRIDGE_LIMIT_EXCEEDED"
    TOOL_EXECUTION_FAILED = "TOOL_EXECUTION_FAILED"
    TOOL_APPROVAL_DENIED = "TOOL_APPROVAL_DENIED"

    INTERNAL_ERROR = "INTERNAL_ERROR"


_COMPILE: Final = frozenset(
    {
        DiagnosticCode.COMPILE_ERROR,
        DiagnosticCode.UNSAFE_SYNTAX,
        DiagnosticCode.TYPE_ERROR,
        DiagnosticCode.SOURCE_LIMIT_EXCEEDED,
    }
)


def phase_of(code: DiagnosticCode) -> Phase:
    """The phase a code belongs to; INTERNAL_ERROR, which any phase may meet, counts as the sandbox's."""
    if code in _COMPILE:
        return Phase.COMPILE
    if code.startswith(("TOOL_", "SOURCE_", "BRIDGE_")):
        return Phase.TOOL
    return Phase.SANDBOX


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the program's own text: 1-based line, 1-based column counted in UTF-16 units (as editors count)."""

    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None

    def to_wire(self) -> dict[str, Any]:
        wire = {"line": self.line, "column": self.column}
        if self.end_line is not None and self.end_column is not None:
            wire |= {"endLine": self.end_line, "endColumn": self.end_column}
        return wire


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One frame of the program's stack, innermost first; `function` is None at the top level of the program."""

    line: int
    column: int
    function: str | None = None

    def to_wire(self) -> dict[str, Any]:
        place: dict[str, Any] = {"line": self.line, "column": self.column}
        return {"function": self.function, **place} if self.function else place


@dataclass(frozen=True, slots=True)
class ToolReference:
    """The tool a failure belongs to, with the code its upstream gave, if any."""

    source: str
    name: str
    upstream_code: str | int | None = None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"source": self.source, "name": self.name}
        if self.upstream_code is not None:
            wire["upstreamCode"] = self.upstream_code
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One failure, ready to be shown to the model: no secret, host path or host type is in it."""

    code: DiagnosticCode
    message: str
    phase: Phase | None = None
    """None stands for the phase the code belongs to."""
    location: Location | None = None
    frame: str | None = None
    """Excerpt of at most five lines with a caret under the place."""
    stack: tuple[StackFrame, ...] = ()
    compiler_code: str | None = None
    tool: ToolReference | None = None
    details: Any = None
    """JSON value with more, such as the list of invalid fields."""
    correlation_id: str = field(default="")
    """Joins this diagnostic to the host's fuller record; set when the run ends."""

    def to_wire(self) -> dict[str, Any]:
        """The `error` object of a failed run."""
        wire: dict[str, Any] = {
            "code": str(self.code),
            "phase": str(self.phase or phase_of(self.code)),
            "message": self.message,
            "correlationId": self.correlation_id,
        }
        if self.location is not None:
            wire["location"] = self.location.to_wire()
        if self.frame is not None:
            wire["frame"] = self.frame
        if self.stack:
            wire["stack"] = [frame.to_wire() for frame in self.stack]
        if self.compiler_code is not None:
            wire["compilerCode"] = self.compiler_code
        if self.tool is not None:
            wire["tool"] = self.tool.to_wire()
        if self.details is not None:
            wire["details"] = self.details
        return wire


def utf16_length(text: str) -> int:
    """Length in UTF-16 units: characters beyond the basic plane count twice."""
    return len(text) + sum(character > "\uffff" for character in text)


_FRAME_WIDTH: Final = 160


def code_frame(source: str, location: Location) -> str:
    """At most five lines of `source` around `location`, numbered, with a caret; long lines are cut around the place."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    row = min(max(location.line, 1), len(lines))
    if not lines[-1] and row < len(lines):  # behind the last line end
        lines.pop()
    first, last = max(1, row - 2), min(len(lines), row + 1)
    gutter = len(str(last))
    offset = _code_points(lines[row - 1], location.column - 1)
    start = max(0, offset - _FRAME_WIDTH // 2) if len(lines[row - 1]) > _FRAME_WIDTH else 0
    out = []
    for number in range(first, last + 1):
        text = lines[number - 1][start : start + _FRAME_WIDTH].replace("\t", " ")
        out.append(f"{'>' if number == row else ' '} {number:>{gutter}} | {text}".rstrip())
        if number == row:
            out.append(f"  {'':>{gutter}} | {' ' * (offset - start)}^")
    return "\n".join(out)


def _code_points(line: str, units: int) -> int:
    seen = 0
    for index, character in enumerate(line):
        if seen >= units:
            return index
        seen += 2 if character > "\uffff" else 1
    return len(line)
