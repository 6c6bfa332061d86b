"""Schemas of an OpenAPI document into JSON Schema 2020-12, with what they share under names in one table.

Nothing is ever put in the place of a reference: each schema that is referred to becomes an entry of the table once, and
recursion stays recursion. After the Schema Objects of Swagger 2.0, OpenAPI 3.0.4 and 3.1.1. A request may leave out
what is `readOnly` although it is required, an answer what is `writeOnly`; only where that makes a difference has an
entry a second form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from codemodekit._json import JsonObject, JsonValue
from codemodekit.providers.openapi.document import BrokenReference, Document, pointer_tokens

__all__ = ["Direction", "SchemaTable"]

Direction = Literal["request", "answer"]

_ONE: Final = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DROPPED: Final = frozenset(
    {"discriminator", "xml", "externalDocs", "example", "examples", "nullable", "$schema", "id"}
)
"""What JSON Schema has no use for, or has already found its way into something else."""

_EXCLUSIVE: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_MOST_DEPTH: Final = 200
_LOCAL: Final = "#/$defs/"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""What a reference would have to escape in a name."""


class SchemaTable:
    """Converts schemas; what they refer to collects in `entries`."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._siblings_count = document.version == "3.1"
        self.entries: dict[str, JsonObject | bool] = {}
        """The shared schemas by name, as `#/$defs/NAME` means them."""
        self._names: dict[tuple[str, Direction], str] = {}
        self._begun: list[tuple[str, Direction]] = []
        self._taken: set[str] = set()
        self._two_formed: dict[str, bool] = {}

    def convert(self, schema: JsonValue, direction: Direction) -> JsonObject | bool:
        """The schema, with its references leading into the table.

        Raises:
            BrokenReference: a reference leaves the document or leads nowhere.
        """
        self._begun.clear()
        try:
            return self._converted(schema, direction, 0)
        except BrokenReference:
            for key in self._begun:  # on the way, and not whole
                name = self._names.pop(key)
                self.entries.pop(name, None)
                self._taken.discard(name)
            raise

    # -- references ----------------------------------------------------------------------------------------------------

    def _entry(self, reference: JsonValue, direction: Direction, depth: int) -> str:
        """The name in the table of what a reference leads to, which is put there if it is new."""
        tokens = pointer_tokens(reference)
        pointer = str(reference)
        if direction == "request" and not self._differs(pointer):
            direction = "answer"
        known = self._names.get((pointer, direction))
        if known is not None:
            return known
        target = self._document.target(pointer)
        name = self._name(tokens, direction)
        self._names[pointer, direction] = name
        self._begun.append((pointer, direction))
        self.entries[name] = True  # stands in for itself while it is being made
        self.entries[name] = self._converted(target, direction, depth + 1)
        return name

    def _name(self, tokens: list[str], direction: Direction) -> str:
        word = tokens[-1] if tokens else "Document"
        if word.isdecimal() or word in ("schema", "items"):
            word = "_".join(tokens[-4:])
        word = _UNFIT.sub("_", word)
        if direction == "request":
            word += "Request"
        name, number = word, 2
        while name in self._taken:
            name, number = f"{word}_{number}", number + 1
        self._taken.add(name)
        return name

    def _differs(self, pointer: str) -> bool:
        """Whether what a pointer leads to, or anything it refers to, says something else in requests."""
        known = self._two_formed.get(pointer)
        if known is not None:
            return known
        reached: dict[str, set[str]] = {}
        own: set[str] = set()
        pending = [pointer]
        while pending:
            each = pending.pop()
            if each in reached:
                continue
            reached[each] = set()
            if each in self._two_formed:
                if self._two_formed[each]:
                    own.add(each)
                continue
            for schema in _subschemas(self._document.target(each)):
                if _is_partly_one_way(schema):
                    own.add(each)
                reference = schema.get("$ref")
                if isinstance(reference, str):
                    pointer_tokens(reference)
                    reached[each].add(reference)
                    pending.append(reference)
        self._settle(reached, own)
        return self._two_formed[pointer]

    def _settle(self, reached: Mapping[str, set[str]], own: set[str]) -> None:
        back: dict[str, set[str]] = {}
        for each, targets in reached.items():
            for target in targets:
                back.setdefault(target, set()).add(each)
        pending = list(own)
        differing: set[str] = set()
        while pending:
            each = pending.pop()
            if each not in differing:
                differing.add(each)
                pending.extend(back.get(each, ()))
        for each in reached:
            self._two_formed[each] = each in differing

    # -- one schema ----------------------------------------------------------------------------------------------------

    def _converted(self, schema: JsonValue, direction: Direction, depth: int) -> JsonObject | bool:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise BrokenReference(f"a schema is an object, not {type(schema).__name__}")
        if depth > _MOST_DEPTH:
            raise BrokenReference(f"a schema is nested deeper than {_MOST_DEPTH} levels")
        if "$ref" in schema:
            name = self._entry(schema["$ref"], direction, depth)
            link: dict[str, Any] = {"$ref": _LOCAL + name}
            if not self._siblings_count:
                kept = {key: schema[key] for key in ("description",) if isinstance(schema.get(key), str)}
                return link | kept
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return {**self._keywords(rest, direction, depth), **link}
        new = self._keywords(schema, direction, depth)
        if not self._siblings_count:
            _modernise(schema, new)
        return new

    def _keywords(self, schema: Mapping[str, Any], direction: Direction, depth: int) -> dict[str, Any]:
        new: dict[str, Any] = {}
        for keyword, value in schema.items():
            if keyword in _DROPPED or keyword.startswith("x-"):
                continue
            if keyword in _ONE and not isinstance(value, list):
                new[keyword] = self._converted(value, direction, depth + 1)
            elif keyword in _LISTS and isinstance(value, list):
                new[keyword] = [self._converted(each, direction, depth + 1) for each in value]
            elif keyword in _MAPS and isinstance(value, Mapping):
                new[keyword] = {key: self._converted(each, direction, depth + 1) for key, each in value.items()}
            else:
                new[keyword] = value
        _require(schema, new, direction)
        self._discriminate(schema, new)
        return new

    def _discriminate(self, schema: Mapping[str, Any], new: dict[str, Any]) -> None:
        """The alternatives of a discriminator, each with the value that chooses it."""
        discriminator = schema.get("discriminator")
        member = discriminator.get("propertyName") if isinstance(discriminator, Mapping) else None
        if not isinstance(member, str):
            return
        mapping = discriminator.get("mapping") if isinstance(discriminator, Mapping) else None
        values: dict[str, list[str]] = {}
        for value, target in (mapping if isinstance(mapping, Mapping) else {}).items():
            if isinstance(target, str):
                reference = target if target.startswith("#") else f"#/components/schemas/{target}"
                values.setdefault(reference, []).append(str(value))
        for keyword in ("oneOf", "anyOf"):
            alternatives = schema.get(keyword)
            if isinstance(alternatives, list) and keyword in new:
                new[keyword] = [
                    _chosen_by(member, values, given, made)
                    for given, made in zip(alternatives, new[keyword], strict=True)
                ]


def _chosen_by(member: str, values: Mapping[str, list[str]], given: Any, made: Any) -> Any:
    reference = given.get("$ref") if isinstance(given, Mapping) else None
    if not isinstance(reference, str):
        return made
    named = values.get(reference) or [pointer_tokens(reference)[-1]]
    choice = {"const": named[0]} if len(named) == 1 else {"enum": sorted(named)}
    return {"allOf": [made, {"type": "object", "properties": {member: choice}, "required": [member]}]}


def _require(schema: Mapping[str, Any], new: dict[str, Any], direction: Direction) -> None:
    """Keep of `required` what this direction asks for; the older form on a property itself means nothing."""
    required = schema.get("required")
    if not isinstance(required, list):
        new.pop("required", None)
        return
    left_out = "readOnly" if direction == "request" else "writeOnly"
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    kept = [name for name in dict.fromkeys(required) if not _says(properties.get(name), left_out)]
    if kept:
        new["required"] = kept
    else:
        new.pop("required", None)


def _says(schema: Any, keyword: str) -> bool:
    return isinstance(schema, Mapping) and schema.get(keyword) is True


def _is_partly_one_way(schema: Mapping[str, Any]) -> bool:
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, Mapping):
        return False
    return any(
        _says(properties.get(name), way)
        for name in required
        if isinstance(name, str)
        for way in ("readOnly", "writeOnly")
    )


def _modernise(schema: Mapping[str, Any], new: dict[str, Any]) -> None:
    """What 2.0 and 3.0 say in words of their own, in the words of 2020-12."""
    for exclusive, bound in _EXCLUSIVE:
        if isinstance(schema.get(exclusive), bool):
            del new[exclusive]
            if schema[exclusive] and bound in new:
                new[exclusive] = new.pop(bound)
    if schema.get("type") == "file":
        new["type"] = "string"
    if isinstance(schema.get("items"), list):
        new["prefixItems"] = new.pop("items")
    if schema.get("nullable") is True or schema.get("x-nullable") is True:
        _allow_null(new)


def _allow_null(new: dict[str, Any]) -> None:
    kind = new.get("type")
    if isinstance(kind, str) and not any(keyword in new for keyword in ("allOf", "anyOf", "oneOf", "not")):
        new["type"] = [kind, "null"]
        if isinstance(new.get("enum"), list) and None not in new["enum"]:
            new["enum"] = [*new["enum"], None]
        return
    # beside `allOf` and the like the type alone would not let null through
    described: dict[str, Any] = {
        key: new.pop(key) for key in ("title", "description", "default", "deprecated") if key in new
    }
    rest = dict(new)
    new.clear()
    new.update(described, anyOf=[rest, {"type": "null"}])


def _subschemas(schema: JsonValue) -> Iterator[Mapping[str, Any]]:
    """The schema and all inside of it, without following references."""
    pending = [schema]
    while pending:
        each = pending.pop()
        if not isinstance(each, Mapping):
            continue
        yield each
        for keyword, value in each.items():
            if keyword in _ONE:
                pending.append(value)
            elif keyword in _LISTS and isinstance(value, list):
                pending.extend(value)
            elif keyword in _MAPS and isinstance(value, Mapping):
                pending.extend(value.values())
