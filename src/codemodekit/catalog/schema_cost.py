"""How much work a schema can make of one value, told from the schema alone.

A validator follows every alternative at one place of a value: `{"allOf": [A, A]}` with A of the same form doubles at
each level, so forty small definitions would take years; so do two alternatives that both recurse under one property.
Counted are the subschemas that can apply to a single place and the places below it, along the worst path. Knows no
validator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from codemodekit._json import JsonValue

__all__ = ["TOO_COSTLY", "Cost", "cost_of", "pointer_target"]

TOO_COSTLY: Final = "the schema multiplies its alternatives so often that checking a value could take for ever"

_CAP: Final = 1_000_000
_MANY: Final = 50_000
_SEVERAL: Final = 1_000

_HERE: Final = "."
_ANY_MEMBER: Final = "{}"
_ANY_ITEM: Final = "[]"

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("not", "if", "then", "else")
_IN_PLACE_MAPS: Final = ("dependentSchemas", "dependencies")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS: Final = ("items", "additionalItems", "unevaluatedItems", "contains")


@dataclass(frozen=True, slots=True)
class Cost:
    """What checking may take."""

    steps: int
    """Subschemas along the worst path, loops followed once."""
    branches: bool
    """Two alternatives recurse under one key, so that the depth of the value multiplies the work."""

    @property
    def refused(self) -> bool:
        """No bound on the value would help."""
        return self.steps > _MANY

    @property
    def metered(self) -> bool:
        """The work has to be counted while it is done."""
        return self.branches or self.steps > _SEVERAL


def cost_of(schema: JsonValue) -> Cost:
    """The cost of a schema; linear in its size."""
    if not isinstance(schema, dict):
        return Cost(1, False)
    return _Walk(schema).run()


@dataclass(slots=True)
class _Node:
    """What is known of one subschema."""

    edges: list[tuple[str, dict[str, Any]]]
    done: bool = False
    steps: dict[str, int] = field(default_factory=dict)
    """By key below this place, and for the place itself: subschemas that apply."""
    loops: dict[str, int] = field(default_factory=dict)
    """By key: edges from here into something that recurs."""
    recurs: bool = False

    def total(self) -> int:
        named = [count for key, count in self.steps.items() if key not in (_HERE, _ANY_MEMBER, _ANY_ITEM)]
        below = max(max(named, default=0) + self.steps.get(_ANY_MEMBER, 0), self.steps.get(_ANY_ITEM, 0))
        return min(_CAP, self.steps.get(_HERE, 1) + below)

    def branches(self) -> bool:
        wild = self.loops.get(_ANY_MEMBER, 0)
        named = max((n for key, n in self.loops.items() if key not in (_ANY_MEMBER, _ANY_ITEM)), default=0)
        return named + wild > 1 or self.loops.get(_ANY_ITEM, 0) > 1


class _Walk:
    """Depth first over subschemas and references, without recursion: chains of references may be long."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._named = _anchors(root)
        self._nodes: dict[int, _Node] = {}

    def run(self) -> Cost:
        node = self._visit(self._root)
        return Cost(node.total(), any(found.branches() for found in self._nodes.values()))

    def _visit(self, root: dict[str, Any]) -> _Node:
        path = [(root, iter(self._enter(root).edges))]
        while path:
            schema, rest = path[-1]
            following = next((target for _, target in rest if id(target) not in self._nodes), None)
            if following is not None:
                path.append((following, iter(self._enter(following).edges)))
                continue
            self._leave(self._nodes[id(schema)])
            path.pop()
        return self._nodes[id(root)]

    def _enter(self, schema: dict[str, Any]) -> _Node:
        node = _Node([(key, part) for key, part in self._edges(schema) if isinstance(part, dict)])
        self._nodes[id(schema)] = node
        return node

    def _leave(self, node: _Node) -> None:
        steps, loops = {_HERE: 1}, node.loops
        for key, target in node.edges:
            below = self._nodes[id(target)]
            recurs = below.recurs or not below.done
            node.recurs = node.recurs or recurs
            if key != _HERE:
                steps[key] = min(_CAP, steps.get(key, 0) + (below.total() if below.done else 1))
                loops[key] = loops.get(key, 0) + recurs
                continue
            for inner, count in below.steps.items():
                steps[inner] = min(_CAP, steps.get(inner, 0) + count)
            for inner, count in below.loops.items():
                loops[inner] = loops.get(inner, 0) + count
        node.steps = steps
        node.done = True

    def _edges(self, schema: dict[str, Any]) -> Iterator[tuple[str, JsonValue]]:
        for keyword in _IN_PLACE_LISTS:
            yield from ((_HERE, part) for part in _list(schema.get(keyword)))
        for keyword in _IN_PLACE_MAPS:
            yield from ((_HERE, part) for part in _dict(schema.get(keyword)).values())
        yield from ((_HERE, schema.get(keyword)) for keyword in _IN_PLACE)
        yield from ((_HERE, self._target(schema.get(keyword))) for keyword in _REFERENCES)
        yield from ((f".{name}", part) for name, part in _dict(schema.get("properties")).items())
        yield from ((_ANY_MEMBER, part) for part in _dict(schema.get("patternProperties")).values())
        yield from ((_ANY_MEMBER, schema.get(keyword)) for keyword in _MEMBERS)
        yield from ((_ANY_ITEM, schema.get(keyword)) for keyword in _ITEMS)
        # positions count as if they were one: a bound from above is enough
        yield from ((_ANY_ITEM, part) for part in _list(schema.get("prefixItems")))
        yield from ((_ANY_ITEM, part) for part in _list(schema.get("items")))

    def _target(self, reference: JsonValue) -> JsonValue:
        if not isinstance(reference, str):
            return None
        if reference in ("#", ""):
            return self._root
        if "#/" not in reference:
            return self._named.get(reference.lstrip("#"))
        base, pointer = reference.split("#/", 1)
        return _pointed(self._named.get(base, self._root) if base else self._root, pointer)


def pointer_target(schema: JsonValue, reference: str) -> JsonValue:
    """What a reference like `#/$defs/Pet` leads to; None if it is of another form or leads nowhere."""
    if reference == "#":
        return schema
    return _pointed(schema, reference[2:]) if reference.startswith("#/") else None


def _pointed(node: JsonValue, pointer: str) -> JsonValue:
    for part in pointer.split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _anchors(root: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Subschemas by anchor and by the last part of their identifier."""
    found: dict[str, dict[str, Any]] = {}
    pending: list[JsonValue] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            for keyword in ("$anchor", "$dynamicAnchor", "$id"):
                name = node.get(keyword)
                if isinstance(name, str):
                    found.setdefault(name.lstrip("#"), node)
            pending.extend(node.values())
    return found


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
