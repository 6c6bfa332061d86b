"""A schema and a value in, whether it fits and what is wrong out, within bounds whatever both hold.

A value that cannot cost much is checked by a plain validator. What might cost much (a large value under a schema that
does much at each place, recursion that branches, patterns that backtrack) is checked by one with guards, which ends the
check when it has cost more than any honest one does; such a value does not fit. Knows no cache and no tools.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from codemodekit._json import JsonValue
from codemodekit.catalog.explain import FieldError, explain, shape
from codemodekit.catalog.patterns import LONGEST_FOR_BACKTRACKING, PatternCost
from codemodekit.catalog.schema_building import SchemaUnsupported, built, short
from codemodekit.catalog.schema_cost import TOO_COSTLY, Charge, Survey
from codemodekit.catalog.schema_meter import (
    BYTES_A_COMPARISON,
    KEYWORDS,
    UNTIMED_WORK,
    Meter,
    Unguardable,
    guarded,
    steps_allowed,
)
from codemodekit.catalog.schema_values import extent, pointer_of, sample, scrubbed, size

__all__ = ["CompiledSchema"]

_STEPS: Final = 20_000
_STEPS_A_NODE: Final = 20
_STEPS_TO_EXPLAIN: Final = 2_000
_WORK_TO_EXPLAIN: Final = 100_000
_MOST_NODES: Final = 1_000
"""The validator builds every error before it gives the first, so a larger value is explained by a part of it."""

_FEW_NODES: Final = 10
_MOST_COPIED: Final = 20_000_000
"""Characters that may be copied to explain."""

_TOO_INTRICATE: Final = "a value that fits the schema (it is too intricate to say where this one does not)"
_TOO_MUCH_WORK: Final = "a smaller or less nested value: checking this one against the schema takes too long"


class CompiledSchema:
    """A schema, ready to check values.

    Raises:
        SchemaUnsupported: it is invalid, refers outside of itself, or multiplies its work beyond all bounds.
    """

    def __init__(self, schema: bool | dict[str, Any], *, size: int, refers: bool, patterns: PatternCost) -> None:
        """`size`: characters of its text; `refers`: it holds references; `patterns`: what all of its patterns take."""
        self._schema = schema
        self._survey = Survey(schema)
        self._refers = refers
        self._size = size
        self._programs = patterns.size
        self._plain: jsonschema_rs.Validator | None = None
        self._guarded: tuple[JsonValue, jsonschema_rs.Validator] | None = None
        if patterns.backtracks or (refers and self._is_metered()):
            self._guarded = self._build_guarded()
        else:
            self._plain = built(schema)

    def _is_metered(self) -> bool:
        # without references a schema is a tree: its work is no more than its size
        if self._survey.cost.refused:
            raise SchemaUnsupported(TOO_COSTLY)
        return self._survey.cost.metered

    def _build_guarded(self) -> tuple[JsonValue, jsonschema_rs.Validator]:
        try:
            root = guarded(self._schema, self._survey) if isinstance(self._schema, dict) else self._schema
        except Unguardable as fault:
            raise SchemaUnsupported(f"{TOO_COSTLY}, and {short(str(fault))}") from fault
        except RecursionError as fault:
            raise SchemaUnsupported("the schema is nested too deeply") from fault
        return root, built(root, KEYWORDS)

    def prepare(self) -> None:
        """Find out what every check of a large schema has to know, so that the first one does not wait for it."""
        if self._plain is not None:
            _ = self._most

    # --- whether it fits ----------------------------------------------------------------------------------------------

    def is_valid(self, value: JsonValue) -> bool:
        """Whether the value fits and that could be found out within bounds."""
        try:
            return self._fits(value)
        except UnicodeEncodeError:
            return self.is_valid(scrubbed(value))
        except ValueError:  # a set, an object, a key that is no text: not JSON
            return False

    def _fits(self, value: JsonValue) -> bool:
        return self._judged(value)[0]

    def _judged(self, value: JsonValue) -> tuple[bool, Meter | None]:
        """Whether the value fits, and the meter if one had to run."""
        if self._plain is not None and not self._is_heavy(value):
            return self._plain.is_valid(value), None
        return self._bounded(value)

    def _is_heavy(self, value: JsonValue) -> bool:
        """Whether checking the value could cost much, which is first told by what costs nothing to know."""
        nodes, characters = extent(value, UNTIMED_WORK, texts=self._programs > 0)
        ways = self._survey.cost.steps if self._refers else 1
        if ways * (nodes * self._size + characters * self._programs // BYTES_A_COMPARISON) <= UNTIMED_WORK:
            return False
        work, program = self._most
        return nodes * work + characters * program // BYTES_A_COMPARISON > UNTIMED_WORK

    @cached_property
    def _most(self) -> tuple[int, int]:
        """The work at one place of a value and the bytes a character passes through, along the worst path."""
        return self._survey.work, self._survey.text if self._programs else 0

    def _bounded(self, value: JsonValue) -> tuple[bool, Meter]:
        validator = self._with_guards()
        with steps_allowed(_steps_for(value)) as meter:
            if validator is None:
                meter.exhausted = True
                return False, meter
            fits = meter.pays(self._root_charge, value) and validator.is_valid(value)
            return fits and not meter.exhausted, meter

    def _with_guards(self) -> jsonschema_rs.Validator | None:
        """None if guards cannot be put into this schema, which nobody needs for values of a common size."""
        if self._guarded is None:
            try:
                self._guarded = self._build_guarded()
            except SchemaUnsupported:
                return None
        return self._guarded[1]

    @cached_property
    def _root_charge(self) -> Charge:
        return self._survey.charge(self._schema) if isinstance(self._schema, dict) else Charge(1)

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def errors(self, value: JsonValue) -> tuple[FieldError, ...]:
        """What is wrong, at most eight fields in a fixed order; empty if the value fits."""
        try:
            fits, meter = self._judged(value)
            if fits:
                return ()
            return (_unchecked(value, meter),) if meter and meter.exhausted else self._explained(value)
        except UnicodeEncodeError:
            return self.errors(scrubbed(value))
        except ValueError as fault:
            return (FieldError("", "a JSON value", short(str(fault))[:160]),)

    def _explained(self, value: JsonValue) -> tuple[FieldError, ...]:
        root, validator = self._guarded or (self._schema, self._plain)
        assert validator is not None
        words = self._survey.words
        most = _MOST_NODES if words <= _WORK_TO_EXPLAIN else 0
        for nodes in (min(most, _WORK_TO_EXPLAIN // words), min(most, _FEW_NODES)):
            part, cut = _sample(value, nodes)
            if extent(part, UNTIMED_WORK, texts=False)[0] * words > 2 * _WORK_TO_EXPLAIN:
                continue
            with steps_allowed(_STEPS_TO_EXPLAIN) as meter:
                found = list(validator.iter_errors(part)) if nodes else []
            if not meter.exhausted and (told := explain(found, root, part, cut)):
                return told
        return (FieldError("", _TOO_INTRICATE, shape(value)),)


def _sample(value: JsonValue, nodes: int) -> tuple[JsonValue, frozenset[tuple[str | int, ...]]]:
    """A part of the value, smaller if its texts are long: an error may hold all of the object that it is about."""
    part, cut = sample(value, nodes)
    size, characters = extent(part, _MOST_COPIED, texts=True)
    if size * characters <= _MOST_COPIED:
        return part, cut
    return sample(value, max(_FEW_NODES, nodes * _MOST_COPIED // (size * characters)))


def _steps_for(value: JsonValue) -> int:
    return _STEPS + _STEPS_A_NODE * size(value)


def _unchecked(value: JsonValue, meter: Meter) -> FieldError:
    """Why the value was not checked to its end."""
    if meter.too_long is None:
        return FieldError("", _TOO_MUCH_WORK, shape(value))
    expected = f"text of at most {LONGEST_FOR_BACKTRACKING} characters (longer cannot be matched safely)"
    return FieldError(pointer_of(value, meter.too_long), expected, "longer text")
