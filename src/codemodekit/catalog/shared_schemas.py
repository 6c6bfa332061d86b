"""The checks of one source's schemas, those over a shared table among them.

A table is looked through once, however many tools refer into it; a tool's own part is looked through by itself. What is
found sound is compiled when it is first used. Whatever looks odd goes the way of every other schema: compiled whole, at
once, with the reason if it cannot be enforced.
"""

from __future__ import annotations

import hashlib
from typing import Any

from codemodekit._json import JsonObject, JsonValue, canonical
from codemodekit.catalog.schemas import SchemaCheck, SchemaUnsupported, compile_schema, is_sound, remembered
from codemodekit.shared_definitions import SharedDefinitions, shared_definitions_of, with_reached

__all__ = ["Checks"]


class Checks:
    """Makes checks; meant for the schemas of one listing."""

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {}

    def of(self, schema: JsonValue, side: str) -> SchemaCheck:
        """The check of a schema; `side` says in messages which of a tool's two it is.

        Raises:
            SchemaUnsupported: it cannot be enforced.
        """
        try:
            table = shared_definitions_of(schema)
            return compile_schema(schema) if table is None else self._table(table).check(schema)
        except SchemaUnsupported as fault:
            raise SchemaUnsupported(f"{side} schema: {fault}") from fault

    def _table(self, table: SharedDefinitions) -> _Table:
        found = self._tables.get(id(table))
        if found is None:
            found = self._tables[id(table)] = _Table(table)
        return found


class _Table:
    def __init__(self, table: SharedDefinitions) -> None:
        self._table = table
        self._doubtful = _doubtful(table)

    def check(self, schema: JsonObject) -> SchemaCheck:
        own = {key: value for key, value in schema.items() if key != "$defs"}
        names = self._table.named_in(own)
        try:
            text = canonical(own)
        except (TypeError, ValueError, RecursionError):
            return compile_schema(own)  # which says why
        doubtful = "$schema" in own or not self._doubtful.isdisjoint(names)
        if doubtful or not is_sound(own, text, self._table):
            return compile_schema(with_reached(schema))
        digest = hashlib.sha256(text + b"".join(map(self._table.digest_of, names))).hexdigest()
        return remembered(digest, lambda: SchemaCheck(digest, dict(schema), None))


def _doubtful(table: SharedDefinitions) -> frozenset[str]:
    """Entries that are not known to be sound, and all that lead to one."""
    if is_sound({"$defs": dict(table)}, canonical(dict(table))):
        return frozenset()
    found = {name for name, entry in table.items() if not _is_sound(entry, table)}
    back: dict[str, list[str]] = {}
    for name in table:
        for target in table.links(name):
            back.setdefault(target, []).append(name)
    pending = list(found)
    while pending:
        for name in back.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return frozenset(found)


def _is_sound(entry: Any, table: SharedDefinitions) -> bool:
    return isinstance(entry, bool) or is_sound(entry, canonical(entry), table)
