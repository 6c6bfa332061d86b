"""How a run ended, for people: its value or error, its console output, and the receipt of its calls."""

from __future__ import annotations

import json
from typing import Any

from codemodekit.cli.output import console, for_people, highlighted, table

__all__ = ["show_error", "show_result"]


def show_result(result: dict[str, Any], program: str) -> None:
    """Print a run result in wire form."""
    out = console()
    if not result["ok"]:
        show_error(result["error"], program)
    elif "value" in result:
        value = result["value"]
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        printable = for_people(text.encode("utf-8", "replace").decode())
        out.print(highlighted(printable, "json") if out.is_terminal and not isinstance(value, str) else printable)
    else:
        out.print("(the program returned nothing)")
    for entry in result["logs"]:
        out.print(for_people(f"[{entry['level']}] {entry['message']}"))
    for note in result.get("notes", ()):
        out.print(for_people(f"Note: {note}"))
    if result["calls"]:
        out.print(_receipt(result))


def show_error(error: dict[str, Any], program: str) -> None:
    """Print what went wrong, and where in the program."""
    out = console()
    place = error.get("location")
    at = f" (line {place['line']}, column {place['column']})" if place else ""
    out.print(for_people(f"{error['code']}{at}: {error['message']}"))
    if place and out.is_terminal:
        out.print(
            highlighted(program, "typescript", lines=(max(1, place["line"] - 2), place["line"] + 2), mark=place["line"])
        )
    elif "frame" in error:
        out.print(error["frame"])


def _receipt(result: dict[str, Any]) -> Any:
    rows = [
        (
            call["id"],
            f"{call['source']}.{call['tool']}",
            call["status"] + (f" ({call['code']})" if call.get("code") else ""),
            f"{call['durationMs']:.1f} ms" if "durationMs" in call else "",
            call["inputBytes"],
            call.get("resultBytes", ""),
        )
        for call in result["calls"]
    ]
    title = f"\n{len(rows)} call{'s' if len(rows) > 1 else ''}; running it again is {result['rerun']}"
    return table(title, ("", "tool", "status", "time", "bytes in", "bytes out"), rows)
