"""The types that the compiler's messages name, read far enough to say whether one can never be the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Final

__all__ = ["can_never_be", "is_literal_type", "split_union"]

_NUMBER: Final = re.compile(r"-?\d[\d.e+]*\Z")
_OBJECT: Final = re.compile(r"(?:\{.*\}|Record<.*>)\Z", re.DOTALL)
_ARRAY: Final = re.compile(r"(?:.*\[\]|\[.*\]|(?:Readonly)?Array<.*>)\Z", re.DOTALL)
_KINDS: Final = {"string": "string", "number": "number", "boolean": "boolean", "true": "boolean", "false": "boolean",
                 "Date": "string", "null": "null", "undefined": "null"}  # fmt: skip
"""A date is sent as text."""
_DEEPEST: Final = 5


def can_never_be(given: str, wanted: str, interfaces: Set[str], aliases: Mapping[str, str]) -> bool:
    """Whether no value of the type `given` is one of the type `wanted`; in doubt, no."""
    have, want = _kinds(given, interfaces, aliases, 0), _kinds(wanted, interfaces, aliases, 0)
    return have is not None and want is not None and bool(have) and not have & want


def is_literal_type(text: str) -> bool:
    """Whether the type is one value, such as `"open"` or 5."""
    return len(split_union(text)) == 1 and (text[:1] == '"' or _NUMBER.match(text) is not None)


def split_union(text: str) -> list[str]:
    """The members of a union."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, character in enumerate(text):
        if character == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{<":
            depth += 1
        elif character in ")]}>" and text[at - 1 : at + 1] != "=>":
            depth -= 1
        elif character == "|" and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _kinds(text: str, interfaces: Set[str], aliases: Mapping[str, str], depth: int) -> frozenset[str] | None:
    """What JSON makes of the values of a type; None if that cannot be said."""
    if depth > _DEEPEST:
        return None
    kinds: set[str] = set()
    for part in split_union(text):
        if part in aliases:
            inner = _kinds(aliases[part], interfaces, aliases, depth + 1)
            if inner is None:
                return None
            kinds |= inner
            continue
        kind = _kind(part, interfaces)
        if kind is None:
            return None
        kinds.add(kind)
    return frozenset(kinds - {"null"})


def _kind(part: str, interfaces: Set[str]) -> str | None:
    if part in _KINDS:
        return _KINDS[part]
    if part[:1] == '"' and part[-1:] == '"':
        return "string"
    if _NUMBER.match(part):
        return "number"
    if "=>" in part.split("{")[0]:
        return None
    if _ARRAY.match(part):
        return "array"
    if part in interfaces or _OBJECT.match(part):
        return "object"
    return None
