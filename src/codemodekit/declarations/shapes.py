"""TypeScript types as values, the algebra that keeps them simple, and their text.

A shape knows nothing of JSON Schema. `union` and `intersection` only ever drop what changes nothing or makes the type
wider, so a value that fits the parts fits the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from codemodekit.declarations.names import member

__all__ = [
    "BOOLEAN",
    "NEVER",
    "NULL",
    "NUMBER",
    "OPEN_OBJECT",
    "STRING",
    "UNKNOWN",
    "ArrayOf",
    "Intersection",
    "Key",
    "Keyword",
    "Literal",
    "Member",
    "ObjectOf",
    "Reference",
    "Shape",
    "TupleOf",
    "Union",
    "intersection",
    "render",
    "render_members",
    "union",
    "with_docs",
]

Key: TypeAlias = tuple[int, str]
"""Identity of a named type while its document is being converted."""

_LINE: Final = 100


@dataclass(frozen=True, slots=True)
class Keyword:
    """A type TypeScript has a word for."""

    word: str
    note: str = ""
    """Why the type is no closer, shown as a comment."""


@dataclass(frozen=True, slots=True)
class Literal:
    """One scalar value."""

    text: str
    of: str
    """The keyword it belongs to: string, number or boolean."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A named type."""

    key: Key


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Any number of items."""

    item: Shape


@dataclass(frozen=True, slots=True)
class TupleOf:
    """Items by position; those from `required` on may be left out."""

    items: tuple[Shape, ...]
    required: int
    rest: Shape | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A property."""

    name: str
    shape: Shape
    required: bool
    doc: tuple[str, ...] = ()
    """Lines of its comment, already safe."""


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """Properties by name, and what any other property may be."""

    members: tuple[Member, ...] = ()
    index: Shape | None = None
    """None: no other property is declared."""
    note: str = ""
    index_key: str = "string"
    """What an undeclared name looks like, as a TypeScript type."""


@dataclass(frozen=True, slots=True)
class Union:
    """One of several."""

    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Intersection:
    """All of several."""

    members: tuple[Shape, ...]


Shape: TypeAlias = Keyword | Literal | Reference | ArrayOf | TupleOf | ObjectOf | Union | Intersection

UNKNOWN: Final = Keyword("unknown")
NEVER: Final = Keyword("never")
STRING: Final = Keyword("string")
NUMBER: Final = Keyword("number")
BOOLEAN: Final = Keyword("boolean")
NULL: Final = Keyword("null")
OPEN_OBJECT: Final = ObjectOf(index=UNKNOWN)

_WIDE: Final[frozenset[Shape]] = frozenset({OPEN_OBJECT, ArrayOf(UNKNOWN)})
_SCALARS: Final = frozenset({"string", "number", "boolean"})


# --- algebra ----------------------------------------------------------------------------------------------------------


def union(shapes: Iterable[Shape]) -> Shape:
    """The type of values that fit any of `shapes`."""
    flat: dict[Shape, None] = {}
    for shape in shapes:
        for part in shape.members if isinstance(shape, Union) else (shape,):
            if isinstance(part, Keyword) and part.word == "unknown":
                return part
            flat[part] = None
    words = {part.word for part in flat if isinstance(part, Keyword)}
    if {Literal("true", "boolean"), Literal("false", "boolean")} <= flat.keys():
        flat = {part: None for part in flat if not (isinstance(part, Literal) and part.of == "boolean")}
        flat[BOOLEAN] = None
        words.add("boolean")
    kept = [
        part
        for part in flat
        if not (isinstance(part, Literal) and part.of in words) and not (isinstance(part, Keyword) and part == NEVER)
    ]
    kept.sort(key=lambda part: part == NULL)
    if not kept:
        return NEVER
    return kept[0] if len(kept) == 1 else Union(tuple(kept))


def intersection(shapes: Iterable[Shape]) -> Shape:
    """The type of values that fit all of `shapes`; plain objects are joined into one."""
    flat: dict[Shape, None] = {}
    unknown: Shape = UNKNOWN
    for shape in shapes:
        for part in shape.members if isinstance(shape, Intersection) else (shape,):
            if part == NEVER:
                return NEVER
            if isinstance(part, Keyword) and part.word == "unknown":
                unknown = part if part.note else unknown
            else:
                flat[part] = None
    kept = _without_wider(list(flat))
    kept = _join_objects(kept)
    if not kept:
        return unknown
    return kept[0] if len(kept) == 1 else Intersection(tuple(kept))


def _without_wider(parts: list[Shape]) -> list[Shape]:
    # An index signature of `unknown` would let any misspelt name through and `unknown[]` says nothing beside an array.
    if len(parts) > 1:
        close = [part for part in parts if part not in _WIDE]
        parts = close or parts[:1]
    return [
        part
        for part in parts
        if not (
            isinstance(part, Keyword)
            and part.word in _SCALARS
            and any(other is not part and _all_of(other, part.word) for other in parts)
        )
    ]


