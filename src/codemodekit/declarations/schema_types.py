"""From one JSON Schema to TypeScript types: a root shape and the named types it refers to.

The types are a conservative projection: a value the schema accepts fits the type, except that an object schema which
does not forbid further properties still becomes a plain interface, so that a misspelt property is an error for the
program's author. That holds for inputs and outputs alike: a result may carry more than its type says, but reading a
property the source never declared is more often a mistake than knowledge. `not`, `if`, `contains` and whatever else
TypeScript has no words for only ever leave the type wider. A keyword such as `properties` without `type` is read as
"an object", which is what its authors mean.

Works on any value whatsoever: depth, number of subschemas, size of enumerations are bounded, and what is beyond becomes
`unknown` with a comment that says so. Knows nothing of tools.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from codemodekit._json import JsonObject
from codemodekit.declarations.comments import schema_comment
from codemodekit.declarations.documents import Document, Target
from codemodekit.declarations.enumerations import JSON_TYPES, SCALARS, enumeration
from codemodekit.declarations.shapes import (
    NEVER,
    NULL,
    UNKNOWN,
    ArrayOf,
    Intersection,
    Key,
    Keyword,
    Member,
    ObjectOf,
    Reference,
    Shape,
    TupleOf,
    Union,
    intersection,
    union,
)
from codemodekit.declarations.soundness import make_sound
from codemodekit.declarations.unnamed import UnnamedProperties, allowed_names, common_prefix, patterns_note

__all__ = ["Bounds", "NamedType", "SchemaTypes", "accepts_empty_object", "convert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much of one schema is shown."""

    subschemas: int = 2_500
    """Subschemas that are converted, in the order of their appearance, nearest to the root first."""
    depth: int = 20
    """Nesting within one type."""
    literals: int = 120
    """Values of one enumeration."""
    literal_text: int = 4_000
    """Characters of all values of one enumeration."""


@dataclass(frozen=True, slots=True)
class NamedType:
    """A referenced type; `hint` is the word its document has for it."""

    key: Key
    hint: str
    """Empty for the root of the document, if something refers to it."""
    shape: Shape
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaTypes:
    """What a schema became."""

    root: Shape
    named: tuple[NamedType, ...]
    """In the order in which they are first mentioned."""


def convert(schema: Any, bounds: Bounds | None = None) -> SchemaTypes:
    """The types of a schema; never raises for anything it holds."""
    return _sound(_Conversion(Document(schema), bounds or Bounds()).run())


def _sound(types: SchemaTypes) -> SchemaTypes:
    """The same types without what the TypeScript compiler refuses to resolve."""
    root, shapes = make_sound(types.root, {one.key: one.shape for one in types.named})
    return SchemaTypes(root, tuple(replace(one, shape=shapes[one.key]) for one in types.named))


def accepts_empty_object(types: SchemaTypes) -> bool:
    """Whether `{}` fits, so that a call without an argument is one with an empty object."""
    shapes = {one.key: one.shape for one in types.named}
    seen: set[Key] = set()

    def fits(shape: Shape, depth: int) -> bool:
        while isinstance(shape, Reference):
            if shape.key in seen:
                return False
            seen.add(shape.key)
            shape = shapes[shape.key]
        if depth > _FAR:
            return True
        match shape:
            case ObjectOf(members):
                return not any(one.required for one in members)
            case Union(members):
                return any(fits(one, depth + 1) for one in members)
            case Intersection(members):
                return all(fits(one, depth + 1) for one in members)
            case Keyword(word):
                return word == UNKNOWN.word
            case _:
                return False

    return fits(types.root, 0)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a document a subschema stands."""

    base: str
    depth: int = 0
    types: frozenset[str] | None = None
    """What the schemas around it, which apply to the same value, say the value's type is."""
    properties: tuple[JsonObject, ...] = ()
    """The properties they declare, nearest first."""

    def inside(self) -> _Place:
        """For a part of the value."""
        return _Place(self.base, self.depth + 1)


_OBJECT_KEYWORDS: Final = ("properties", "required", "additionalProperties", "patternProperties", "propertyNames")
_ARRAY_KEYWORDS: Final = ("items", "prefixItems", "additionalItems")
_IN_PLACE: Final = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_TOO_DEEP: Final = Keyword("unknown", "nested too deeply to show")
_TOO_MUCH: Final = Keyword("unknown", "too large to show")
_ELSEWHERE: Final = Keyword("unknown", "refers to something outside of its schema")
_ROOT: Final[Key] = (0, "")
_LONGEST_NAME: Final = 1_000
_FAR: Final = 50


