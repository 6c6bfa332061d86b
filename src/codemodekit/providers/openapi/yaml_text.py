"""YAML text into JSON values, as YAML 1.2's JSON schema reads it: no dates, no `yes` for true, keys that are text.

The parser is PyYAML's; which scalars mean what, and which tags exist, is said here. Text is hostile: no tag makes
anything but JSON, and aliases may neither multiply beyond a bound nor lead around.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from codemodekit._json import JsonValue

__all__ = ["read_yaml"]

_MOST_NODES: Final = 8_000_000
"""Values in all once aliases are followed; the largest public documents have about five million."""


def read_yaml(text: bytes) -> JsonValue:
    """Parse one YAML document.

    Raises:
        ValueError: it is no YAML, or no JSON value.
        RecursionError: nested too deeply.
    """
    try:
        value = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    _bounded(value)
    return value


_TAG: Final = "tag:yaml.org,2002:"
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc] # whichever of the two there is
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        self.flatten_mapping(node)
        return {self._key(key): self.construct_object(value, deep=True) for key, value in node.value}

    def _key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is text", node.start_mark)
        return str(node.value)

    def refuse(self, node: Any) -> None:
        raise yaml.constructor.ConstructorError(None, None, f"no JSON value: {node.tag[:80]}", node.start_mark)


_Loader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), list(_first))

_Loader.yaml_constructors = {
    f"{_TAG}{_name}": _Base.yaml_constructors[f"{_TAG}{_name}"] for _name in ("null", "bool", "int", "float", "str")
} | {
    f"{_TAG}map": lambda loader, node: loader.construct_mapping(node, deep=True),
    f"{_TAG}seq": lambda loader, node: loader.construct_sequence(node, deep=True),
    None: _Loader.refuse,
}


def _bounded(value: JsonValue) -> None:
    """Refuses aliases that multiply or lead around: whatever reads the value takes it for a tree."""
    sizes: dict[int, int] = {}
    pending: list[tuple[JsonValue, bool]] = [(value, False)]
    while pending:
        node, entered = pending.pop()
        if not isinstance(node, dict | list) or (not entered and id(node) in sizes):
            continue
        parts = list(node.values()) if isinstance(node, dict) else node
        if not entered:
            pending.append((node, True))
            pending.extend((part, False) for part in parts)
            continue
        size = 1 + sum(sizes.get(id(part), 1) for part in parts)
        if size > _MOST_NODES:
            raise ValueError(f"more than {_MOST_NODES} values once its aliases are followed")
        sizes[id(node)] = size
