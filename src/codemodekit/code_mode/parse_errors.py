"""What the engine's parser refuses, said so that it can be mended: with the name it is about, at that name.

The compiler's own grammar lets a few things through that the engine refuses before anything runs. Knows the phrases of
the engine; `endings` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from codemodekit.contracts import GuestFrame, Program
from codemodekit.diagnostics import Location

__all__ = ["explain"]

_TWICE: Final = "the name {name!r} is declared twice in one block; rename one of them"
_DECLARED: Final = {
    "invalid redefinition of lexical identifier": _TWICE,
    "invalid redefinition of a variable": _TWICE,
    "invalid redefinition of parameter name": "the name {name!r} is that of a parameter already; rename one of them",
}
_PARAMETERS: Final = "Duplicate parameter name not allowed in this context"
_NAME: Final = re.compile(r"[\w$]+")


def explain(message: str, frame: GuestFrame, program: Program) -> tuple[str, Location | None]:
    """The sentence and the place for what the engine said about a place of the JavaScript, where types are blank."""
    before, behind = _around(program.javascript, frame)
    names = list(_NAME.finditer(before))
    if message in _DECLARED and names:
        return _DECLARED[message].format(name=names[-1][0]), _at(program, frame, before, names[-1])
    if message == _PARAMETERS and (twice := next(_twice(names, before.rfind("(")), None)) is not None:
        said = f"two parameters are named {twice[0]!r}; rename one of them"
        return said, _at(program, frame, before, twice)
    if behind.startswith("/"):
        message = f"this regular expression is not valid: {message}"
    return message, program.locate(frame.line, frame.column)


def _twice(names: list[re.Match[str]], start: int) -> Iterator[re.Match[str]]:
    """The later of two names that are the same, behind the bracket of the parameters."""
    within = [name for name in names if name.start() > start]
    for at, name in enumerate(within):
        if any(earlier[0] == name[0] for earlier in within[:at]):
            yield name


def _around(javascript: str, frame: GuestFrame) -> tuple[str, str]:
    """What stands before and behind a place on its line."""
    lines = javascript.split("\n")
    line = lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""
    units = line.encode("utf-16-le", "surrogatepass")
    at = 2 * (frame.column - 1)
    return units[:at].decode("utf-16-le", "replace"), units[at:].decode("utf-16-le", "replace")


def _at(program: Program, frame: GuestFrame, before: str, name: re.Match[str]) -> Location | None:
    column = len(before[: name.start()].encode("utf-16-le", "surrogatepass")) // 2 + 1
    return program.locate(frame.line, column)
