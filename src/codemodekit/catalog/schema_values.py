"""Walks over values that may be of any depth and size: how much there is, the first part of it, its texts.

Knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from codemodekit._json import JsonValue

__all__ = ["digits_cost", "extent", "pointer_of", "sample", "scrubbed", "size"]


def extent(value: JsonValue, most: int, *, texts: bool) -> tuple[int, int]:
    """Nodes of the value and, if `texts` count, characters of its texts and names; more than `most` end the count.

    An integer of very many digits counts as the many nodes that it costs to compare.
    """
    pending: list[Any] = [[value]]
    nodes, characters = 0, 0
    while pending and nodes + characters <= most:
        node = pending.pop()
        members = node.values() if node.__class__ is dict else node
        nodes += len(members)
        # comparing classes, since this is done for every large result: what is JSON has no other
        pending += [one for one in members if one.__class__ is dict or one.__class__ is list]
        nodes += sum([digits_cost(one) for one in members if one.__class__ is int and not -_LARGE < one < _LARGE])
        if texts:
            characters += sum([len(one) for one in members if one.__class__ is str])
            characters += sum([len(name) for name in node if name.__class__ is str]) if members is not node else 0
    return nodes, characters


_LARGE: Final = 1 << 256


def digits_cost(number: int) -> int:
    """How many comparisons one with this integer is worth: the validator reads its digits each time."""
    bits = number.bit_length()
    return bits * bits >> 15


def size(value: JsonValue) -> int:
    """Number of nodes."""
    pending, seen = [value], 0
    while pending:
        node = pending.pop()
        seen += 1
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return seen


def sample(value: JsonValue, most: int) -> tuple[JsonValue, frozenset[tuple[str | int, ...]]]:
    """The value, or its first `most` nodes in breadth, and the places where something was left out."""
    root: list[JsonValue] = [value]
    cut: set[tuple[str | int, ...]] = set()
    pending: list[tuple[tuple[str | int, ...], Any, Any]] = [((), root, 0)]
    left = most
    for path, holder, key in pending:  # grows while it is walked
        node = holder[key]
        if not isinstance(node, dict | list):
            continue
        pairs = list(islice(node.items() if isinstance(node, dict) else enumerate(node), left))
        if len(pairs) < len(node):
            cut.add(path)
        left -= len(pairs)
        copy = dict(pairs) if isinstance(node, dict) else [member for _, member in pairs]
        holder[key] = copy
        pending.extend(((*path, step), copy, step) for step, _ in pairs)
    return root[0], frozenset(cut)


def pointer_of(value: JsonValue, text: str) -> str:
    """Pointer of the first place that holds a text, or of the object that has a property of that name."""
    return next((pointer for pointer, found in _texts(value) if found == text), "")


def _texts(value: JsonValue) -> Iterator[tuple[str, str]]:
    pending: list[tuple[str, JsonValue]] = [("", value)]
    while pending:
        pointer, node = pending.pop()
        if isinstance(node, str):
            yield pointer, node
        elif isinstance(node, dict):
            for key, member in node.items():
                yield pointer, key
                pending.append((f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", member))
        elif isinstance(node, list):
            pending.extend((f"{pointer}/{index}", member) for index, member in enumerate(node))


def scrubbed(value: JsonValue) -> JsonValue:
    """The value with lone surrogates, which no validator can read, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [scrubbed(member) for member in value]
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(member) for key, member in value.items()}
    return value