class _Conversion:
    def __init__(self, document: Document, bounds: Bounds) -> None:
        self._document = document
        self._bounds = bounds
        self._left = bounds.subschemas
        self._known: set[Key] = set()
        self._root_is_mentioned = False
        self._waiting: deque[tuple[Key, Target]] = deque()

    def run(self) -> SchemaTypes:
        # Referenced types wait in a queue instead of being converted where they are mentioned: no recursion however
        # long a chain of references is, and when the budget ends it is the remotest types that are missing.
        root = self._shape(self._document.root, _Place(""))
        named = []
        while self._waiting:
            key, target = self._waiting.popleft()
            shape = self._shape(target.schema, _Place(target.base))
            named.append(NamedType(key, target.name, shape, schema_comment(target.schema, target.name)))
        if not self._root_is_mentioned:
            return SchemaTypes(root, tuple(named))
        return SchemaTypes(Reference(_ROOT), (NamedType(_ROOT, "", root, ()), *named))

    # --- one schema ---------------------------------------------------------------------------------------------------

    def _shape(self, schema: Any, place: _Place) -> Shape:
        if schema is False:
            return NEVER
        if not isinstance(schema, Mapping) or not schema:
            return UNKNOWN
        if place.depth > self._bounds.depth:
            return _TOO_DEEP
        if self._left <= 0:
            return _TOO_MUCH
        self._left -= 1
        if (scalar := _scalar(schema)) is not None:
            return scalar
        place = replace(place, base=self._document.base_within(schema, place.base))
        parts = self._references(schema, place)
        if not parts or self._document.siblings_count:
            parts += self._own_parts(schema, place)
        shape = intersection(parts)
        return union((shape, NULL)) if schema.get("nullable") is True else shape

    def _own_parts(self, schema: JsonObject, place: _Place) -> list[Shape]:
        types = _types(schema, place)
        parts = [self._own(schema, types, place)]
        properties = _mapping(schema, "properties")
        around = (properties, *place.properties) if properties else place.properties
        branch = replace(place, depth=place.depth + 1, types=types, properties=around)
        parts += (self._shape(part, branch) for part in _sequence(schema, "allOf"))
        for keyword in ("anyOf", "oneOf"):
            if choices := _sequence(schema, keyword):
                parts.append(union(self._shape(choice, branch) for choice in choices))
        return parts

    def _own(self, schema: JsonObject, types: frozenset[str] | None, place: _Place) -> Shape:
        if "const" in schema:
            return enumeration([schema["const"]], types, self._bounds.literals, self._bounds.literal_text)
        if isinstance(values := schema.get("enum"), Sequence) and not isinstance(values, str):
            return enumeration(values, types, self._bounds.literals, self._bounds.literal_text)
        if types is None:
            return UNKNOWN
        declared = "type" in schema
        if not declared and not any(keyword in schema for keyword in (*_OBJECT_KEYWORDS, *_ARRAY_KEYWORDS)):
            return UNKNOWN
        return union(self._typed(name, schema, place) for name in JSON_TYPES if name in types)

    def _typed(self, name: str, schema: JsonObject, place: _Place) -> Shape:
        if name == "object":
            return self._object(schema, place)
        if name == "array":
            return self._array(schema, place)
        return SCALARS[name]

    # --- references ---------------------------------------------------------------------------------------------------

    def _references(self, schema: JsonObject, place: _Place) -> list[Shape]:
        parts = []
        if "$ref" in schema:
            parts.append(self._reference(self._document.resolve(schema["$ref"], place.base)))
        if "$dynamicRef" in schema:
            target = self._document.resolve_dynamic(schema["$dynamicRef"], place.base)
            parts.append(UNKNOWN if target is None else self._reference(target))
        if "$recursiveRef" in schema:
            target = self._document.resolve_recursive(place.base)
            parts.append(UNKNOWN if target is None else self._reference(target))
        return parts

    def _reference(self, target: Target | None) -> Shape:
        if target is None:
            return _ELSEWHERE
        if not isinstance(target.schema, Mapping):
            return NEVER if target.schema is False else UNKNOWN
        if (scalar := _scalar(target.schema)) is not None:
            return scalar
        if target.schema is self._document.root:
            self._root_is_mentioned = True
            return Reference(_ROOT)
        key = (id(target.schema), target.base)
        if key not in self._known:
            if self._left <= 0:
                return _TOO_MUCH
            self._known.add(key)
            self._waiting.append((key, target))
        return Reference(key)

    # --- objects ------------------------------------------------------------------------------------------------------

    def _object(self, schema: JsonObject, place: _Place) -> Shape:
        properties = _mapping(schema, "properties")
        names = _sequence(schema, "required")
        required = {name for name in names if isinstance(name, str)}
        members: list[Member] = []
        for name, part in properties.items():
            if self._left <= 0 or len(name) > _LONGEST_NAME:
                return ObjectOf(tuple(members), UNKNOWN, f"{len(properties) - len(members)} more properties, not shown")
            members.append(
                Member(name, self._shape(part, place.inside()), name in required, self._doc(part, name, place))
            )
        index = self._index(schema, place)
        if not members and index.shape != NEVER and (allowed := allowed_names(schema)):
            return ObjectOf(tuple(Member(name, index.of(name), name in required) for name in allowed))
        for name in names:
            if name in required and name not in properties and len(name) <= _LONGEST_NAME and self._left > 0:
                required.discard(name)
                members.append(self._required_only(name, index, place))
        return index.beside(members)

    def _required_only(self, name: str, index: UnnamedProperties, place: _Place) -> Member:
        self._left -= 1
        part = next((properties[name] for properties in place.properties if name in properties), None)
        if part is None:
            return Member(name, index.of(name), True)
        return Member(name, self._shape(part, place.inside()), True, self._doc(part, name, place))

    def _index(self, schema: JsonObject, place: _Place) -> UnnamedProperties:
        """What properties that are not named may be."""
        more = schema.get("additionalProperties")
        if more is None and "unevaluatedProperties" in schema and not any(name in schema for name in _IN_PLACE):
            more = schema["unevaluatedProperties"]
        if not isinstance(more, bool | Mapping):
            more = None
        patterns = _mapping(schema, "patternProperties")
        parts = [self._shape(part, place.inside()) for part in patterns.values()]
        says_more = isinstance(more, Mapping) or more is True
        if len(parts) == 1 and not says_more and (prefix := common_prefix(next(iter(patterns)))):
            return UnnamedProperties(parts[0], prefix)
        if says_more:
            parts.append(self._shape(more, place.inside()))
        if more is None:
            return UnnamedProperties(UNKNOWN if parts else None, note=patterns_note(patterns))
        return UnnamedProperties(union(parts), note=patterns_note(patterns))

    def _doc(self, schema: Any, name: str, place: _Place) -> tuple[str, ...]:
        if isinstance(schema, Mapping) and "$ref" in schema and "description" not in schema:
            target = self._document.resolve(schema["$ref"], place.base)
            if target is not None and isinstance(target.schema, Mapping) and _scalar(target.schema) is not None:
                return schema_comment({**target.schema, **schema}, name)
        return schema_comment(schema, name)

    # --- arrays -------------------------------------------------------------------------------------------------------

    def _array(self, schema: JsonObject, place: _Place) -> Shape:
        first = schema.get("prefixItems")
        rest = schema.get("items", schema.get("unevaluatedItems"))
        if isinstance(schema.get("items"), Sequence):
            first, rest = schema["items"], schema.get("additionalItems", True)
        if "items" not in schema and any(keyword in schema for keyword in (*_IN_PLACE, "contains")):
            rest = True
        if not isinstance(first, Sequence) or isinstance(first, str) or not first:
            return ArrayOf(UNKNOWN if rest is None else self._shape(rest, place.inside()))
        return self._tuple(schema, first, rest, place)

    def _tuple(self, schema: JsonObject, first: Sequence[Any], rest: Any, place: _Place) -> Shape:
        most = schema.get("maxItems")
        if isinstance(most, int) and most <= len(first):
            first, rest = first[: max(most, 0)], False
        if len(first) > self._left:
            return ArrayOf(_TOO_MUCH)
        items = tuple(self._shape(part, place.inside()) for part in first)
        least = schema.get("minItems")
        required = max(0, min(math.ceil(least), len(items))) if _is_finite(least) else 0
        if rest is False:
            return TupleOf(items, required)
        return TupleOf(items, required, UNKNOWN if rest is None else self._shape(rest, place.inside()))


