"""The text block of an answer: enough to go on with, and not a second copy of the structured JSON.

From wire objects to text; nothing is cut here, what is too big was refused long before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from codemodekit._json import dumps

__all__ = ["run_text", "search_text"]

_RERUN: Final = {
    "safe": "Nothing was changed: mend the program and run it again.",
    "unsafe": "Calls that may write were made (above): check their effect and repeat only what is missing.",
    "unknown": "It is not known whether a call that may write took effect: find out before you repeat it.",
}


def run_text(run: Mapping[str, Any]) -> str:
    """The answer of `run_typescript`: value or failure first, then logs, notes and what was called."""
    head = _value(run) if run["ok"] else _failure(run)
    return "\n".join((*head, *_logs(run), *_notes(run)))


def _value(run: Mapping[str, Any]) -> list[str]:
    if "value" not in run:
        return ["(the program returned nothing)"]
    value = run["value"]
    return [value if isinstance(value, str) else _json(value)]


def _failure(run: Mapping[str, Any]) -> Iterator[str]:
    error = run["error"]
    place = error.get("location")
    at = f" (line {place['line']}, column {place['column']})" if place else ""
    yield f"{error['code']}{at}: {error['message']}"
    if "frame" in error:
        yield error["frame"]
    if run["calls"]:
        yield f"Calls made: {_receipt(run['calls'])}."
    yield _RERUN[run["rerun"]]


def _receipt(calls: list[Mapping[str, Any]]) -> str:
    counted = Counter((f"{call['source']}.{call['tool']}", call["status"]) for call in calls)
    return ", ".join(f"{tool} {status}{f' ×{times}' if times > 1 else ''}" for (tool, status), times in counted.items())


def _logs(run: Mapping[str, Any]) -> list[str]:
    lines = [
        entry["message"] if entry["level"] == "log" else f"[{entry['level']}] {entry['message']}"
        for entry in run["logs"]
    ]
    return ["Logs:", *lines] if lines else []


def _notes(run: Mapping[str, Any]) -> list[str]:
    return [f"Note: {note}" for note in run.get("notes", ())]


def search_text(found: Mapping[str, Any]) -> str:
    """The answer of `search_tools` in rows."""
    return "\n".join(_search_lines(found))


def _search_lines(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("diagnostic"):
        yield found["diagnostic"]
    for space in found.get("namespaces", ()):
        yield f"{space['namespace']}: {space['tools']} tools"
    for result in found["results"]:
        yield from _result(result)
    if not found["results"] and not found.get("namespaces"):
        yield "No tool was found."
    if found.get("suggestions"):
        yield f"Try: {', '.join(found['suggestions'])}"
    if found.get("resultContract"):
        yield found["resultContract"]
    if found["truncated"] or found.get("nextCursor"):
        cursor = f"; next page: cursor {found['nextCursor']!r}" if found.get("nextCursor") else ""
        yield f"{found['returned']} of {found['total']} shown{cursor}"


def _result(result: Mapping[str, Any]) -> Iterator[str]:
    mark = " (read-only)" if result.get("readOnly") else ""
    text = f": {result['description']}" if result.get("description") else ""
    yield f"- {result['callable']}{mark}{text}"
    if result.get("declaration"):
        yield result["declaration"]


def _json(value: Any) -> str:
    return dumps(value)
