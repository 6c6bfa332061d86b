"""A `$defs` that many schemas have in common: one table, one object, however many tools refer into it.

A schema holds the whole table as its `$defs`, so whoever follows a reference finds it where it always is. Whoever needs
a schema's text, hash or size asks here for the part it can reach: a table of thousands of entries is then never read
again for each of a thousand tools.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from codemodekit._json import JsonObject, JsonValue, canonical

__all__ = ["SharedDefinitions", "shared_definitions_of", "with_reached"]

_PREFIX: Final = "#/$defs/"


class SharedDefinitions(dict[str, Any]):
    """The table, not to be changed once a schema holds it.

    References into it are `#/$defs/NAME`; names hold nothing that a reference would have to escape.
    """

    __slots__ = ("_digests", "_links")

    def __init__(self, entries: Mapping[str, JsonValue]) -> None:
        super().__init__(entries)
        self._links: dict[str, tuple[str, ...]] = {}
        self._digests: dict[str, bytes] = {}

    def links(self, name: str) -> tuple[str, ...]:
        """The entries that an entry refers to itself."""
        found = self._links.get(name)
        if found is None:
            found = self._links[name] = self.named_in(self.get(name))
        return found

    def named_in(self, schema: JsonValue) -> tuple[str, ...]:
        """The entries a schema refers to, in the order of the names; its own `$defs`, if it is this table, left out."""
        return tuple(sorted({name for name in _references(schema, self) if name in self}))

    def reached_from(self, names: Iterable[str]) -> dict[str, Any]:
        """These entries and all they lead to, in the order of the names."""
        reached: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in reached and name in self:
                reached.add(name)
                pending.extend(self.links(name))
        return {name: self[name] for name in sorted(reached)}

    def digest_of(self, name: str) -> bytes:
        """A hash of an entry and of all it leads to: equal for equal content, whatever else the table holds."""
        if name not in self._digests:
            for ring in _rings(name, self.links, self._digests):
                self._digest(ring)
        return self._digests[name]

    def _digest(self, ring: list[str]) -> None:
        """Entries that lead to one another have one hash, and each its own on top of it."""
        inside = set(ring)
        below = {to for name in ring for to in self.links(name) if to not in inside}
        whole = hashlib.sha256()
        for name in sorted(ring):
            whole.update(canonical([name, self[name]]))
        for name in sorted(below):
            whole.update(name.encode("utf-8", "surrogatepass") + b"\0" + self._digests[name])
        shared = whole.digest()
        for name in ring:
            self._digests[name] = hashlib.sha256(shared + name.encode("utf-8", "surrogatepass")).digest()


def shared_definitions_of(schema: JsonValue) -> SharedDefinitions | None:
    """The table a schema refers into, if it has one."""
    found = schema.get("$defs") if isinstance(schema, Mapping) else None
    return found if isinstance(found, SharedDefinitions) else None


def with_reached(schema: JsonObject) -> JsonObject:
    """The schema with no more of its table than it can reach; any other schema as it is."""
    table = shared_definitions_of(schema)
    if table is None:
        return schema
    own = {key: value for key, value in schema.items() if key != "$defs"}
    reached = table.reached_from(table.named_in(own))
    return {**own, "$defs": reached} if reached else own


def _references(schema: JsonValue, table: SharedDefinitions) -> Iterator[str]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if node is table:
                continue
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith(_PREFIX):
                yield reference[len(_PREFIX) :].partition("/")[0]
            pending.extend(value for value in node.values() if isinstance(value, dict | list))
        elif isinstance(node, list):
            pending.extend(node)


def _rings(start: str, links: Any, done: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Groups of entries that lead to one another, those that are led to first (Tarjan 1972, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    path: list[tuple[str, Iterator[str]]] = []

    def enter(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        waiting.add(name)
        path.append((name, iter(links(name))))

    enter(start)
    while path:
        name, targets = path[-1]
        target = next((each for each in targets if each not in done), None)
        if target is None:
            path.pop()
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[name])
            if lowest[name] == order[name]:
                at = stack.index(name)
                ring, stack[at:] = stack[at:], []
                waiting.difference_update(ring)
                yield ring
        elif target not in order:
            enter(target)
        elif target in waiting:  # what is not, has its hash by now
            lowest[name] = min(lowest[name], order[target])
