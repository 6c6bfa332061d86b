"""The words for an input that does not fit: every keyword, where it was wrong, what was expected and given."""

from __future__ import annotations

from typing import Any

import pytest

from codemodekit.catalog.schemas import compile_schema

pytestmark = pytest.mark.proves("error.input-details")

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
LIMIT = {"$defs": {"N": {"properties": {"limit": {}}}}}
NAMED = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}

KEYWORDS: list[tuple[str, Any, Any, list[tuple[str, str, str]]]] = [
    # name, schema, value, (pointer, expected, given) of each field
    ("type", {"type": "string"}, 1, [("", "string", "number 1")]),
    ("types", {"type": ["string", "null"]}, 1, [("", "null or string", "number 1")]),
    ("integer", {"type": "integer"}, 1.5, [("", "integer", "number 1.5")]),
    ("enum", {"enum": ["a", 1, None]}, "z", [("", 'one of "a", 1, null', 'string "z"')]),
    ("const", {"const": {"a": 1}}, 2, [("", 'exactly {"a":1}', "number 2")]),
    ("false", False, 1, [("", "nothing here", "number 1")]),
    ("multipleOf", {"multipleOf": 2}, 3, [("", "a multiple of 2", "number 3")]),
    ("minimum", {"minimum": 2}, 1, [("", "at least 2", "number 1")]),
    ("maximum", {"maximum": 2.5}, 3, [("", "at most 2.5", "number 3")]),
    ("exclusiveMinimum", {"exclusiveMinimum": 2}, 2, [("", "more than 2", "number 2")]),
    ("exclusiveMaximum", {"exclusiveMaximum": 2}, 2, [("", "less than 2", "number 2")]),
    ("minLength", {"minLength": 2}, "a", [("", "at least 2 characters", 'string "a"')]),
    ("maxLength", {"maxLength": 2}, "abc", [("", "at most 2 characters", 'string "abc"')]),
    ("pattern", {"pattern": "^a$"}, "b", [("", "text that matches /^a$/", 'string "b"')]),
    (
        "pattern out of bounds",
        {"pattern": "^(a|aa)+\\1$"},
        "a" * 2000 + "!",
        [("", "text whose pattern can be matched within bounds", f'string "{"a" * 39}…"')],
    ),
    ("minItems", {"minItems": 2}, [], [("", "at least 2 items", "array of 0")]),
    ("maxItems", {"maxItems": 1}, [1, 2], [("", "at most 1 items", "array of 2")]),
    ("uniqueItems", {"uniqueItems": True}, [1, 1], [("", "items that are all different", "array of 2")]),
    ("items", {"items": {"type": "null"}}, [None, 1], [("/1", "null", "number 1")]),
    (
        "nested arrays",
        {"items": {"items": {"items": {"type": "string"}}}},
        [[["a"]], [["b", 1], [2]]],
        [("/1/0/1", "string", "number 1"), ("/1/1/0", "string", "number 2")],
    ),
    ("prefixItems", {"prefixItems": [{}, {"type": "null"}]}, [1, 2], [("/1", "null", "number 2")]),
    ("items false", {"prefixItems": [{}], "items": False}, [1, 2], [("/1", "nothing here", "number 2")]),
    ("items of draft 7", {**DRAFT_7, "items": [{}, {"type": "null"}]}, [1, 2], [("/1", "null", "number 2")]),
    (
        "additionalItems",
        {**DRAFT_7, "items": [{}], "additionalItems": False},
        [1, 2],
        [("", "at most 1 items", "array of 2")],
    ),
    (
        "unevaluatedItems",
        {"allOf": [{"prefixItems": [{}]}], "unevaluatedItems": False},
        [1, 2],
        [("", "no items but those the schema describes", "array of 2")],
    ),
    (
        "contains",
        {"contains": {"const": 1}},
        [2],
        [("", 'an array that holds at least 1 of {"const":1}', "array of 1")],
    ),
    (
        "minContains",
        {"contains": {"const": 1}, "minContains": 2},
        [1],
        [("", 'an array that holds at least 2 of {"const":1}', "array of 1")],
    ),
    (
        "maxContains",
        {"contains": {"const": 1}, "maxContains": 1},
        [1, 1],
        [("", 'an array that holds 1 to 1 of {"const":1}', "array of 2")],
    ),
    ("minProperties", {"minProperties": 1}, {}, [("", "at least 1 properties", "object with nothing in it")]),
    ("maxProperties", {"maxProperties": 1}, {"b": 1, "a": 1}, [("", "at most 1 properties", "object with a, b")]),
    ("properties", NAMED, {"b": "x", "a": 1}, [("/a", "string", "number 1"), ("/b", "integer", 'string "x"')]),
    ("required", {**NAMED, "required": ["b"]}, {"a": "x"}, [("/b", "required (integer)", "nothing")]),
    (
        "additionalProperties",
        {**NAMED, "additionalProperties": False},
        {"zzz": 1},
        [("/zzz", "no such property; known: a, b", "number 1")],
    ),
    (
        "additionalProperties alone",
        {"additionalProperties": False},
        {"z": 1},
        [("/z", "no properties here", "number 1")],
    ),
    ("additionalProperties schema", {"additionalProperties": {"type": "null"}}, {"z": 1}, [("/z", "null", "number 1")]),
    (
        "unevaluatedProperties",
        {"$defs": {"N": NAMED}, "allOf": [{"$ref": "#/$defs/N"}], "unevaluatedProperties": False},
        {"zzz": 1},
        [("/zzz", "no such property; known: a, b", "number 1")],
    ),
    ("patternProperties", {"patternProperties": {"^x": {"type": "null"}}}, {"x1": 1}, [("/x1", "null", "number 1")]),
    (
        "propertyNames",
        {"propertyNames": {"maxLength": 2}},
        {"abc": [1]},
        [("/abc", "another property name: at most 2 characters", "array of 1")],
    ),
    (
        "propertyNames pattern",
        {"propertyNames": {"pattern": "^a"}},
        {"b": 1},
        [("/b", "another property name: text that matches /^a/", "number 1")],
    ),
    (
        "dependentRequired",
        {**NAMED, "dependentRequired": {"a": ["b"]}},
        {"a": "x"},
        [("/b", "required (integer) beside 'a'", "nothing")],
    ),
    (
        "dependencies",
        {**DRAFT_7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"a": 1, "c": 1},
        [("/b", "required beside 'a'", "nothing"), ("/d", "required", "nothing")],
    ),
    ("dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, [("/b", "required", "nothing")]),
    (
        "allOf",
        {"allOf": [{"minimum": 3}, {"type": "string"}]},
        1,
        [("", "at least 3", "number 1"), ("", "string", "number 1")],
    ),
    ("anyOf", {"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, [("", "null or string", "number 1")]),
    ("anyOf, one of the type", {"anyOf": [{"type": "string"}, {"minimum": 5}]}, 3, [("", "at least 5", "number 3")]),
    (
        "anyOf, the tag tells",
        {
            "anyOf": [
                {"properties": {"kind": {"const": "a"}, "size": {"type": "null"}}, "required": ["kind", "x", "y"]},
                {"properties": {"kind": {"const": "b"}, "size": {"type": "integer"}}, "required": ["kind"]},
            ]
        },
        {"kind": "a", "size": None},
        [("/x", "required", "nothing"), ("/y", "required", "nothing")],
    ),
    (
        "anyOf, no tag fits",
        {"anyOf": [{"properties": {"kind": {"const": name}}, "required": ["kind"]} for name in "ab"]},
        {"kind": "c"},
        [("/kind", 'exactly "a"', 'string "c"')],
    ),
    (
        "oneOf, several fit",
        {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        1,
        [("", "exactly one of the alternatives (several fit)", "number 1")],
    ),
    ("oneOf, none fits", {"oneOf": [{"type": "null"}, {"maximum": 0}]}, 1, [("", "at most 0", "number 1")]),
    ("not", {"not": {"type": "string"}}, "a", [("", 'something that does not fit {"type":"string"}', 'string "a"')]),
    (
        "if then",
        {"if": {"type": "string"}, "then": {"minLength": 3}},
        "a",
        [("", "at least 3 characters", 'string "a"')],
    ),
    ("if else", {"if": {"type": "string"}, "else": {"minimum": 3}}, 1, [("", "at least 3", "number 1")]),
    ("$ref", {"$defs": {"N": NAMED}, "items": {"$ref": "#/$defs/N"}}, [{"a": 1}], [("/0/a", "string", "number 1")]),
    ("$anchor", {"$defs": {"N": {"$anchor": "n", **NAMED}}, "$ref": "#n"}, {"a": 1}, [("/a", "string", "number 1")]),
    (
        "$dynamicRef",
        {"$dynamicAnchor": "n", "properties": {"x": {"$dynamicRef": "#n"}}, "type": "object"},
        {"x": {"x": 1}},
        [("/x/x", "object", "number 1")],
    ),
    (
        "$recursiveRef",
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "properties": {"x": {"$recursiveRef": "#"}},
            "type": "object",
        },
        {"x": {"x": 1}},
        [("/x/x", "object", "number 1")],
    ),
]


@pytest.mark.parametrize(("schema", "value", "fields"), [one[1:] for one in KEYWORDS], ids=[one[0] for one in KEYWORDS])
def test_each_keyword_says_where_what_was_expected_and_what_was_given(
    schema: Any, value: Any, fields: list[Any]
) -> None:
    found = compile_schema(schema).errors(value)
    assert [(error.pointer, error.expected, error.given) for error in found] == fields


@pytest.mark.parametrize("schema", [{"format": "email"}, {"format": "date-time"}, {"format": "no such format"}])
@pytest.mark.parametrize("dialect", [{}, DRAFT_7, {"$schema": "https://json-schema.org/draft/2019-09/schema"}])
def test_a_format_is_never_asserted(schema: dict[str, Any], dialect: dict[str, str]) -> None:
    assert compile_schema({**dialect, **schema}).errors("neither an address nor a date") == ()


@pytest.mark.proves("error.near-names")
@pytest.mark.parametrize(
    ("schema", "value", "pointer", "meant"),
    [
        ({**NAMED, "additionalProperties": False}, {"A": 1}, "/A", "a"),
        ({"propertyNames": {"enum": ["limit", "offset"]}}, {"limt": 1}, "/limt", "limit"),
        ({"enum": ["open", "closed"]}, "opened", "", "open"),
        ({"properties": {"page_size": {}}, "additionalProperties": False}, {"pageSize": 1}, "/pageSize", "page_size"),
        ({"properties": {"page_size": {}}, "required": ["page_size"]}, {"pageSize": 1}, "/pageSize", "page_size"),
        (
            {**LIMIT, "allOf": [{"$ref": "#/$defs/N"}], "unevaluatedProperties": False},
            {"limt": 1},
            "/limt",
            "limit",
        ),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"limit": {}}, "additionalProperties": False}]},
            {"limt": 1},
            "/limt",
            "limit",
        ),
        (
            {"items": {"properties": {"limit": {}}, "additionalProperties": False}},
            [{"limit": 1}, {"limt": 1}],
            "/1/limt",
            "limit",
        ),
    ],
)
def test_what_was_probably_meant_is_said(schema: Any, value: Any, pointer: str, meant: str) -> None:
    (error,) = compile_schema(schema).errors(value)
    assert (error.pointer, error.did_you_mean) == (pointer, meant)