# --- helpers that need no document ------------------------------------------------------------------------------------


def _types(schema: JsonObject, place: _Place) -> frozenset[str] | None:
    """The JSON types the value may have; None if nothing says so."""
    declared = schema.get("type")
    names = [declared] if isinstance(declared, str) else declared if isinstance(declared, Sequence) else []
    known = frozenset(name for name in names if isinstance(name, str) and name in JSON_TYPES)
    if known:
        return known
    if place.types is not None:
        return place.types
    meant = set()
    if any(keyword in schema for keyword in _OBJECT_KEYWORDS):
        meant.add("object")
    if any(keyword in schema for keyword in _ARRAY_KEYWORDS):
        meant.add("array")
    return frozenset(meant) or None


_SHAPING: Final = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "enum", "const", "nullable", "$id"}
)


def _scalar(schema: JsonObject) -> Shape | None:
    """The shape of a schema that is nothing but a scalar: a name would only hide it."""
    name = schema.get("type")
    if isinstance(name, str) and _SHAPING.isdisjoint(schema):
        return SCALARS.get(name)
    return None


def _is_finite(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _mapping(schema: JsonObject, keyword: str) -> JsonObject:
    value = schema.get(keyword)
    if not isinstance(value, Mapping):
        return {}
    return value if all(isinstance(name, str) for name in value) else {str(name): part for name, part in value.items()}


def _sequence(schema: JsonObject, keyword: str) -> Sequence[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list | tuple) else ()
