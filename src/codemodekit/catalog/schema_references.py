"""Where the references of one schema lead, and whether that is certain.

Certain is what needs no rule of identifiers: pointers from the root, and anchors that are there once. Where a schema
names a part of itself by `$id`, or a reference depends on the way that leads to it, whoever asks is told that the
answer is a guess: the validator goes by its own rules, and a schema made by an enemy by where ours differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from codemodekit._json import JsonValue

__all__ = ["REFERENCES", "References", "pointer_steps", "pointer_target", "refers"]

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_BY_THE_WAY: Final = ("$dynamicRef", "$recursiveRef")
_NAMES: Final = ("$anchor", "$dynamicAnchor", "$id")
_READ_TWO_WAYS: Final = ("%2f", "%7e", "%25")


class References:
    """The references of one schema."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self.plain = True
        """There is one rule by which every reference is read."""
        self._named: dict[str, dict[str, Any]] = {}
        self._read()

    def _read(self) -> None:
        pending: list[JsonValue] = [self._root]
        while pending:
            node = pending.pop()
            if isinstance(node, list):
                pending.extend(node)
            elif isinstance(node, dict):
                self._note(node)
                pending.extend(node.values())

    def _note(self, node: dict[str, Any]) -> None:
        if any(isinstance(node.get(keyword), str) for keyword in _BY_THE_WAY):
            self.plain = False
        for keyword in _NAMES:
            name = node.get(keyword)
            if not isinstance(name, str):
                continue
            if keyword == "$id" and not name.startswith("#"):
                self.plain = self.plain and node is self._root
            elif self._named.get(name.removeprefix("#"), node) is not node:
                self.plain = False
            self._named.setdefault(name.removeprefix("#"), node)

    def targets(self, schema: dict[str, Any]) -> Iterator[JsonValue]:
        """What the references of a subschema lead to, as far as it is known."""
        for keyword in REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                yield self._target(reference)

    def lost(self, schema: dict[str, Any]) -> bool:
        """Whether a reference of a subschema leads nobody here knows where."""
        return any(
            isinstance(reference := schema.get(keyword), str)
            and (self._target(reference) is None or any(odd in reference.lower() for odd in _READ_TWO_WAYS))
            for keyword in REFERENCES
        )

    def _target(self, reference: str) -> JsonValue:
        base, _, fragment = reference.partition("#")
        root = self._root if base in ("", self._root.get("$id")) else self._named.get(base)
        if root is None:
            return None
        if not fragment:
            return root
        if not fragment.startswith("/"):
            return self._named.get(unquote(fragment))
        return pointer_target(root, f"#{fragment}")


def refers(schema: dict[str, Any]) -> bool:
    """Whether a subschema is or holds a reference at its place."""
    return any(isinstance(schema.get(keyword), str) for keyword in REFERENCES)


def pointer_steps(reference: str) -> list[str] | None:
    """The names that a pointer from the root goes by; None for a reference of another kind."""
    if reference in ("#", ""):
        return []
    if not reference.startswith("#/"):
        return None
    return [step.replace("~1", "/").replace("~0", "~") for step in unquote(reference[2:]).split("/")]


def _step_into(node: JsonValue, name: str) -> JsonValue:
    """The part of a value that one step of a pointer leads to; None if there is none."""
    if isinstance(node, dict):
        return node.get(name)
    if isinstance(node, list) and name.isascii() and name.isdecimal() and len(name) < 10 and int(name) < len(node):
        return node[int(name)]
    return None


def pointer_target(schema: JsonValue, reference: str) -> JsonValue:
    """What a reference like `#/$defs/Pet` leads to; None if it is of another form or leads nowhere."""
    steps = pointer_steps(reference)
    if steps is None:
        return None
    for name in steps:
        schema = _step_into(schema, name)
    return schema