def _all_of(shape: Shape, word: str) -> bool:
    members = shape.members if isinstance(shape, Union) else (shape,)
    return all(isinstance(part, Literal) and part.of == word for part in members)


def _join_objects(parts: list[Shape]) -> list[Shape]:
    plain = [part for part in parts if isinstance(part, ObjectOf) and part.index is None]
    if len(plain) < 2:
        return parts
    same: dict[str, list[Member]] = {}
    for part in plain:
        for one in part.members:
            same.setdefault(one.name, []).append(one)
    whole = ObjectOf(
        tuple(_join_members(members) for members in same.values()),
        note=next((part.note for part in plain if part.note), ""),
    )
    return [whole, *(part for part in parts if not (isinstance(part, ObjectOf) and part.index is None))]


def _join_members(members: Sequence[Member]) -> Member:
    return Member(
        members[0].name,
        intersection(one.shape for one in members),
        any(one.required for one in members),
        next((one.doc for one in members if one.doc), ()),
    )


def with_docs(shape: Shape, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Shape:
    """The same type with other comments."""
    match shape:
        case Union(members):
            return Union(tuple(with_docs(one, change) for one in members))
        case Intersection(members):
            return Intersection(tuple(with_docs(one, change) for one in members))
        case ArrayOf(item):
            return ArrayOf(with_docs(item, change))
        case TupleOf(items, required, rest):
            changed = tuple(with_docs(one, change) for one in items)
            return TupleOf(changed, required, None if rest is None else with_docs(rest, change))
        case ObjectOf(members, index, note, index_key):
            kept = tuple(
                Member(one.name, with_docs(one.shape, change), one.required, change(one.doc)) for one in members
            )
            return ObjectOf(kept, None if index is None else with_docs(index, change), note, index_key)
        case _:
            return shape


# --- text -------------------------------------------------------------------------------------------------------------


def render(shape: Shape, names: Mapping[Key, str], indent: str = "") -> str:
    """The text of a type; lines after the first start with `indent`."""
    match shape:
        case Keyword(word, note):
            return f"{word} /* {note} */" if note else word
        case Literal(text):
            return text
        case Reference(key):
            return names[key]
        case ArrayOf(item):
            return f"{_operand(item, names, indent)}[]"
        case TupleOf():
            return _render_tuple(shape, names, indent)
        case ObjectOf():
            return _render_object(shape, names, indent)
        case Union(members):
            return " | ".join(_operand(one, names, indent, among=Union) for one in members)
        case Intersection(members):
            return " & ".join(_operand(one, names, indent, among=Intersection) for one in members)


def _operand(shape: Shape, names: Mapping[Key, str], indent: str, among: type[Shape] | None = None) -> str:
    text = render(shape, names, indent)
    loose = isinstance(shape, Union | Intersection) and not (among is Union and isinstance(shape, Intersection))
    return f"({text})" if loose else text


def _render_tuple(shape: TupleOf, names: Mapping[Key, str], indent: str) -> str:
    items = [
        render(item, names, indent) if position < shape.required else f"{_operand(item, names, indent)}?"
        for position, item in enumerate(shape.items)
    ]
    if shape.rest is not None:
        items.append(f"...{_operand(shape.rest, names, indent)}[]")
    return f"[{', '.join(items)}]"


def _render_object(shape: ObjectOf, names: Mapping[Key, str], indent: str) -> str:
    if not shape.members:
        if shape.index is None:
            return f"{{ /* {shape.note} */ }}" if shape.note else "{}"
        if shape.index in (UNKNOWN, NEVER) and not shape.note and shape.index_key == "string":
            return f"Record<string, {render(shape.index, names)}>"
    lines = render_members(shape, names, indent + "  ")
    if not any(one.doc for one in shape.members) and not any("\n" in line for line in lines) and len(lines) < 5:
        short = f"{{ {' '.join(line.strip() for line in lines)} }}"
        if len(short) <= _LINE and "//" not in short:
            return short.replace("; }", " }")
    return "\n".join(["{", *lines, f"{indent}}}"])


def render_members(shape: ObjectOf, names: Mapping[Key, str], indent: str) -> list[str]:
    """The lines between the braces, each starting with `indent`."""
    lines = []
    for one in shape.members:
        lines += [indent + line for line in one.doc]
        mark = "" if one.required else "?"
        lines.append(f"{indent}{member(one.name)}{mark}: {render(one.shape, names, indent)};")
    if shape.index is not None:
        lines.append(f"{indent}[key: {shape.index_key}]: {render(shape.index, names, indent)};")
    if shape.note:
        lines.append(f"{indent}/* {shape.note} */")
    return lines
