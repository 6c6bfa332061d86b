"""Writes named types as text: names them, gives types that tools of one source have in common once, keeps to a size.

A type that has no room is written with shorter comments, then without, then with the properties that fit; what comes
after is left out, and `unknown` stands in its place. What is written always stands for at least the values it should.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codemodekit.declarations.comments import comment, shortened
from codemodekit.declarations.names import TypeNames, tool_type_name, type_name
from codemodekit.declarations.schema_types import NamedType, SchemaTypes
from codemodekit.declarations.shapes import (
    UNKNOWN,
    Key,
    Keyword,
    ObjectOf,
    Reference,
    Shape,
    render,
    render_members,
    with_docs,
)
from codemodekit.declarations.soundness import mentioned

__all__ = ["TypeShelf", "TypeWriter"]

_LONGEST_INLINE: Final = 60
_MOST_SHARED: Final = 64
_ROOT_TEXT: Final = 400
_LEAST_ROOM: Final = 300
_TOO_LARGE: Final = Keyword("unknown", "too large to show")
_NOT_SHOWN: Final = "unknown /* not shown */"
_ROOT: Final[Key] = (-1, "")


class TypeShelf:
    """The types of one source that are written already."""

    def __init__(self, source: str, names: TypeNames) -> None:
        self.source = source
        self.names = names
        self.written: dict[str, str] = {}
        """From what a type and all it refers to say, to the name it has."""

    def writer(self, tool: str, room: int) -> TypeWriter:
        """Writes the types of one tool, about `room` characters of them."""
        return TypeWriter(self, tool, room)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which types are written, and what stands for each type that is mentioned."""

    types: tuple[NamedType, ...]
    names: Mapping[Key, str]
    whole: bool
    """Nothing was left out."""


class TypeWriter:
    """The types of one tool."""

    def __init__(self, shelf: TypeShelf, tool: str, room: int) -> None:
        self._shelf = shelf
        self._tool = tool
        self._room = room
        self.lines: list[str] = []

    def write(self, types: SchemaTypes, role: str, schema: Any) -> str:
        """Write what is new of a schema's types; the text that stands for its root comes back."""
        own_name = tool_type_name(self._shelf.source, self._tool, role)
        named = {one.key: one for one in types.named}
        words = {key: self._word(one, own_name) for key, one in named.items()}
        inline = _is_short(types.root, words)
        if not inline:
            named = {_ROOT: NamedType(_ROOT, "", types.root, _root_doc(schema)), **named}
        contents = _contents(types.named)
        chosen = self._select(
            list(mentioned(types.root)) if inline else [_ROOT], named, words | {_ROOT: own_name}, contents
        )
        self.lines += [_statement(chosen.names[one.key], one.shape, one.doc, chosen.names) for one in chosen.types]
        if chosen.whole:
            self._shelf.written |= {
                contents[one.key]: chosen.names[one.key] for one in chosen.types if one.key in contents
            }
        return render(types.root, chosen.names) if inline else chosen.names[_ROOT]

    def _word(self, one: NamedType, own_name: str) -> str:
        return type_name(self._shelf.source, one.hint) if one.hint else own_name

    def _select(
        self, first: list[Key], named: Mapping[Key, NamedType], words: Mapping[Key, str], contents: Mapping[Key, str]
    ) -> _Selection:
        """Take types in the order of their distance from the root while there is room for them."""
        names: dict[Key, str] = {}
        kept: list[NamedType] = []
        whole = True
        waiting = deque(first)
        while waiting:
            key = waiting.popleft()
            if key in names:
                continue
            if (known := self._shelf.written.get(contents.get(key, ""))) is not None:
                names[key] = known
                continue
            fitted = self._fit(named[key], words)
            if fitted is None:
                fitted, whole = self._part(named[key], words), False
            if fitted is None:
                names[key] = _NOT_SHOWN
                continue
            names[key] = self._shelf.names.take(words[key])
            kept.append(fitted)
            waiting.extend(mentioned(fitted.shape))
        return _Selection(tuple(kept), names, whole)

    def _fit(self, one: NamedType, words: Mapping[Key, str]) -> NamedType | None:
        """The type with as much of its comments as there is room for, which is then taken; None if it has no room."""
        short = replace(one, shape=with_docs(one.shape, shortened), doc=shortened(one.doc))
        for form in (one, short, _bare(one)):
            size = len(_statement(words[one.key], form.shape, form.doc, words))
            if size <= self._room:
                self._room -= size
                return form
        return None

    def _part(self, one: NamedType, words: Mapping[Key, str]) -> NamedType | None:
        """The first properties of an object, or `unknown` for a root; None stands for nothing at all."""
        one = _bare(one)
        if one.key != _ROOT and self._room < _LEAST_ROOM:
            return None
        if not isinstance(one.shape, ObjectOf):
            return replace(one, shape=_TOO_LARGE) if one.key == _ROOT else None
        kept = []
        self._room -= _LEAST_ROOM // 2
        for member in one.shape.members:
            size = len("\n".join(render_members(ObjectOf((member,)), words, "  "))) + 1
            if size > self._room:
                break
            self._room -= size
            kept.append(member)
        note = f"{len(one.shape.members) - len(kept)} more properties, not shown"
        return replace(one, shape=ObjectOf(tuple(kept), UNKNOWN, note))


def _bare(one: NamedType) -> NamedType:
    return replace(one, shape=with_docs(one.shape, lambda _: ()), doc=())


def _root_doc(schema: Any) -> tuple[str, ...]:
    said = schema.get("description") if isinstance(schema, Mapping) else None
    return comment(said, _ROOT_TEXT) if isinstance(said, str) else ()


def _is_short(root: Shape, words: Mapping[Key, str]) -> bool:
    """Whether the root of a schema needs no name of its own."""
    if isinstance(root, ObjectOf) and root.members:
        return False
    if isinstance(root, Reference):
        return True
    text = render(root, words)
    return len(text) <= _LONGEST_INLINE and "\n" not in text


def _statement(name: str, shape: Shape, doc: Sequence[str], names: Mapping[Key, str]) -> str:
    if isinstance(shape, ObjectOf):
        return "\n".join([*doc, f"interface {name} {{", *render_members(shape, names, "  "), "}"])
    return "\n".join([*doc, f"type {name} = {render(shape, names)};"])


def _contents(named: Sequence[NamedType]) -> dict[Key, str]:
    """What each type says with all it refers to, in a form that is equal only for types that are the same.

    All of it is compared and not what is near, since two recursive types may differ only far from their root. Types
    that refer to very many others are left out: comparing them would cost more than it saves.
    """
    alike = {one.key: "\0" for one in named}
    texts = {one.key: _digest(_statement(one.hint, one.shape, one.doc, alike)) for one in named}
    links = {one.key: list(mentioned(one.shape)) for one in named}
    contents = {}
    for one in named:
        reached = _reached(one.key, links)
        if len(reached) <= _MOST_SHARED:
            position = {key: at for at, key in enumerate(reached)}
            contents[one.key] = _digest(repr([(texts[key], [position[to] for to in links[key]]) for key in reached]))
    return contents


def _reached(start: Key, links: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """All that `start` refers to, itself first; more than _MOST_SHARED of them are not counted to the end."""
    reached: dict[Key, None] = {start: None}
    waiting = [start]
    while waiting and len(reached) <= _MOST_SHARED:
        for key in links[waiting.pop()]:
            if key not in reached:
                reached[key] = None
                waiting.append(key)
    return list(reached)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
