"""Whatever comes as schema or value, a check gives an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemodekit.catalog.schemas import SchemaUnsupported, compile_schema

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcx") | st.text(max_size=3), inner),
    max_leaves=12,
)
types = st.sampled_from(["string", "number", "integer", "object", "array", "null", "boolean"])


def schemas() -> st.SearchStrategy[Any]:
    names = st.sampled_from("abc")
    reference = st.sampled_from(["#", "#/properties/a", "#/$defs/b", "#here", "http://x/y"])

    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some = st.lists(inner, min_size=1, max_size=3)
        named = st.dictionaries(names, inner, max_size=3)
        return st.fixed_dictionaries(
            {},
            optional={
                "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
                "properties": named,
                "$defs": named,
                "required": st.lists(names, max_size=2, unique=True),
                "additionalProperties": inner,
                "items": inner,
                "anyOf": some,
                "oneOf": some,
                "allOf": some,
                "not": inner,
                "enum": st.lists(scalars, min_size=1, max_size=3),
                "const": values,
                "$ref": reference,
                "minimum": st.integers(-2, 2),
                "maxLength": st.integers(0, 3),
                "pattern": st.sampled_from(["^a", "(?=a)", "["]),
                "propertyNames": inner,
                "unevaluatedProperties": inner,
            },
        )

    return st.recursive(st.booleans() | st.fixed_dictionaries({"type": types}), grow, max_leaves=12)


@pytest.mark.proves("schema.quarantine", "error.input-details")
@settings(max_examples=300, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas(), st.lists(values, max_size=4))
def test_a_schema_is_refused_or_judges_every_value_and_explains_what_it_refuses(schema: Any, given_: list[Any]) -> None:
    try:
        check = compile_schema(schema)
    except SchemaUnsupported as refused:
        assert str(refused)
        return
    for value in given_:
        errors = check.errors(value)
        assert (errors == ()) is check.is_valid(value)
        assert len(errors) <= 8
        assert check.errors(value) == errors
        for error in errors:
            assert error.expected
            assert error.given


def with_guards(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, and work that multiplies below a property no value has, so that all references are guarded."""
    loop = {"allOf": [{"properties": {"x": {"$ref": "#/definitions/loop"}}}] * 2}
    branching = {"properties": {"never there": {"$ref": "#/definitions/loop"}}}
    return {**schema, "definitions": {"loop": loop}, "allOf": [*schema.get("allOf", []), branching]}


@pytest.mark.proves("schema.bounded")
@settings(max_examples=200, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas().filter(lambda one: isinstance(one, dict)), st.lists(values, max_size=4))
def test_a_schema_with_guards_judges_as_the_one_without(schema: Any, given_: list[Any]) -> None:
    try:
        check, guarded = compile_schema(schema), compile_schema(with_guards(schema))
    except SchemaUnsupported:
        return
    for value in given_:
        assert check.is_valid(value) is guarded.is_valid(value)


@pytest.mark.proves("schema.quarantine")
@settings(max_examples=200, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(values)
def test_any_json_is_refused_as_a_schema_or_taken(schema: Any) -> None:
    try:
        check = compile_schema(schema)
    except SchemaUnsupported as refused:
        assert str(refused)
    else:
        assert check.is_valid(None) in (True, False)
