"""One schema document and the references inside it: pointers, anchors, `$id`.

Only ever looks inside the document it was given; a reference that leads elsewhere has no target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urljoin

from codemodekit._json import JsonObject

__all__ = ["Document", "Target"]

_ONE: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS: Final = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
_MOST_SUBSCHEMAS: Final = 100_000
_LONGEST_REFERENCE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to."""

    schema: Any
    base: str
    """URI that references inside of it are relative to."""
    name: str
    """A word for it, from the end of the reference."""


class Document:
    """A root schema, and an index of its `$id`s and anchors once one is asked for."""

    def __init__(self, root: Any) -> None:
        self.root = root
        dialect = root.get("$schema") if isinstance(root, Mapping) else None
        self.siblings_count = not (isinstance(dialect, str) and any(f"draft-0{n}" in dialect for n in "34567"))
        """False in old dialects, where nothing beside a `$ref` has a meaning."""
        self._clear()
        self._is_read = False
        if isinstance(root, Mapping):
            self._note(root, "")

    def base_within(self, schema: JsonObject, base: str) -> str:
        """The base URI inside `schema`, which may name itself with `$id`."""
        own = schema.get("$id")
        if not isinstance(own, str) or own.startswith("#") or self._is_only_reference(schema):
            return base
        return _join(base, own).partition("#")[0]

    def _is_only_reference(self, schema: JsonObject) -> bool:
        return not self.siblings_count and "$ref" in schema and schema is not self.root

    def resolve(self, reference: object, base: str) -> Target | None:
        """The target of `$ref`; None if it is not in this document."""
        if not isinstance(reference, str) or len(reference) > _LONGEST_REFERENCE:
            return None
        uri, _, fragment = _join(base, reference).partition("#")
        fragment = unquote(fragment)
        is_pointer = not fragment or fragment.startswith("/")
        if uri not in self._resources or not is_pointer:
            self._read()
        if uri not in self._resources:
            return None
        if is_pointer:
            return self._follow(self._resources[uri], uri, fragment)
        if (uri, fragment) in self._anchors:
            return Target(self._anchors[uri, fragment], uri, fragment)
        return None

    def resolve_dynamic(self, reference: object, base: str) -> Target | None:
        """The target of `$dynamicRef` where there is only one it can ever be."""
        target = self.resolve(reference, base)
        name = str(reference)[:_LONGEST_REFERENCE].partition("#")[2]
        if target is not None and not _says(target.schema, "$dynamicAnchor", name):
            return target  # what has no dynamic anchor of that name is referred to as by `$ref`
        self._read()
        return _only(self._dynamic.get(name, []))

    def resolve_recursive(self, base: str) -> Target | None:
        """The target of `$recursiveRef` where there is only one it can ever be."""
        target = self.resolve("#", base)
        if target is None or not _says(target.schema, "$recursiveAnchor", True):
            return target
        self._read()
        return _only(self._recursive)

    def _follow(self, schema: Any, base: str, pointer: str) -> Target | None:
        name = "Root"
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, Mapping) and name in schema:
                schema = schema[name]
            elif isinstance(schema, list | tuple) and name.isdecimal() and int(name[:9]) < len(schema):
                schema = schema[int(name[:9])]
            else:
                return None
            if isinstance(schema, Mapping):
                base = self.base_within(schema, base)
        return Target(schema, base, name)

    def _clear(self) -> None:
        self._resources: dict[str, Any] = {"": self.root}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, list[Target]] = {}
        self._recursive: list[Target] = []

    def _read(self) -> None:
        # Only when a reference needs it: nearly all are pointers from the root, and a large table of components comes
        # along with every single operation that refers to one of them.
        if self._is_read:
            return
        self._is_read = True
        self._clear()
        waiting: list[tuple[Any, str]] = [(self.root, "")]
        seen: set[tuple[int, str]] = set()
        while waiting and len(seen) < _MOST_SUBSCHEMAS:
            schema, base = waiting.pop()
            if isinstance(schema, Mapping) and (id(schema), base) not in seen:
                seen.add((id(schema), base))
                base = self._note(schema, base)
                waiting.extend((part, base) for part in _subschemas(schema))

    def _note(self, schema: JsonObject, base: str) -> str:
        inner = self.base_within(schema, base)
        if inner != base:
            self._resources.setdefault(inner, schema)
            if schema is self.root:
                self._resources[""] = schema
        if schema.get("$recursiveAnchor") is True:
            self._recursive.append(Target(schema, inner, "Root"))
        for keyword in ("$anchor", "$dynamicAnchor", "$id"):
            name = schema.get(keyword)
            if self._is_only_reference(schema):
                break
            if not isinstance(name, str) or (keyword == "$id" and not name.startswith("#")):
                continue
            name = name.removeprefix("#")
            self._anchors.setdefault((inner, name), schema)
            if keyword == "$dynamicAnchor":
                self._dynamic.setdefault(name, []).append(Target(schema, inner, name))
        return inner


def _says(schema: Any, keyword: str, value: object) -> bool:
    return isinstance(schema, Mapping) and schema.get(keyword) == value


def _only(targets: list[Target]) -> Target | None:
    return targets[0] if len(targets) == 1 else None


def _subschemas(schema: JsonObject) -> Iterator[Any]:
    for keyword in _ONE:
        if keyword in schema:
            yield schema[keyword]
    for keyword in _LISTS:
        parts = schema.get(keyword)
        if isinstance(parts, Sequence) and not isinstance(parts, str):
            yield from parts
    for keyword in _MAPS:
        parts = schema.get(keyword)
        if isinstance(parts, Mapping):
            yield from parts.values()


def _join(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return base + reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
