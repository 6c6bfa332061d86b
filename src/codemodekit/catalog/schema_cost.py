"""How much work a schema can make of a value, told from the schema alone.

A validator follows every alternative at one place of a value: `{"allOf": [A, A]}` with A of the same form doubles at
each level, so forty small definitions would take years; so do two alternatives that both recurse under one property.
What it does at one place is multiplied by the places of the value: an enumeration of objects is compared with each item
of a list. Counted are subschemas, or whatever a measure says of each, along the worst path. Knows no validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from codemodekit._json import JsonValue
from codemodekit.catalog.patterns import CONTENT, CONTENT_SIZE, pattern_cost
from codemodekit.catalog.schema_references import References, refers
from codemodekit.catalog.schema_values import size

__all__ = ["TOO_COSTLY", "Charge", "Cost", "Survey", "cost_of"]

TOO_COSTLY: Final = "the schema multiplies its alternatives so often that checking a value could take for ever"

_CAP: Final = 1 << 50
_MANY: Final = 50_000
_SEVERAL: Final = 1_000

_HERE: Final = "."
_ANY_MEMBER: Final = "{}"
_ANY_ITEM: Final = "[]"

_ONE: Final = {
    **dict.fromkeys(("not", "if", "then", "else"), _HERE),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), _ANY_MEMBER),
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems", "contains"), _ANY_ITEM),
}
_LISTS: Final = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _HERE),
    # positions count as if they were one: a bound from above is enough
    **dict.fromkeys(("prefixItems", "items"), _ANY_ITEM),
}
_MAPS: Final = {**dict.fromkeys(("dependentSchemas", "dependencies"), _HERE), "patternProperties": _ANY_MEMBER}


@dataclass(frozen=True, slots=True)
class Cost:
    """What checking may take."""

    steps: int
    """Subschemas along the worst path, loops followed once."""
    branches: bool
    """Two alternatives recurse under one key, so that the depth of the value multiplies the work."""
    plain: bool = True
    """Every reference was followed for certain."""

    @property
    def refused(self) -> bool:
        """No bound on the value would help."""
        return self.steps > _MANY

    @property
    def metered(self) -> bool:
        """The work has to be counted while it is done, whatever the value."""
        return self.branches or self.steps > _SEVERAL or not self.plain


@dataclass(frozen=True, slots=True)
class Charge:
    """What a subschema and those that apply with it take at one place of a value."""

    work: int = 0
    """Whatever the place holds."""
    a_member: int = 0
    """For each property of an object: patterns tried on its name."""
    a_character: int = 0
    """For each character of a text: bytes of the programs it passes through."""
    backtracks: bool = False
    """A pattern there looks around or back."""

    def __add__(self, other: Charge) -> Charge:
        return Charge(
            min(_CAP, self.work + other.work),
            min(_CAP, self.a_member + other.a_member),
            min(_CAP, self.a_character + other.a_character),
            self.backtracks or other.backtracks,
        )


def cost_of(schema: JsonValue) -> Cost:
    """The cost of a schema; linear in its size."""
    return Survey(schema).cost


_Edges: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Subschemas with the key of the place they are about: this place, a member or an item of it."""