def test_every_wrong_field_is_named_at_once_in_the_order_of_their_places() -> None:
    schema = {
        "properties": {f"p{n}": {"type": "string"} for n in range(5)},
        "required": ["q"],
        "additionalProperties": False,
    }
    value = {"p3": 1, "p1": 1, "x": 1}
    pointers = [error.pointer for error in compile_schema(schema).errors(value)]
    assert pointers == ["/p1", "/p3", "/q", "/x"]
    assert [error.pointer for error in compile_schema(schema).errors(dict(reversed(value.items())))] == pointers


def test_items_are_told_in_the_order_of_their_numbers_and_eight_at_most() -> None:
    errors = compile_schema({"items": {"type": "string"}}).errors(list(range(20)))
    assert [error.pointer for error in errors] == [f"/{n}" for n in range(8)]


@pytest.mark.proves("error.secrets")
@pytest.mark.parametrize("name", ["password", "apiKey", "api_key", "client_secret", "accessToken", "Authorization"])
def test_what_was_given_under_a_name_of_secrets_is_not_repeated(name: str) -> None:
    value = "hunter2 and a good deal more"
    for schema in (
        {"properties": {name: {"type": "integer"}}},
        {"properties": {name: {"maxLength": 3}}},
        {"properties": {name: {"enum": ["x"]}}},
        {"properties": {name: {"anyOf": [{"type": "null"}, {"maxLength": 3}]}}},
        {"additionalProperties": False},
        {"propertyNames": {"maxLength": 1}},
        {"required": [name + "s"]},
    ):
        (error,) = compile_schema(schema).errors({name: value})
        assert "hunter2" not in str(error.to_wire())
        assert error.given == f"string of {len(value)} characters"
    (error,) = compile_schema({"properties": {name: {"items": {"type": "null"}}}}).errors({name: [value]})
    assert "hunter2" not in str(error.to_wire())


def test_a_guard_of_ours_is_not_shown() -> None:
    loop = {"allOf": [{"properties": {"x": {"$ref": "#/$defs/loop"}}}] * 2}
    schema = {
        "$defs": {"loop": loop, "text": {"type": "string"}, "N": {"properties": {"limit": {}}}},
        "properties": {
            "x": {"$ref": "#/$defs/loop"},
            "not": {"not": {"$ref": "#/$defs/text"}},
            "deep": {"not": {"items": {"$ref": "#/$defs/text"}}},
            "has": {"contains": {"$ref": "#/$defs/text"}},
            "closed": {"allOf": [{"$ref": "#/$defs/N"}], "unevaluatedProperties": False},
        },
    }
    errors = compile_schema(schema).errors({"not": "a", "deep": ["b"], "has": [1], "closed": {"limt": 1}})
    assert [(error.pointer, error.expected, error.did_you_mean) for error in errors] == [
        ("/closed/limt", "no such property; known: limit", "limit"),
        ("/deep", "something that does not fit what the schema describes", None),
        ("/has", 'an array that holds at least 1 of {"$ref":"#/$defs/text"}', None),
        ("/not", 'something that does not fit {"$ref":"#/$defs/text"}', None),
    ]
