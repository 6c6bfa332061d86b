"""Conditions on JSON values: a place, named by a JSON pointer (RFC 6901), and a test of what stands there.

Values are compared as JSON has them: there is one kind of number, so 1 and 1.0 are the same, and true is neither; text
is the same when its code points are, without normalising. A test of a place where nothing stands does not hold, but for
`exists`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Final

from codemodekit._json import ABSENT, dumps

__all__ = ["TESTS", "Condition", "Glob", "is_number", "path_of", "same", "shown"]

_ESCAPE: Final = re.compile(r"~(?![01])")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_SHOWN: Final = 80
_OBJECT: Final = (dict, Mapping)
"""In this order: asking whether something is a Mapping takes ten times as long."""


class Glob:
    """`*`, `?`, `[abc]` and `[!abc]`, over the whole text and case-sensitive; understood once, not at every call."""

    __slots__ = ("_match", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._match = re.compile(translate(text)).match

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Glob) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Glob({self.text!r})"

    def fits(self, text: Any) -> bool:
        """Whether this is text that the glob describes."""
        return isinstance(text, str) and self._match(text) is not None


def is_number(value: Any) -> bool:
    """Whether a value is a number of JSON, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return bool(one == other)
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, list | tuple):
        return (
            isinstance(other, list | tuple)
            and len(one) == len(other)
            and all(same(each, that) for each, that in zip(one, other, strict=True))
        )
    return type(one) is type(other) and bool(one == other)


TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "equals": lambda value, wanted: value is not ABSENT and same(value, wanted),
    "in": lambda value, wanted: value is not ABSENT and any(same(value, each) for each in wanted),
    "glob": lambda value, wanted: wanted.fits(value),
    "exists": lambda value, wanted: (value is not ABSENT) is wanted,
    "atMost": lambda value, wanted: is_number(value) and value <= wanted,
    "atLeast": lambda value, wanted: is_number(value) and value >= wanted,
}
"""By the words of the written form; each takes the value that was found, or ABSENT, and the wanted one."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One test at one place."""

    pointer: str
    path: tuple[str, ...]
    """The pointer's steps, unescaped."""
    test: str
    wanted: Any
    """For `glob` a Glob, else a JSON value."""

    def holds(self, root: Any) -> bool:
        """Whether the test holds in this value; ABSENT holds nothing."""
        return TESTS[self.test](_at(root, self.path), self.wanted)

    def said(self, root: Any) -> str:
        """What stands there and what is asked of it, in words."""
        wanted = self.wanted.text if isinstance(self.wanted, Glob) else self.wanted
        found = _at(root, self.path)
        stands = "absent" if found is ABSENT else shown(found)
        return f"{self.pointer or 'the whole'} is {stands} ({self.test} {shown(wanted)})"


def path_of(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer.

    Raises:
        ValueError: it is none; the message says why.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError("it begins with '/', as in '/path'")
    if _ESCAPE.search(pointer):
        raise ValueError("after '~' stands 0 (for '~') or 1 (for '/')")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def shown(value: Any) -> str:
    """A value in a message: as JSON, and short."""
    try:
        text = dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if isinstance(value, _OBJECT) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value
