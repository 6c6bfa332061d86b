"""Whether checking against a schema may take time exponential in the schema's own size.

A validator follows every alternative at one place of the value: `{"allOf": [A, A]}` with A of the same form doubles at
each level, so forty small definitions would take years. Counted before compiling, without following a value. Knows
nothing of validators.
"""

from __future__ import annotations

from typing import Any, Final

from codemodekit._json import JsonValue

__all__ = ["TOO_COSTLY", "is_costly"]

TOO_COSTLY: Final = "the schema multiplies its alternatives so often that checking a value could take for ever"

_MAX_STEPS: Final = 50_000
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLES: Final = ("not", "if", "then", "else")
_MAPS: Final = ("dependentSchemas", "dependencies")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def is_costly(schema: JsonValue) -> bool:
    """Whether more than a bounded number of subschemas may apply to one single place of a value."""
    if not isinstance(schema, dict):
        return False
    counter = _Counter(schema)
    return any(counter.steps(node) > _MAX_STEPS for node in counter.branching())


class _Counter:
    """Counts the subschemas that apply in place, each path to a subschema by itself; loops count once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self._anchors: dict[str, dict[str, Any]] = {}
        self._branching: list[dict[str, Any]] = []
        self._scan()

    def branching(self) -> list[dict[str, Any]]:
        """Subschemas that refer to another and branch: the only ones from which cost can multiply."""
        return self._branching

    def steps(self, node: dict[str, Any]) -> int:
        """Subschemas evaluated at the place where `node` applies, capped just above the bound."""
        path: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [(node, self._in_place(node))]
        self._known.setdefault(id(node), 1)
        while path:
            current, rest = path[-1]
            if rest:
                following = rest.pop()
                if id(following) not in self._known:
                    self._known[id(following)] = 1
                    path.append((following, self._in_place(following)))
                continue
            total = 1 + sum(self._known[id(part)] for part in self._in_place(current))
            self._known[id(current)] = min(total, _MAX_STEPS + 1)
            path.pop()
        return self._known[id(node)]

    def _scan(self) -> None:
        pending: list[JsonValue] = [self._root]
        while pending:
            node = pending.pop()
            if isinstance(node, list):
                pending.extend(node)
            elif isinstance(node, dict):
                self._note(node)
                pending.extend(node.values())

    def _note(self, node: dict[str, Any]) -> None:
        for keyword in ("$anchor", "$dynamicAnchor", "$id"):
            name = node.get(keyword)
            if isinstance(name, str):
                self._anchors.setdefault(name.lstrip("#"), node)
        if any(keyword in node for keyword in (*_LISTS, *_SINGLES, *_MAPS)):
            self._branching.append(node)

    def _in_place(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        parts: list[JsonValue] = []
        for keyword in _LISTS:
            members = node.get(keyword)
            parts.extend(members if isinstance(members, list) else ())
        parts.extend(node.get(keyword) for keyword in _SINGLES)
        for keyword in _MAPS:
            members = node.get(keyword)
            parts.extend(members.values() if isinstance(members, dict) else ())
        parts.extend(self._resolve(node.get(keyword)) for keyword in _REFERENCES)
        return [part for part in parts if isinstance(part, dict)]

    def _resolve(self, reference: JsonValue) -> JsonValue:
        if not isinstance(reference, str):
            return None
        if reference in ("#", ""):
            return self._root
        if not reference.startswith("#/"):
            return self._anchors.get(reference.lstrip("#"))
        node: JsonValue = self._root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                node = node.get(key)
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
        return node
