"""The texts a guest leaves behind, read into the steps of the sandbox contract.

The guest is not trusted: a text that is not what the prelude writes is a program that broke its own bridge, and is
answered as such, never with an exception.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from codemodekit._json import loads, scan
from codemodekit.contracts import Calls, GuestCall, GuestError, GuestFrame, LogEntry, Program, Returned, Step, Threw

__all__ = ["BROKEN", "lines_before", "read_logs", "read_step"]

BROKEN: Final = GuestError(
    kind="exception", name="Error", message="the program broke the bridge to its tools by altering built-in objects"
)

_KINDS: Final = frozenset({"exception", "syntax", "tool", "stack", "not_serializable", "output_limit"})
_FRAME: Final = re.compile(
    r"^\s*at (?P<async>async )?(?:(?P<function>.*?) \()?"
    r"(?P<file>[^\s()]+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?\)?$"
)
_MOST_CALLS: Final = 2**32 - 1
"""The number of a call goes back in 32 bits."""
_MOST_FRAMES: Final = 32
_MOST_LINES_BEFORE: Final = 8
_NAMELESS: Final = (None, "<anonymous>", "<eval>")
_SUPER: Final = re.compile(r"super\b")
_CLASS: Final = re.compile(r"class\b")
_LEVELS: Final = ("log", "info", "warn", "error", "debug")


def read_step(text: str, program: Program) -> Step:
    """One step from the text the prelude's `take` made."""
    try:
        if text[:1] == "C" and "\n" not in text:
            return Calls(_calls(text[1:]))
        sign, lines = text[0], text[1:].split("\n", 2)
        calls = _calls(lines[0])
        unhandled = _unhandled(lines[1], program)
        if sign == "C":
            return Calls(calls, unhandled)
        if sign == "R":
            return Returned(lines[2] if len(lines) > 2 else None, unhandled, calls)
        if sign == "T":
            return Threw(_error(loads(lines[2]), program), unhandled, calls)
    except Exception:  # whatever it is: nobody above is prepared for what a hostile text may raise
        return Threw(BROKEN)
    return Threw(BROKEN)


def _unhandled(text: str, program: Program) -> tuple[GuestError, ...]:
    count, *told = loads(text)
    errors = tuple(replace(error, name=error.name or "Error") for error in (_error(each, program) for each in told))
    if count > len(errors):
        more = f"{count - len(errors)} more rejected promises were not handled"
        errors += (GuestError(kind="exception", name="", message=more),)
    return errors


def _calls(text: str) -> tuple[GuestCall, ...]:
    if not text:
        return ()
    parts = text.split("\x1f")
    return tuple(_call(parts[at], parts[at + 1]) for at in range(0, len(parts), 2))


def _call(head: str, body: str) -> GuestCall:
    number, source, tool = scan(head, 0)[0]
    if type(number) is not int or type(source) is not str or type(tool) is not str or not 0 < number <= _MOST_CALLS:
        raise TypeError("not a call")
    if body[:5] == "!size":
        return GuestCall(number, source, tool, None, 0, oversize=True)
    if body[:6] == "!value":
        return GuestCall(number, source, tool, None, 0, f"the arguments cannot be sent: at {body[6:]}")
    size = len(body) if body.isascii() else len(body.encode("utf-8", "replace"))
    return GuestCall(number, source, tool, scan(body, 0)[0], size)


def _error(fields: Any, program: Program) -> GuestError:
    kind = fields["kind"]
    error = GuestError(
        kind=kind if kind in _KINDS else "exception",
        name=str(fields.get("name", "Error")),
        message=str(fields["message"]),
        behind=tuple(str(each) for each in fields.get("behind", ())),
    )
    if fields.get("stack"):
        frames = _frames(str(fields["stack"]), program, derived=fields.get("derived") is True)
        error = replace(error, frames=frames)
    if kind == "tool":
        error = replace(error, call_id=int(fields["call"]))
    if "path" in fields:
        error = replace(error, path=str(fields["path"]))
    return error


def lines_before(program: Program) -> int:
    """How many lines of the JavaScript stand before the program's own first one: the engine does not count them, so
    that a stack which the program prints shows the lines its author sees."""
    for line in range(1, _MOST_LINES_BEFORE + 1):
        place = program.locate(line, 1)
        if place is not None and place.line >= 1:
            return line - place.line
    return 0


def _frames(stack: str, program: Program, *, derived: bool) -> tuple[GuestFrame, ...]:
    """The program's own frames; the engine counts columns in bytes of UTF-8, we count UTF-16 units.

    An error of the program's own class is made inside of constructors, and a constructor that is not written out has
    no code of its own: these are left out.
    """
    shift = lines_before(program)
    lines = program.javascript.split("\n")
    frames: list[GuestFrame] = []
    for row in stack.split("\n"):
        found = _FRAME.match(row)
        if not found or found["file"] != "program.ts":
            continue
        line = int(found["line"]) + shift
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        column = _utf16(text, int(found["column"] or 1))
        function = None if found["function"] in _NAMELESS else found["function"]
        if found["async"] and any((frame.function, frame.line) == (function, line) for frame in frames):
            continue  # the `await` in front of a call that is there already
        if len(frames) == 1 and _is_constructing(_at(lines, frames[0]), derived):
            frames.clear()
        frames.append(GuestFrame(function, line, column))
        if len(frames) == _MOST_FRAMES:
            break
    return tuple(frames)


def _is_constructing(text: str, derived: bool) -> bool:
    return _CLASS.match(text) is not None or (derived and _SUPER.match(text) is not None)


def _at(lines: list[str], frame: GuestFrame) -> str:
    """What stands where a frame is."""
    text = lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""
    if text.isascii():
        return text[frame.column - 1 :][:16]
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * (frame.column - 1) :][:32].decode("utf-16-le", "replace")


def _utf16(line: str, column: int) -> int:
    if line.isascii():
        return column
    before = line.encode("utf-8", "replace")[: max(column - 1, 0)].decode("utf-8", "ignore")
    return len(before.encode("utf-16-le", "replace")) // 2 + 1


def read_logs(head: bytes, tail: bytes, dropped: int) -> tuple[LogEntry, ...]:
    """Console entries as the C half stores them: level, length, text."""
    middle = (LogEntry("dropped", f"{dropped} entries were left out here"),) if dropped else ()
    return (*_entries(head), *middle, *_entries(tail))


def _entries(data: bytes) -> list[LogEntry]:
    entries, at = [], 0
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "little")
        text = data[at + 5 : at + 5 + size].decode("utf-8", "replace")
        entries.append(LogEntry(_LEVELS[data[at]] if data[at] < len(_LEVELS) else "log", text))
        at += 5 + size
    return entries
