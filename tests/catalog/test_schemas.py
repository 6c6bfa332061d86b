"""What a schema lets through, and the words for what it does not."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from codemodekit.catalog.schemas import FieldError, SchemaUnsupported, compile_schema

PERSON: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "colour": {"enum": ["red", "blue"]},
        "home": {"$ref": "#/$defs/Home"},
    },
    "additionalProperties": False,
    "$defs": {
        "Home": {"type": "object", "properties": {"postalCode": {"type": "string"}}, "additionalProperties": False}
    },
}


def wire(schema: Any, value: Any) -> list[dict[str, str]]:
    return [error.to_wire() for error in compile_schema(schema).errors(value)]


@pytest.mark.proves("bridge.output-checked", "error.input-details")
def test_a_value_that_fits_has_no_errors() -> None:
    check = compile_schema(PERSON)
    assert check.is_valid({"name": "Ada"})
    assert check.errors({"name": "Ada"}) == ()


@pytest.mark.proves("error.input-details")
def test_every_wrong_field_is_named_with_what_was_expected_and_given() -> None:
    assert wire(PERSON, {"age": -1, "colour": 3}) == [
        {"pointer": "/age", "expected": "at least 0", "given": "number -1"},
        {"pointer": "/colour", "expected": 'one of "red", "blue"', "given": "number 3"},
        {"pointer": "/name", "expected": "required (string)", "given": "nothing"},
    ]


@pytest.mark.proves("error.near-names")
def test_a_misspelt_property_is_told_with_the_name_that_was_meant() -> None:
    assert wire(PERSON, {"name": "x", "colr": "red"}) == [
        {
            "pointer": "/colr",
            "expected": "no such property; known: age, colour, home, name",
            "given": 'string "red"',
            "didYouMean": "colour",
        }
    ]


@pytest.mark.proves("error.near-names")
def test_a_misspelt_required_property_is_one_mistake() -> None:
    expected = {
        "pointer": "/nmae",
        "expected": "the required property 'name' (string)",
        "given": 'string "Ada"',
        "didYouMean": "name",
    }
    assert wire(PERSON, {"nmae": "Ada"}) == [expected]
    assert wire({**PERSON, "additionalProperties": True}, {"nmae": "Ada"}) == [expected]
    assert wire(PERSON, {"NAME": "Ada"}) == [{**expected, "pointer": "/NAME"}]


@pytest.mark.proves("error.near-names")
@pytest.mark.parametrize("given", ["postal_code", "PostalCode", "postal-code", "postalcode"])
def test_another_way_of_writing_a_name_is_recognised_behind_a_reference(given: str) -> None:
    (error,) = wire(PERSON, {"name": "x", "home": {given: "1"}})
    assert (error["pointer"], error["didYouMean"]) == (f"/home/{given}", "postalCode")


@pytest.mark.proves("error.near-names")
def test_a_choice_that_was_nearly_right_is_offered() -> None:
    assert wire(PERSON, {"name": "x", "colour": "Red"})[0]["didYouMean"] == "red"


@pytest.mark.proves("error.input-details")
def test_the_alternative_that_fits_best_is_explained() -> None:
    schema = {
        "oneOf": [
            {
                "type": "object",
                "required": ["kind", "size"],
                "properties": {"kind": {"const": "box"}, "size": {"type": "number"}},
            },
            {
                "type": "object",
                "required": ["kind", "text"],
                "properties": {"kind": {"const": "note"}, "text": {"type": "string"}},
            },
            {"type": "null"},
        ]
    }
    assert wire(schema, {"kind": "note", "text": 5}) == [
        {"pointer": "/text", "expected": "string", "given": "number 5"}
    ]
    assert wire(schema, "x") == [{"pointer": "", "expected": "null or object", "given": 'string "x"'}]


@pytest.mark.proves("error.input-details")
def test_several_alternatives_that_fit_where_one_must_are_told() -> None:
    (error,) = wire({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1)
    assert error["expected"] == "exactly one of the alternatives (several fit)"


@pytest.mark.proves("error.input-details")
@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_a_format_is_a_hint_and_refuses_nothing(dialect: str) -> None:
    assert compile_schema({"$schema": dialect, "format": "date-time"}).is_valid("2026-01-01T00:00:00")


@pytest.mark.proves("error.input-details")
def test_pointers_escape_what_json_pointers_must() -> None:
    schema = {"properties": {"a/b": {"properties": {"~x": {"items": {"type": "null"}}}}}}
    assert wire(schema, {"a/b": {"~x": [None, 1]}})[0]["pointer"] == "/a~1b/~0x/1"


@pytest.mark.proves("error.input-details")
@pytest.mark.parametrize(
    ("value", "given"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "number 1.5"),
        (10**400, "a very large integer"),
        ("x" * 100, f'string "{"x" * 39}…"'),
        ([1, 2], "array of 2"),
        ({"b": 1, "a": 2}, "object with a, b"),
        ({}, "object with nothing in it"),
    ],
)
def test_what_was_given_is_told_without_showing_all_of_it(value: Any, given: str) -> None:
    assert wire({"const": "-"}, value)[0]["given"].removeprefix("number ").removeprefix(
        "number "
    ) == given.removeprefix("number ")


@pytest.mark.proves("error.input-details")
def test_at_most_eight_fields_are_told_in_a_fixed_order() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    errors = wire(schema, {f"k{index:02}": index for index in reversed(range(30))})
    assert [error["pointer"] for error in errors] == [f"/k{index:02}" for index in range(8)]


@pytest.mark.proves("error.input-details")
def test_nothing_long_is_ever_shown() -> None:
    schema = {
        "required": ["r" * 5000],
        "properties": {"p": {"pattern": "a" * 5000}, "e": {"enum": [["v" * 5000]] * 50}},
        "additionalProperties": False,
    }
    value = {"p": "x" * 5000, "e": "y" * 5000, "z": {f"{'k' * 500}{i}": 1 for i in range(500)}}
    for error in wire(schema, value):
        assert len(error["expected"]) <= 160
        assert len(error["given"]) <= 160
        assert len(error["pointer"]) <= 600


@pytest.mark.proves("error.input-details")
def test_a_huge_wrong_value_is_explained_by_a_part_of_it() -> None:
    schema = {
        "required": ["name"],
        "properties": {"list": {"items": {"type": "string"}, "minItems": 300_000}},
        "additionalProperties": True,
    }
    errors = wire(schema, {"list": [1] * 200_000})
    assert errors[0] == {"pointer": "/list/0", "expected": "string", "given": "number 1"}
    assert len(errors) == 8
    wide = {f"k{index}": 1 for index in range(5_000)} | {"name": 1}
    assert "too intricate" in wire({"required": ["name"], "maxProperties": 10}, wide)[0]["expected"]
    alternatives = {"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "boolean"}}]}
    assert wire(alternatives, [1] * 200_000)[0]["pointer"] == "/0"


@pytest.mark.proves("schema.drafts")
@pytest.mark.parametrize(
    ("dialect", "fits"),
    [
        (None, [1, "x", 2]),
        ("https://json-schema.org/draft/2020-12/schema", [1, "x", 2]),
        ("https://json-schema.org/draft/2019-09/schema", ["x", 2]),
        ("http://json-schema.org/draft-07/schema#", ["x", 2]),
        ("http://json-schema.org/draft-07/schema", ["x", 2]),
    ],
)
def test_the_dialect_decides_what_keywords_mean(dialect: str | None, fits: list[Any]) -> None:
    positional = "prefixItems" if len(fits) == 3 else "items"
    schema = {
        positional: [{"type": "integer" if len(fits) == 3 else "string"}],
        **({"$schema": dialect} if dialect else {}),
    }
    check = compile_schema(schema)
    assert check.is_valid(fits)
    assert not check.is_valid([None, *fits])


@pytest.mark.proves("schema.quarantine")
@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "draft-04"),
        ({"$schema": "https://example.com/own"}, "https://example.com/own"),
        ({"$schema": 5}, "5"),
        ({"type": "objekt"}, "/type"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum"),
        ({"$ref": "#/$defs/none"}, "/$defs/none"),
        ({"pattern": "(?<n>a)\\k<n>"}, "regex"),
        ({"pattern": "((((a{100}){100}){100}){100})"}, "pattern"),
        ({"const": "\ud800"}, "cannot be read"),
        ({"maximum": float("nan")}, "not JSON"),
        ([], "object or a boolean"),
        ("{}", "object or a boolean"),
        (None, "object or a boolean"),
        ({"description": "x" * (4 << 20)}, "larger"),
    ],
)
def test_a_schema_that_cannot_be_enforced_is_refused_with_the_reason(schema: Any, word: str) -> None:
    with pytest.raises(SchemaUnsupported, match=r"\S") as refused:
        compile_schema(schema)
    assert word in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.proves("schema.bounded")
def test_a_schema_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(SchemaUnsupported):
        compile_schema(schema)
    while schema:  # taken apart by hand: the interpreter recurses when it frees it
        schema = schema["not"]


@pytest.mark.proves("schema.offline")
@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/s", "https://example.com/s", "file:///etc/passwd", "other.json"]
)
def test_a_reference_that_leaves_the_schema_is_refused_without_fetching(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(SchemaUnsupported, match="leaves the schema") as refused:
        compile_schema({"properties": {"a": {"$ref": reference}}})
    assert reference in str(refused.value)


@pytest.mark.proves("schema.drafts")
def test_references_inside_the_schema_are_followed() -> None:
    schema = {
        "$id": "https://example.com/root",
        "properties": {"a": {"$ref": "#here"}, "b": {"$ref": "part"}, "self": {"$ref": "#"}},
        "$defs": {"x": {"$anchor": "here", "type": "string"}, "y": {"$id": "part", "type": "null"}},
    }
    check = compile_schema(schema)
    assert check.is_valid({"a": "s", "b": None, "self": {"self": {"a": "s"}}})
    assert [error.pointer for error in check.errors({"a": 1, "b": 1, "self": {"a": 1}})] == ["/a", "/b", "/self/a"]


@pytest.mark.proves("catalog.public-face")
def test_equal_schemas_share_one_check_whatever_the_order_of_their_keys() -> None:
    first = compile_schema({"type": "object", "title": "shared"})
    assert compile_schema({"title": "shared", "type": "object"}) is first
    assert compile_schema({"title": "other", "type": "object"}) is not first


def doubling(keyword: str, levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}, {"$ref": f"#/$defs/d{level + 1}"}]}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {"type": "string"}}}


@pytest.mark.proves("schema.bounded")
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_schema_whose_alternatives_double_at_every_level_is_refused(keyword: str) -> None:
    with pytest.raises(SchemaUnsupported, match="multiplies"):
        compile_schema(doubling(keyword, 60))
    assert compile_schema(doubling(keyword, 3)).is_valid(1) is False


def ring(length: int, keyword: str = "allOf", **more: Any) -> dict[str, Any]:
    """Each definition refers twice to the next one, below one property."""
    definitions = {
        f"d{at}": {
            keyword: [{"properties": {"x": {"$ref": f"#/$defs/d{(at + 1) % length}"}}} for _ in range(2)],
            "type": ["object", "string"],
        }
        for at in range(length)
    }
    return {"$ref": "#/$defs/d0", "$defs": definitions, **more}


def nested(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"x": leaf}
    return leaf


@pytest.mark.proves("schema.bounded")
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("length", [1, 3, 13])
@pytest.mark.parametrize("leaf", ["fits", 5])
def test_alternatives_that_recurse_under_one_property_are_checked_within_bounds(
    keyword: str, length: int, leaf: Any
) -> None:
    check = compile_schema(ring(length, keyword))
    for depth in (1, 60, 190):
        value = nested(depth, leaf)
        assert (check.errors(value) == ()) is check.is_valid(value)
    assert check.is_valid("fits") is (keyword != "oneOf")
    assert not check.is_valid(5)


@pytest.mark.proves("schema.bounded")
def test_a_deep_value_of_a_schema_that_branches_is_refused_in_words() -> None:
    check = compile_schema(ring(13))
    (error,) = check.errors(nested(190, "fits"))
    assert error.expected == "a smaller or less nested value: checking this one against the schema takes too long"


@pytest.mark.proves("schema.bounded")
def test_a_long_ring_of_branching_definitions_is_refused() -> None:
    with pytest.raises(SchemaUnsupported, match="multiplies"):
        compile_schema(ring(20))


@pytest.mark.proves("schema.bounded")
def test_a_branching_schema_that_hides_its_loop_in_data_is_refused() -> None:
    hidden = {"properties": {"x": {"allOf": [{"$ref": "#/const"}] * 2}}}
    schema = {"allOf": [ring(1), {"properties": {"y": {"$ref": "#/const"}}}], **ring(1), "const": hidden}
    with pytest.raises(SchemaUnsupported, match="const or enum"):
        compile_schema(schema)


FILTER: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
        "filter": {
            "oneOf": [
                {
                    "type": "object",
                    "required": ["op", "args"],
                    "properties": {
                        "op": {"enum": [operator]},
                        "args": {"type": "array", "items": {"$ref": "#/definitions/filter"}},
                    },
                }
                for operator in ("and", "or", "not")
            ]
            + [{"type": "object", "required": ["field"], "properties": {"field": {"type": "string"}}}]
        }
    },
    "type": "object",
    "properties": {"where": {"$ref": "#/definitions/filter"}},
}


@pytest.mark.proves("schema.bounded")
def test_a_recursive_filter_as_people_write_it_works() -> None:
    check = compile_schema(FILTER)
    leaf: dict[str, Any] = {"field": "a"}
    value: Any = {"op": "and", "args": [leaf] * 200}
    for operator in ("or", "not", "and"):
        value = {"op": operator, "args": [value, leaf]}
    assert check.is_valid({"where": value})
    (error,) = check.errors({"where": {"op": "and", "args": [leaf, {"field": 5}]}})
    assert (error.pointer, error.expected) == ("/where/args/1/field", "string")


@pytest.mark.proves("schema.bounded")
def test_a_large_tree_is_checked_by_a_schema_that_recurs_once() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "additionalProperties": False,
            }
        },
    }
    value: dict[str, Any] = {"children": [{"children": [{} for _ in range(100)]} for _ in range(200)]}
    check = compile_schema(schema)
    assert check.is_valid(value)
    value["children"][3]["children"][7]["childrn"] = []
    assert not check.is_valid(value)


@pytest.mark.proves("schema.bounded")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$dynamicAnchor": "m", "anyOf": [{"$dynamicRef": "#m"}]},
    ],
)
def test_a_schema_that_refers_to_itself_in_place_ends(schema: Any) -> None:
    assert compile_schema(schema).is_valid({"a": 1}) is True


@pytest.mark.proves("schema.bounded")
@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?=(a+)+$)a*b", "^(a|aa)+\\1$", "(?=(a+)+$)(a+)+b"])
def test_a_pattern_that_backtracks_without_end_is_answered(pattern: str) -> None:
    check = compile_schema({"pattern": pattern})
    assert not check.is_valid("a" * 40 + "!")
    assert not check.is_valid("a" * 1_000_000 + "!")
    assert check.errors("a" * 1_000_000 + "!") != ()


@pytest.mark.proves("schema.bounded")
def test_text_with_a_lone_surrogate_is_checked_all_the_same() -> None:
    check = compile_schema({"properties": {"a": {"type": "string", "maxLength": 1}}})
    assert check.is_valid({"a": "\ud800"})
    assert check.errors({"a": "\ud800\ud800"}) == (FieldError("/a", "at most 1 characters", 'string "??"'),)


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": object()}, {"a": {5: 6}}, b"bytes"])
def test_what_is_not_json_does_not_fit(value: Any) -> None:
    check = compile_schema({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {}}})
    assert not check.is_valid(value)
    assert check.errors(value)[0].expected in ("a JSON value", "object")


@pytest.mark.proves("schema.bounded")
def test_a_deep_value_is_checked() -> None:
    value: Any = "leaf"
    for _ in range(190):
        value = [value]
    check = compile_schema(
        {"$ref": "#/$defs/n", "$defs": {"n": {"items": {"$ref": "#/$defs/n"}, "type": ["array", "string"]}}}
    )
    assert check.is_valid(value)
    assert not check.is_valid([value, 1])


def api(**more: Any) -> dict[str, Any]:
    """The types of a large API, all of which one tool may carry."""
    types = {
        f"T{at}": {
            "type": "object",
            "description": "words " * 60,
            "properties": {"next": {"$ref": f"#/$defs/T{(at + 1) % 300}"}, "id": {"type": "string"}},
        }
        for at in range(300)
    }
    return {"$ref": "#/$defs/T0", "$defs": types, **more}


@pytest.mark.proves("catalog.public-face")
def test_a_large_schema_is_compiled_when_it_is_used() -> None:
    check = compile_schema(api())
    assert not check.prepared
    assert check.is_valid({"next": {"next": {"id": "x"}}})
    assert check.prepared
    assert [error.pointer for error in check.errors({"next": {"id": 5}})] == ["/next/id"]


@pytest.mark.proves("schema.quarantine")
@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"properties": {"a": {"type": "objekt"}}}, "/properties/a/type"),
        ({"properties": {"a": {"pattern": "(["}}}, "/properties/a/pattern"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "/$defs/none"),
        ({"properties": {"a": {"$ref": "http://example.com/s"}}}, "http://example.com/s"),
        ({"$schema": "https://example.com/own"}, "https://example.com/own"),
    ],
)
def test_a_large_schema_that_cannot_be_enforced_is_refused_at_once(more: dict[str, Any], word: str) -> None:
    with pytest.raises(SchemaUnsupported) as refused:
        compile_schema(api(**more))
    assert word in str(refused.value)


@pytest.mark.proves("schema.quarantine")
def test_a_large_schema_that_fails_when_it_is_used_lets_nothing_through() -> None:
    check = compile_schema(api(properties={"x": {"$ref": "#/$defs/T0/properties/id/type"}}))
    assert not check.is_valid({})
    assert check.errors({})[0].expected.startswith("nothing can be checked: ")
