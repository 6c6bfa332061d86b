"""What a source answered, bounded and validated before a program sees it."""

from __future__ import annotations

from typing import Any

from codemodekit._json import ABSENT, MAX_DEPTH, encode, is_deeper, rounded_integer
from codemodekit.bridge.failures import CallRefused, listed, refused
from codemodekit.bridge.receipts import CallStatus
from codemodekit.catalog.snapshot import CatalogTool
from codemodekit.cleaning import clean
from codemodekit.contracts import ToolResult
from codemodekit.diagnostics import DiagnosticCode

__all__ = ["bound_result", "output_note", "rounding_note"]


def output_note(tool: CatalogTool, result: ToolResult) -> str | None:
    """What to note about a result that does not match its output schema, where the source lets it pass.

    Raises:
        CallRefused: it does not match, and the source does not let it pass.
    """
    structured = result.structured_content
    if tool.output is None:
        return None
    if structured is ABSENT:
        what, details = "it has no structuredContent, which its output schema asks for", None
    else:
        errors = tool.output.errors(structured)
        if not errors:
            return None
        what, details = listed(errors), {"errors": [error.to_wire() for error in errors]}
    if tool.definition.output_mismatch == "error":
        raise _unusable(tool, what, details)
    return f"the result of {_name(tool)} does not match its output schema: {what}"


def bound_result(tool: CatalogTool, result: ToolResult, most: int) -> bytes:
    """The JSON a program gets.

    Raises:
        CallRefused: it is no JSON, nested too deeply, or larger than `most` bytes.
    """
    for block in result.content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise _unusable(tool, "a content block has no type")
    try:
        answer = encode(result.to_wire())
    except (TypeError, ValueError, RecursionError) as error:
        raise _unusable(tool, f"it is not JSON ({error})") from error
    if len(answer) > 2 * MAX_DEPTH and is_deeper(result.structured_content, MAX_DEPTH):
        raise _unusable(tool, f"it is nested deeper than {MAX_DEPTH} levels")
    if len(answer) > most:
        message = f"the result of {_name(tool)} is {len(answer)} bytes and may be {most}; ask the tool for less"
        code = DiagnosticCode.TOOL_OUTPUT_LIMIT_EXCEEDED
        raise refused(code, message, tool.source, tool.definition.name, status=CallStatus.FAILED)
    return answer


def rounding_note(tool: CatalogTool, result: ToolResult, answer: bytes) -> str | None:
    """What to note about a result with an integer that JavaScript would round, where the source lets it pass.

    Raises:
        CallRefused: there is one, and the source does not let it pass.
    """
    found = rounded_integer(result.to_wire(), answer)
    if found is None:
        return None
    place, number = found
    shown = f"{number}" if abs(number) < 10**40 else "one of more than 40 digits"
    what = f"the integer at {place} ({shown}) is larger than JavaScript's numbers hold exactly; have it given as a text"
    if tool.definition.output_mismatch == "error":
        raise _unusable(tool, what, {"path": place})
    return f"the result of {_name(tool)} is not exact: {what}"


def _unusable(tool: CatalogTool, what: str, details: Any = None) -> CallRefused:
    message = f"the result of {_name(tool)} cannot be used: {clean(what, 1000)}"
    code, name = DiagnosticCode.TOOL_OUTPUT_INVALID, tool.definition.name
    return refused(code, message, tool.source, name, status=CallStatus.FAILED, details=details)


def _name(tool: CatalogTool) -> str:
    return f"{tool.source}.{tool.definition.name}"
