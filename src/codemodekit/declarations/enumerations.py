"""Values that a schema lists, as literal types, or as what they have in common when they are too many to show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from codemodekit.declarations.comments import preview, safe
from codemodekit.declarations.names import quote
from codemodekit.declarations.shapes import (
    BOOLEAN,
    NEVER,
    NULL,
    NUMBER,
    STRING,
    UNKNOWN,
    Keyword,
    Literal,
    Member,
    ObjectOf,
    Shape,
    TupleOf,
    union,
)

__all__ = ["JSON_TYPES", "SCALARS", "enumeration"]

JSON_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
SCALARS: Final[Mapping[str, Shape]] = {
    "string": STRING,
    "number": NUMBER,
    "integer": NUMBER,
    "boolean": BOOLEAN,
    "null": NULL,
}
_SAFE_INTEGER: Final = 2**53
_LONGEST_LITERAL: Final = 200


def enumeration(values: Sequence[Any], types: frozenset[str] | None, most: int, most_text: int) -> Shape:
    """The type of `values` that are of one of `types`: at most `most` literals of `most_text` characters together."""
    fitting = [value for value in values[: 10 * most] if types is None or _is_any(value, types)]
    shown = sum(len(value) + 4 if isinstance(value, str) else 12 for value in fitting)
    if len(values) > 10 * most or len(fitting) > most or shown > most_text:
        return _many(values, fitting, types)
    return union(_literal(value) for value in fitting)


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)
    ),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, Sequence) and not isinstance(value, str),
}


def _is_any(value: Any, types: Iterable[str]) -> bool:
    return any(_CHECKS[name](value) for name in types)


def _many(values: Sequence[Any], fitting: Sequence[Any], types: frozenset[str] | None) -> Shape:
    """A long enumeration: the types of its values, with how many there are and the first of them."""
    seen = [name for name in JSON_TYPES if any(_CHECKS[name](value) for value in fitting)]
    first = ", ".join(preview(value, 20) for value in fitting[:5])
    note = safe(f"one of {len(values)} values: {first}, …", 160).replace("\n", " ")
    if len(values) > len(fitting):
        seen = [name for name in JSON_TYPES if types is None or name in types]
    if not set(seen) <= SCALARS.keys():
        return Keyword("unknown", note)
    whole = union(SCALARS[name] for name in seen)
    return replace(whole, note=note) if isinstance(whole, Keyword) else whole


def _literal(value: Any) -> Shape:
    match value:
        case None:
            return NULL
        case bool():
            return Literal("true" if value else "false", "boolean")
        case int() | float():
            return _number(value)
        case str():
            return Literal(quote(value), "string")
        case Mapping() if _is_small(value):
            members = (Member(str(name), _literal(part), True) for name, part in value.items())
            return ObjectOf(tuple(members)) if value else ObjectOf(index=NEVER)
        case list() | tuple() if _is_small(value):
            return TupleOf(tuple(_literal(part) for part in value), len(value))
    return UNKNOWN


def _is_small(value: Any) -> bool:
    return "…" not in preview(value, _LONGEST_LITERAL)


def _number(value: int | float) -> Shape:
    if not math.isfinite(value) if isinstance(value, float) else abs(value) > _SAFE_INTEGER:
        return NUMBER
    text = str(int(value)) if value == int(value) and abs(value) <= _SAFE_INTEGER else repr(value)
    return Literal(text, "number")
