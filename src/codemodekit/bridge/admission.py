"""Whether a call may go to its source at all: does the tool exist, can it be called, is the input valid.

No call that ends here reaches a source. Counting and limits are the run's; see run.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codemodekit.bridge.failures import CallRefused, listed, refused
from codemodekit.catalog.manager import CatalogManager
from codemodekit.catalog.near import near_names
from codemodekit.catalog.snapshot import CatalogTool, SourceCatalog
from codemodekit.cleaning import clean
from codemodekit.contracts import GuestCall
from codemodekit.diagnostics import DiagnosticCode

__all__ = ["check_input", "find_tool", "no_source", "unavailable"]


def find_tool(call: GuestCall, source: SourceCatalog) -> CatalogTool:
    """The tool that is called.

    Raises:
        CallRefused: the source has no such tool, or it cannot be called.
    """
    tool = source.tools.get(call.tool)
    if tool is not None:
        return tool
    reason = source.quarantined.get(call.tool)
    if reason is not None:
        message = f"{call.source}.{call.tool} cannot be called, its schema cannot be enforced: {clean(reason, 500)}"
        raise refused(DiagnosticCode.TOOL_SCHEMA_UNSUPPORTED, message, call.source, call.tool)
    near = near_names(call.tool, source.tools)
    message = f"source {call.source!r} has no tool {clean(call.tool, 200)!r}{_did_you_mean(near)}"
    raise refused(DiagnosticCode.TOOL_NOT_FOUND, message, call.source, call.tool, details=_near(near))


def check_input(call: GuestCall, tool: CatalogTool) -> None:
    """Return if the input is valid.

    Raises:
        CallRefused: it is not; every wrong field is named.
    """
    if call.problem is not None:
        message, details = f"{tool.callable}: {call.problem}", None
    else:
        errors = tool.input.errors(call.input)
        if not errors:
            return
        message = f"the input of {tool.callable} is not valid: {listed(errors)}"
        details = {"errors": [error.to_wire() for error in errors]}
    raise refused(DiagnosticCode.TOOL_INPUT_INVALID, message, call.source, call.tool, details=details)


def no_source(call: GuestCall, configured: Sequence[str]) -> CallRefused:
    """There is no source of that name; those that have not listed yet are near names too."""
    near = near_names(call.source, configured)
    message = f"there is no source {clean(call.source, 200)!r}{_did_you_mean(near)}"
    return refused(DiagnosticCode.SOURCE_NOT_FOUND, message, call.source, call.tool, details=_near(near))


def unavailable(call: GuestCall, catalog: CatalogManager) -> CallRefused:
    """The source exists and cannot be reached; its state is named."""
    health = next((each for each in catalog.health() if each.source == call.source), None)
    state = health.state if health is not None else "unavailable"
    why = f" ({clean(health.last_error, 300)})" if health is not None and health.last_error else ""
    message = f"source {call.source!r} is {state}{why}"
    return refused(DiagnosticCode.SOURCE_UNAVAILABLE, message, call.source, call.tool)


def _did_you_mean(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, names))}?" if names else ""


def _near(names: Sequence[str]) -> Any:
    return {"near": list(names)} if names else None
