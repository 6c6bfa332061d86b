"""A schema in, the same schema with a meter at every reference out: when a check has used up its steps, it ends.

The validator has no bound of its own. Every reference becomes `if` there are steps left `then` the reference, so that a
check that has none left falls through at once. Knows nothing of what a schema is for.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from codemodekit._json import JsonValue

__all__ = ["KEYWORDS", "Meter", "metered", "steps_allowed"]

_KEYWORD: Final = "x-codemodekit-step"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_NAMES: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_DATA: Final = frozenset({"const", "enum"})
_INTO_DATA: Final = re.compile(r"/(const|enum)(/|$)")


class Meter:
    """Steps that are left to one check."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    @property
    def exhausted(self) -> bool:
        """Whether the check wanted more than it had: what it said then is worth nothing."""
        return self.left < 0


class _Current(threading.local):
    meter: Meter | None = None


_current = _Current()


class _Step:
    """The keyword: fails when no step is left."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        meter = _current.meter
        if meter is not None:
            meter.left -= 1
            if meter.left < 0:
                raise ValueError("no step is left")


KEYWORDS: Final[dict[str, type[Any]]] = {_KEYWORD: _Step}


@contextmanager
def steps_allowed(steps: int) -> Iterator[Meter]:
    """Bound the checks that this thread makes inside."""
    before, meter = _current.meter, Meter(steps)
    _current.meter = meter
    try:
        yield meter
    finally:
        _current.meter = before


def metered(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema with meters; None if a reference points into data, where no meter can be put."""
    try:
        return {key: _inside(key, value) for key, value in schema.items()}
    except _PointsIntoData:
        return None


class _PointsIntoData(Exception):
    pass


def _schema(node: JsonValue) -> JsonValue:
    if isinstance(node, list):
        return [_schema(part) for part in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _inside(key, value) for key, value in node.items()}
    if not any(isinstance(node.get(keyword), str) for keyword in _REFERENCES):
        return inner
    return {"if": {_KEYWORD: True}, "then": inner, "else": False}


def _inside(keyword: str, value: JsonValue) -> JsonValue:
    if keyword in _REFERENCES and isinstance(value, str) and _INTO_DATA.search(value):
        raise _PointsIntoData
    if keyword in _NAMES and isinstance(value, dict):
        return {name: _schema(part) for name, part in value.items()}
    return value if keyword in _DATA else _schema(value)