class Survey:
    """What is known of one schema's cost, each part found out when it is asked for."""

    def __init__(self, schema: JsonValue) -> None:
        self._root: dict[str, Any] = schema if isinstance(schema, dict) else {}
        self._edges: dict[int, _Edges] = {}
        self._charges: dict[int, Charge] = {}
        self._written: dict[int, Charge] = {}

    @cached_property
    def references(self) -> References:
        """Where the references of the schema lead."""
        return References(self._root)

    @cached_property
    def cost(self) -> Cost:
        """Subschemas that apply."""
        walk = self._walk(lambda _: 1)
        node = walk.visit(self._root)
        # an uncertain one may be in a part that no walk has reached: where another reference leads in truth
        plain = self.references.plain and not any(self.references.lost(schema) for schema in walk.schemas())
        return Cost(node.total(), any(found.branches() for found in walk.nodes.values()), plain)

    @cached_property
    def work(self) -> int:
        """The most that one path of a value costs, keywords weighed."""
        return self._most(lambda schema: own_charge(schema).work + own_charge(schema).a_member)

    @cached_property
    def text(self) -> int:
        """The most that one character of a text costs."""
        return self._most(lambda schema: own_charge(schema).a_character)

    @cached_property
    def words(self) -> int:
        """The most that the validator has to say of one path of a value."""
        return self._most(_words)

    def _most(self, measure: Callable[[dict[str, Any]], int]) -> int:
        return self._walk(measure).visit(self._root).total()

    def _walk(self, measure: Callable[[dict[str, Any]], int]) -> _Walk:
        return _Walk(self._edges_of, measure)

    def _edges_of(self, schema: dict[str, Any]) -> _Edges:
        edges = self._edges.get(id(schema))
        if edges is None:
            edges = list(_written_edges(schema))
            if refers(schema):
                edges += [(_HERE, part) for part in self.references.targets(schema) if isinstance(part, dict)]
            self._edges[id(schema)] = edges
        return edges

    def charge(self, schema: dict[str, Any]) -> Charge:
        """What a subschema takes at its place, with what is written inside it and what it refers to."""
        known = self._charges.get(id(schema))
        if known is None:
            known = self._charges[id(schema)] = self._charged(schema)
        return known

    def _charged(self, schema: dict[str, Any]) -> Charge:
        # What a reference leads to counts with it, but not the references there: each of them is charged by itself.
        whole = self._written_charge(schema)
        if not refers(schema):
            return whole
        for target in self.references.targets(schema):
            if isinstance(target, dict):
                whole += self._written_charge(target)
        certain = self.references.plain and not self.references.lost(schema)
        return whole if certain else whole + self._everything

    def _written_charge(self, schema: dict[str, Any]) -> Charge:
        """What a subschema takes with those written inside it for the same place."""
        known = self._written.get(id(schema))
        if known is None:
            known, pending = Charge(), [schema]
            while pending:
                node = pending.pop()
                known += own_charge(node)
                pending.extend(part for key, part in _written_edges(node) if key is _HERE)
            self._written[id(schema)] = known
        return known

    @cached_property
    def _everything(self) -> Charge:
        """What stands for the target of a reference that is not certain."""
        whole = Charge()
        values: list[JsonValue] = [self._root]
        while values:
            node = values.pop()
            if isinstance(node, dict):
                whole += own_charge(node)
            values.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        return whole


# --- what one subschema says by itself --------------------------------------------------------------------------------


def own_charge(schema: dict[str, Any]) -> Charge:
    """What a subschema takes at its place without the subschemas inside it."""
    if _WEIGHED.isdisjoint(schema):
        return _LIGHT
    work = 1 + _compared(schema) + _length(schema.get("required"))
    for keyword in ("dependentRequired", "dependencies"):
        work += sum(_length(names) for names in _dict(schema.get(keyword)).values())
    patterns = _dict(schema.get("patternProperties"))
    character, backtracks = CONTENT_SIZE * sum(keyword in schema for keyword in CONTENT), False
    for pattern in (schema.get("pattern"), *patterns):
        if isinstance(pattern, str) and (cost := pattern_cost(pattern)) is not None:
            character += cost.size
            backtracks = backtracks or cost.backtracks
    return Charge(work, len(patterns), character, backtracks)


_LIGHT: Final = Charge(1)
_WEIGHED: Final = frozenset(
    {"enum", "const", "required", "dependentRequired", "dependencies", "pattern", "patternProperties", *CONTENT}
)


def _compared(schema: dict[str, Any]) -> int:
    """Values compared one by one; texts alone, and integers alone, are found by their hash."""
    options = _list(schema.get("enum"))
    kinds = {type(option) for option in options}
    found = 0 if kinds in ({str}, {int}) else size(options)
    return found + (size(schema["const"]) if isinstance(schema.get("const"), dict | list) else 0)


