"""What a check has found, in words: the diagnostic that stops a program, and the notes of one that runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from codemodekit.compilers.typecheck.compiler import Complaint
from codemodekit.compilers.typecheck.mistakes import Mistake, cut, without_numbers
from codemodekit.contracts import Program
from codemodekit.diagnostics import Diagnostic, DiagnosticCode, Location, ToolReference, code_frame

__all__ = ["blocked", "notes_about"]

Locate = Callable[[int, int], Location | None]

_MOST_NOTES: Final = 3
_MOST_TOLD: Final = 4
_SYNTAX: Final = range(1000, 2000)
_IMPLICIT: Final = range(7000, 8000)
_NO_NEWS: Final = frozenset({2307, 2531, 2532, 2533, 18046, 18047, 18048, 18049})
"""Modules nobody resolves; values that may be missing or are of no known type."""
_OWN_TYPES: Final = re.compile(r"\$(?:Tools|Group\d+)")


def blocked(program: Program, mistakes: Sequence[Mistake]) -> Diagnostic:
    """The diagnostic for one mistake or more."""
    first = mistakes[0]
    location = _location(program.locate, first.start, first.end)
    return Diagnostic(
        code=DiagnosticCode.TYPE_ERROR,
        message=_all_told(program, mistakes),
        location=location,
        frame=None if location is None else code_frame(program.source, location),
        compiler_code=f"TS{first.code}",
        tool=None if first.source is None or first.tool is None else ToolReference(first.source, first.tool),
        details={"errors": [_wire(program, mistake) for mistake in mistakes]},
    )


def _all_told(program: Program, mistakes: Sequence[Mistake]) -> str:
    told = [mistakes[0].message]
    for mistake in mistakes[1:_MOST_TOLD]:
        place = _location(program.locate, mistake.start, mistake.end)
        told.append(f"line {place.line}: {mistake.message}" if place else mistake.message)
    if len(mistakes) > _MOST_TOLD:
        told.append(f"{len(mistakes) - _MOST_TOLD} more in the details")
    return "; also ".join(told) + " (nothing has run)"


def _wire(program: Program, mistake: Mistake) -> dict[str, Any]:
    place = _location(program.locate, mistake.start, mistake.end)
    wire: dict[str, Any] = {"kind": str(mistake.kind), "message": mistake.message, "compilerCode": f"TS{mistake.code}"}
    if mistake.source is not None:
        wire["source"] = mistake.source
    if mistake.tool is not None:
        wire["tool"] = mistake.tool
    return wire if place is None else {**wire, "location": place.to_wire()}


def notes_about(locate: Locate, complaints: Sequence[Complaint]) -> tuple[str, ...]:
    """The first complaints that may be of use, as one note; none for a program nothing is to be said about."""
    told = [
        one for one in complaints if one.code not in _SYNTAX and one.code not in _IMPLICIT and one.code not in _NO_NEWS
    ]
    shown = [_told(locate, one) for one in told[:_MOST_NOTES]]
    if len(told) > _MOST_NOTES:
        shown.append(f"and {len(told) - _MOST_NOTES} more")
    return ("The type checker says, without standing in the way: " + "; ".join(shown),) if shown else ()


def _told(locate: Locate, complaint: Complaint) -> str:
    place = locate(complaint.start[0] + 1, complaint.start[1] + 1)
    # the rest would be advice to install something
    first = complaint.message.split("\n")[0].partition(" Do you need to")[0]
    message = without_numbers(_OWN_TYPES.sub("tools", first))
    where = f"line {place.line}, column {place.column}: " if place else ""
    return f"{where}{cut(message)} (TS{complaint.code})"


def _location(locate: Locate, start: tuple[int, int], end: tuple[int, int]) -> Location | None:
    begin, stop = locate(start[0] + 1, start[1] + 1), locate(end[0] + 1, end[1] + 1)
    if begin is None or stop is None or (stop.line, stop.column) <= (begin.line, begin.column):
        return begin
    return Location(begin.line, begin.column, stop.line, stop.column)
