"""A schema in, the same schema with guards out: when a check has used up what it may, it ends.

The validator has no bound of its own. Every reference, and every part of a value that costs much, becomes `if` it can
be paid for `then` the subschema, so that a check that has nothing left falls through at once. Knows nothing of what a
schema is for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote

from codemodekit._json import JsonValue
from codemodekit.catalog.patterns import LONGEST_FOR_BACKTRACKING, SMALL
from codemodekit.catalog.schema_cost import Charge, Survey
from codemodekit.catalog.schema_references import REFERENCES, pointer_steps, refers
from codemodekit.catalog.schema_values import digits_cost

__all__ = [
    "BYTES_A_COMPARISON",
    "GUARD",
    "KEYWORDS",
    "UNTIMED_WORK",
    "Meter",
    "Unguardable",
    "guarded",
    "steps_allowed",
    "unguarded",
]

GUARD: Final = "x-codemodekit-guard"
"""The keyword of guards."""

UNTIMED_WORK: Final = 10_000_000
"""What every check may cost, in comparisons of scalars: a fifth of a second at most, most often a hundredth of one."""
_MOST_AT_ONCE: Final = 10 * UNTIMED_WORK
"""What one place of a value may cost."""
_MOST_NAMES: Final = 3_000_000
"""Patterns tried on names of properties: the validator remembers something of each until the check is over."""
_SECONDS: Final = 0.6
"""Time of this thread, after which a check that has cost more than any honest one ends."""

BYTES_A_COMPARISON: Final = 400
"""Bytes of a pattern's program that a character passes through in the time of one comparison, at worst."""
_A_GUARD: Final = 25
"""What asking costs."""
_A_NAME: Final = 4
_A_SEARCH: Final = 5_000
"""What a pattern that backtracks may cost however short the text."""

_WORTH_A_GUARD: Final = 16
_MOST_WALKS: Final = 100_000


class Unguardable(Exception):
    """A reference leads to a place where no guard can be put; the message says where."""


class Meter:
    """What is left to one check."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._work = 0
        self._names = 0
        self._began = time.thread_time()
        self.exhausted = False
        """Whether the check wanted more than it had: what it said then is worth nothing."""
        self.too_long: str | None = None
        """The text, if it was one: longer than is safe for a pattern that backtracks."""

    def pays(self, charge: Charge, value: JsonValue, steps: int = 0) -> bool:
        """Whether a place of the value may be looked at."""
        if self.exhausted:
            return False
        if charge.backtracks and (text := _long_text(value)) is not None:
            self.exhausted, self.too_long = True, text
            return False
        cost = _price(charge, value)
        self._steps -= steps
        self._work += cost
        self._names += charge.a_member * len(value) if isinstance(value, dict) else 0
        self.exhausted = (
            self._steps < 0
            or cost > _MOST_AT_ONCE
            or self._names > _MOST_NAMES
            or (self._work > UNTIMED_WORK and time.thread_time() - self._began > _SECONDS)
        )
        return not self.exhausted


def _price(charge: Charge, value: JsonValue) -> int:
    """What one place of a value costs, in comparisons of scalars."""
    cost = _A_GUARD + charge.work
    if isinstance(value, str):
        cost += len(value) * charge.a_character // BYTES_A_COMPARISON + _A_SEARCH * charge.backtracks
    elif isinstance(value, int):
        cost *= 1 + digits_cost(value)
    elif isinstance(value, dict) and charge.a_member:
        cost += charge.a_member * len(value) * _A_NAME
        cost += sum(map(len, value)) * charge.a_character // BYTES_A_COMPARISON
        cost += _A_SEARCH * charge.backtracks * len(value)
    return cost


def _long_text(value: JsonValue) -> str | None:
    texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
    return next((text for text in texts if len(text) > LONGEST_FOR_BACKTRACKING), None)


class _Current(threading.local):
    meter: Meter | None = None


_current = _Current()


class _Guard:
    """The keyword: fails when what it stands before cannot be paid."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        steps, work, a_member, a_character, backtracks = value
        self._steps = steps
        self._charge = Charge(work, a_member, a_character, bool(backtracks))

    def validate(self, instance: Any) -> None:
        meter = _current.meter
        if meter is not None and not meter.pays(self._charge, instance, self._steps):
            raise ValueError("nothing is left")


KEYWORDS: Final[dict[str, type[Any]]] = {GUARD: _Guard}


@contextmanager
def steps_allowed(steps: int) -> Iterator[Meter]:
    """Bound the checks that this thread makes inside."""
    before, meter = _current.meter, Meter(steps)
    _current.meter = meter
    try:
        yield meter
    finally:
        _current.meter = before