def _words(schema: dict[str, Any]) -> int:
    said = 1 + size(schema.get("enum")) + size(schema.get("const")) + _length(schema.get("required"))
    for keyword in ("dependentRequired", "dependencies"):
        said += sum(_length(names) for names in _dict(schema.get(keyword)).values())
    return said + len(_dict(schema.get("patternProperties")))


# --- the walk ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    """What is known of one subschema."""

    schema: dict[str, Any]
    own: int
    edges: _Edges
    done: bool = False
    steps: dict[str, int] = field(default_factory=dict)
    """By key below this place, and for the place itself: what applies."""
    loops: dict[str, int] = field(default_factory=dict)
    """By key: edges from here into something that recurs."""
    recurs: bool = False

    def total(self) -> int:
        named = [count for key, count in self.steps.items() if key not in (_HERE, _ANY_MEMBER, _ANY_ITEM)]
        below = max(max(named, default=0) + self.steps.get(_ANY_MEMBER, 0), self.steps.get(_ANY_ITEM, 0))
        return min(_CAP, self.steps.get(_HERE, self.own) + below)

    def branches(self) -> bool:
        wild = self.loops.get(_ANY_MEMBER, 0)
        named = max((n for key, n in self.loops.items() if key not in (_ANY_MEMBER, _ANY_ITEM)), default=0)
        return named + wild > 1 or self.loops.get(_ANY_ITEM, 0) > 1


class _Walk:
    """Depth first over subschemas and references, without recursion: chains of references may be long."""

    def __init__(self, edges_of: Callable[[dict[str, Any]], _Edges], measure: Callable[[dict[str, Any]], int]) -> None:
        self._edges_of = edges_of
        self._measure = measure
        self.nodes: dict[int, _Node] = {}

    def visit(self, root: dict[str, Any]) -> _Node:
        """What is known of a subschema and of all that it leads to."""
        path = [(root, iter(self._enter(root).edges))]
        while path:
            schema, rest = path[-1]
            following = next((target for _, target in rest if id(target) not in self.nodes), None)
            if following is not None:
                path.append((following, iter(self._enter(following).edges)))
                continue
            self._leave(self.nodes[id(schema)])
            path.pop()
        return self.nodes[id(root)]

    def schemas(self) -> Iterator[dict[str, Any]]:
        """All that was visited."""
        return (node.schema for node in self.nodes.values())

    def _enter(self, schema: dict[str, Any]) -> _Node:
        node = _Node(schema, self._measure(schema), self._edges_of(schema))
        self.nodes[id(schema)] = node
        return node

    def _leave(self, node: _Node) -> None:
        steps, loops = {_HERE: node.own}, node.loops
        for key, target in node.edges:
            below = self.nodes[id(target)]
            recurs = below.recurs or not below.done
            node.recurs = node.recurs or recurs
            if key != _HERE:
                steps[key] = min(_CAP, steps.get(key, 0) + (below.total() if below.done else below.own))
                loops[key] = loops.get(key, 0) + recurs
                continue
            for inner, count in below.steps.items():
                steps[inner] = min(_CAP, steps.get(inner, 0) + count)
            for inner, count in below.loops.items():
                loops[inner] = loops.get(inner, 0) + count
        node.steps = steps
        node.done = True


def _written_edges(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The subschemas written in a subschema, each with the key of the place that it is about."""
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword == "properties":
                yield from ((f".{name}", part) for name, part in value.items() if isinstance(part, dict))
            elif (key := _MAPS.get(keyword)) is not None:
                yield from ((key, part) for part in value.values() if isinstance(part, dict))
            elif (key := _ONE.get(keyword)) is not None:
                yield key, value
        elif isinstance(value, list) and (key := _LISTS.get(keyword)) is not None:
            yield from ((key, part) for part in value if isinstance(part, dict))


def _length(value: JsonValue) -> int:
    return len(value) if isinstance(value, list) else 0


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