def guarded(schema: dict[str, Any], survey: Survey) -> dict[str, Any]:
    """The schema with guards; its root has none, and is to be paid for by whoever checks.

    Raises:
        Unguardable: a reference leads into data, or through a guarded place nobody knows by which way.
    """
    return _Guarding(schema, survey).root()


def unguarded(schema: JsonValue) -> JsonValue:
    """A subschema without the guard in front of it."""
    if isinstance(schema, dict) and isinstance(schema.get("if"), dict) and GUARD in schema["if"]:
        return schema["then"]
    return schema


# --- where guards are put ---------------------------------------------------------------------------------------------

_OF_A_MEMBER: Final = frozenset({"properties", "patternProperties"})
_NAMES: Final = _OF_A_MEMBER | {"$defs", "definitions", "dependentSchemas", "dependencies"}
_OF_A_PART: Final = frozenset(
    {
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
        *("additionalProperties", "unevaluatedProperties", "propertyNames"),
    }
)
_DATA: Final = frozenset({"const", "enum"})


class _Guarding:
    def __init__(self, root: dict[str, Any], survey: Survey) -> None:
        self._root = root
        self._survey = survey
        self._starts = [root] if survey.references.plain else list(_resources(root))
        self._moved_references: dict[str, str] = {}
        self._walks = 0

    def root(self) -> dict[str, Any]:
        return {key: self._inside(key, value) for key, value in self._root.items()}

    def _schema(self, node: JsonValue, of_a_part: bool) -> JsonValue:
        if isinstance(node, list):
            return [self._schema(part, of_a_part) for part in node]
        if not isinstance(node, dict):
            return node
        inner: JsonValue = {key: self._inside(key, value) for key, value in node.items()}
        guard = self._guard(node, of_a_part)
        return inner if guard is None else {"if": {GUARD: guard}, "then": inner, "else": False}

    def _inside(self, keyword: str, value: JsonValue) -> JsonValue:
        if keyword in REFERENCES and isinstance(value, str):
            return self._reference(value)
        if keyword in _NAMES and isinstance(value, dict):
            return {name: self._schema(part, keyword in _OF_A_MEMBER) for name, part in value.items()}
        return value if keyword in _DATA else self._schema(value, keyword in _OF_A_PART)

    def _guard(self, node: dict[str, Any], of_a_part: bool) -> JsonValue:
        """What a guard in front of the subschema asks for; None where there is none."""
        steps = int(refers(node))
        if not steps and not of_a_part:
            return None
        charge = self._survey.charge(node)
        worth = charge.work >= _WORTH_A_GUARD or charge.a_member or charge.a_character > SMALL or charge.backtracks
        if not steps and not worth:
            return None
        return [steps, charge.work, charge.a_member, charge.a_character, int(charge.backtracks)]

    # --- references: a guard moves what it stands before ----------------------------------------------------------

    def _reference(self, reference: str) -> str:
        known = self._moved_references.get(reference)
        if known is None:
            known = self._moved_references[reference] = self._moved_reference(reference)
        return known

    def _moved_reference(self, reference: str) -> str:
        base, _, fragment = reference.partition("#")
        steps = pointer_steps(f"#{fragment}")
        if not steps:
            return reference
        self._walks += len(self._starts)
        if self._walks > _MOST_WALKS:
            raise Unguardable("too many parts of it have names of their own")
        ways = [self._moved(start, steps) for start in self._starts]
        if all(way == steps for way in ways):
            return reference
        if len(ways) > 1:
            raise Unguardable(f"nobody can tell which part of the schema {reference!r} means")
        return f"{base}#" + "".join(f"/{_escaped(step)}" for step in ways[0])

    def _moved(self, start: dict[str, Any], steps: list[str]) -> list[str]:
        """The same way through the schema with guards; the part that cannot be walked stays as it is."""
        node: JsonValue = start
        way: list[str] = []
        named = of_a_part = False
        for at, step in enumerate(steps):
            if isinstance(node, dict) and not named:
                if step in _DATA:
                    raise Unguardable("a $ref points into const or enum")
                if node is not start and self._guard(node, of_a_part) is not None:
                    way.append("then")
                of_a_part = step in _OF_A_PART or step in _OF_A_MEMBER
                named = step in _NAMES and isinstance(node.get(step), dict)
                node = node.get(step)
            elif isinstance(node, dict):
                named, node = False, node.get(step)
            elif isinstance(node, list):
                node = node[int(step)] if step.isascii() and step.isdecimal() and int(step[:9]) < len(node) else None
            else:
                return [*way, *steps[at:]]
            way.append(step)
        return way


def _resources(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The root, and whatever may be the root of a part with a name of its own."""
    pending: list[JsonValue] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            if node is root or isinstance(node.get("$id"), str):
                yield node
            pending.extend(node.values())


def _escaped(step: str) -> str:
    return quote(step.replace("~", "~0").replace("/", "~1"), safe="~")
