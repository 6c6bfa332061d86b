"""However a schema multiplies its work, and however large the value: a check ends, and what honest people write works.

None of these tests looks at a clock: without the bounds each takes minutes or gigabytes, and the run's own limit on a
test ends it.
"""

from __future__ import annotations

from typing import Any

import pytest

from codemodekit.catalog.schemas import SchemaUnsupported, compile_schema
from codemodekit.catalog.snapshot import build_source
from codemodekit.contracts import ToolDefinition, ToolListing

pytestmark = pytest.mark.proves("schema.bounded")

TEXT = {"type": "string"}
NEVER_ENDING_SEARCH = "^(a|aa)+\\1$"
LOOKS_AHEAD = "^(?=.*[A-Z])(?=.*[0-9]).{8,}$"


# --- references that hide how often they are followed -----------------------------------------------------------------


def _doubling(refer: Any, levels: int = 60) -> dict[str, Any]:
    """Definitions, each of which refers twice to the next one."""
    levelled = {f"d{at}": {"allOf": [{"$ref": refer(at + 1)}, {"$ref": refer(at + 1)}]} for at in range(levels)}
    return {**levelled, f"d{levels}": TEXT}


def _named(keyword: str, prefix: str, refer: Any) -> dict[str, Any]:
    return {name: {keyword: prefix + name, **part} for name, part in _doubling(refer).items()}


DOUBLING: dict[str, Any] = {
    "percent signs": {"$ref": "#/$defs/d0", "$defs": _doubling(lambda at: f"#/%24defs/d{at}")},
    "anchors": {"$ref": "#d0", "$defs": _named("$anchor", "", lambda at: f"#d{at}")},
    "a part with an id": {
        "$id": "http://x/root",
        "$ref": "http://x/inner",
        "$defs": {
            "a": {"$id": "http://x/inner", "$ref": "#/$defs/d0", "$defs": _doubling(lambda at: f"#/$defs/d{at}")}
        },
    },
    "relative ids": {"$ref": "http://x/y/d0", "$defs": _named("$id", "http://x/y/", lambda at: f"d{at}")},
    "an id of an old draft": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "http://x/root",
        "allOf": [{"$ref": "in"}],
        "definitions": {
            "a": {
                "$id": "in",
                "allOf": [{"$ref": "#/definitions/d0"}],
                "definitions": _doubling(lambda at: f"#/definitions/d{at}"),
            }
        },
    },
    "dynamic references beside a decoy": {
        "$id": "http://x/o",
        "$ref": "http://x/in#d0",
        "$defs": {
            "in": {
                "$id": "http://x/in",
                "$defs": {
                    f"d{at}": {"$dynamicAnchor": f"d{at}", "allOf": [{"$dynamicRef": f"#d{at + 1}"}] * 2}
                    for at in range(60)
                }
                | {"d60": {"$dynamicAnchor": "d60", **TEXT}},
            },
            "decoy": {"$id": "http://x/decoy", "$defs": {f"d{at}": {"$dynamicAnchor": f"d{at}"} for at in range(61)}},
        },
    },
}


@pytest.mark.parametrize("schema", DOUBLING.values(), ids=DOUBLING)
def test_references_that_double_are_refused_or_ended_whatever_they_are_written_like(schema: Any) -> None:
    try:
        check = compile_schema(schema)
    except SchemaUnsupported as refused:
        assert "multiplies" in str(refused)
        return
    (error,) = check.errors("fits")
    assert "takes too long" in error.expected
    assert check.errors(5) != ()


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_diamonds_of_twenty_levels_under_properties_are_checked(keyword: str) -> None:
    levels = {
        f"d{at}": {keyword: [{"properties": {side: {"$ref": f"#/$defs/d{at + 1}"}}} for side in "lr"]}
        for at in range(24)
    }
    check = compile_schema({"$ref": "#/$defs/d0", "$defs": {**levels, "d24": TEXT}})
    value: Any = "leaf"
    for _ in range(24):
        value = {"l": value}
    assert check.is_valid(value)  # of `oneOf` both fit on the innermost level, so one does on the next, and so on
    assert check.is_valid(value["l"]["l"]) is (keyword != "oneOf")


def test_a_long_chain_of_references_and_a_deep_recursive_value_are_checked() -> None:
    chain = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(150)}
    assert compile_schema({"$ref": "#/$defs/d0", "$defs": {**chain, "d150": TEXT}}).is_valid("x")
    recursive = {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "additionalProperties": False}
    value: Any = {}
    for _ in range(90):
        value = {"kids": [value]}
    assert compile_schema(recursive).is_valid(value)
    assert not compile_schema(recursive).is_valid({"kids": [value, {"kid": 1}]})


@pytest.mark.parametrize(
    "schema",
    [
        {"$dynamicAnchor": "m", "anyOf": [{"$dynamicRef": "#m"}, {"$dynamicRef": "#m"}]},
        {
            "$id": "http://x/tree",
            "$dynamicAnchor": "n",
            "properties": {"x": {"allOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}},
        },
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$recursiveAnchor": True,
            "properties": {"x": {"allOf": [{"$recursiveRef": "#"}, {"$recursiveRef": "#"}]}},
        },
    ],
)
def test_references_that_go_by_the_way_and_loop_end(schema: Any) -> None:
    check = compile_schema(schema)
    value: Any = 5
    for _ in range(190):
        value = {"x": value}
    assert (check.errors(value) == ()) is check.is_valid(value)
    assert check.is_valid({"x": {"x": 1}})


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_a_reference_through_a_part_that_is_guarded_leads_where_it_did(draft: str | None) -> None:
    loop = {"allOf": [{"properties": {"x": {"$ref": "#/$defs/loop"}}}] * 2}
    schema = {
        **({"$schema": draft} if draft else {}),
        "properties": {
            "loop": {"$ref": "#/$defs/loop"},
            "list": {"items": {"enum": [{"n": n} for n in range(50)], "properties": {"a/b %": {"const": "here"}}}},
            "through": {"$ref": "#/properties/list/items/properties/a~1b%20%25"},
            "beside": {"$ref": "#/$defs/X/properties/y"},
            "const": {"items": {"type": "null"}},
            "named": {"$ref": "#/properties/const/items"},
        },
        "$defs": {"loop": loop, "X": {"$ref": "#/$defs/loop", "properties": {"y": TEXT}}},
    }
    check = compile_schema(schema)
    assert check.is_valid({"through": "here", "beside": "y", "named": None})
    assert [error.pointer for error in check.errors({"through": 1, "beside": 1, "named": 1})] == [
        "/beside",
        "/named",
        "/through",
    ]


# --- large values under schemas that do much at each place ------------------------------------------------------------

HEAVY: dict[str, tuple[Any, Any]] = {
    "an enumeration of objects": ({"enum": [{"a": n} for n in range(20_000)]}, {"a": -1}),
    "an enumeration of all kinds": ({"enum": [None, *range(20_000)]}, -1),
    "constants": ({"anyOf": [{"const": n} for n in range(20_000)]}, -1),
    "bounds": ({"allOf": [{"minimum": n} for n in range(20_000)]}, 50_000),
    "negations": ({"allOf": [{"not": {"const": n}} for n in range(20_000)]}, -1),
    "conditions": ({"allOf": [{"if": {"const": n}, "then": False} for n in range(20_000)]}, -1),
    "dependencies": ({"dependentRequired": {f"a{n}": ["b"] for n in range(20_000)}}, {}),
    "references": ({"allOf": [{"$ref": "#/$defs/a"}] * 900}, 5),
    "patterns of names": ({"patternProperties": {f"^a{n}": TEXT for n in range(900)}}, dict.fromkeys("bcdefghi", 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("part", "value"), HEAVY.values(), ids=HEAVY)
def test_a_large_value_is_not_compared_for_ever(part: Any, value: Any) -> None:
    check = compile_schema({"items": part, "$defs": {"a": {"type": "integer"}}})
    assert check.errors([value] * 300_000) != ()


@pytest.mark.parametrize("place", ["contains", "additionalProperties", "unevaluatedProperties", "propertyNames"])
def test_nor_is_it_at_any_other_place(place: str) -> None:
    objects = [{"a": n} for n in range(20_000)]
    check = compile_schema({place: {"enum": objects if place != "propertyNames" else [None, {"a": "k1"}]}})
    many: Any = [objects[-1]] * 200_000 if place == "contains" else {f"k{n}": objects[-1] for n in range(200_000)}
    assert (check.errors(many) == ()) is (place == "contains")  # where the first that fits is enough


def test_what_takes_too_long_does_not_fit_and_a_smaller_value_of_the_kind_does() -> None:
    check = compile_schema({"items": {"anyOf": [{"const": n} for n in range(20_000)]}})
    assert check.is_valid([19_999] * 100)
    (error,) = check.errors([19_999] * 100_000)
    assert error.expected == "a smaller or less nested value: checking this one against the schema takes too long"
    assert error.given == "array of 100000"


@pytest.mark.parametrize("keyword", ["minimum", "multipleOf", "exclusiveMaximum"])
def test_integers_of_thousands_of_digits_are_not_compared_for_ever(keyword: str) -> None:
    check = compile_schema({"items": {"allOf": [{keyword: n + 2} for n in range(2_000)]}})
    assert len(check.errors([10**4_000] * 400)) == 1
    assert compile_schema({"items": {keyword: 5}}).is_valid([10**4_000] * 40) is (keyword != "exclusiveMaximum")


def test_many_rows_of_many_columns_with_long_choices_are_checked() -> None:
    country = {"enum": [f"country {n}" for n in range(250)] + [None]}
    row = {"type": "object", "properties": {f"c{n}": country for n in range(10)}, "required": ["c0"]}
    rows = [{f"c{n}": "country 249" for n in range(10)} for _ in range(5_000)]
    check = compile_schema({"type": "array", "items": row})
    assert check.is_valid(rows)
    rows[4_999]["c9"] = "country 250"
    assert not check.is_valid(rows)


@pytest.mark.parametrize("keyword", ["required", "enum"])
def test_a_long_list_of_choices_or_names_is_explained_within_bounds(keyword: str) -> None:
    check = compile_schema({"items": {keyword: [f"name {n}" for n in range(50_000)]}})
    errors = check.errors([{}] * 100_000)
    assert 1 <= len(errors) <= 8


# --- patterns ---------------------------------------------------------------------------------------------------------


def test_a_large_pattern_does_not_search_a_long_text_for_ever() -> None:
    check = compile_schema({"properties": {"t": {"pattern": "[ab]*a[ab]{9000}c"}}})
    assert check.is_valid({"t": "a" * 9_001 + "c"})
    assert check.errors({"t": "aab" * 600_000}) != ()
    assert check.errors([{"t": "aab" * 3_000}]) == ()


def test_an_ordinary_pattern_searches_a_text_of_two_megabytes() -> None:
    check = compile_schema({"properties": {"t": {"pattern": "^[a-z ]+$"}}})
    assert check.is_valid({"t": "some words " * 190_000})
    assert not check.is_valid({"t": "some words " * 190_000 + "!"})


@pytest.mark.parametrize(
    ("keyword", "what", "text"),
    [
        ("contentMediaType", "application/json", "[" + "1," * 900_000 + "1]"),
        ("contentEncoding", "base64", "YWJj" * 500_000),
    ],
)
def test_a_text_is_not_read_a_thousand_times(keyword: str, what: str, text: str) -> None:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    once = {keyword: what}
    assert compile_schema({**draft, "items": once}).is_valid([text])
    assert not compile_schema({**draft, "items": once}).is_valid([text + "!"])
    check = compile_schema({**draft, "items": {"allOf": [{**once, "title": str(n)} for n in range(2_000)]}})
    assert check.is_valid(["1234"])
    (error,) = check.errors([text])
    assert "takes too long" in error.expected


@pytest.mark.parametrize("place", ["items", "additionalProperties", "propertyNames"])
def test_patterns_that_backtrack_end_however_many_texts_there_are(place: str) -> None:
    check = compile_schema({place: {"pattern": NEVER_ENDING_SEARCH}})
    texts = [f"{'a' * 1_000}{n}" for n in range(2_000)]
    many = texts if place == "items" else {text: text for text in texts}
    (*_, error) = check.errors(many)
    assert "within bounds" in error.expected or place == "propertyNames"


def test_names_that_are_looked_at_by_patterns_that_backtrack_end() -> None:
    check = compile_schema({"patternProperties": {NEVER_ENDING_SEARCH: TEXT}})
    assert check.is_valid({"aaa": "x", "c": 1})
    assert not check.is_valid({"aaa": 1})
    many = {f"{'a' * 1_000}{n}": 1 for n in range(2_000)}
    assert (check.errors(many) == ()) is check.is_valid(many)


def test_a_text_that_no_such_pattern_looks_at_may_be_of_any_length() -> None:
    address, password = {"pattern": "^(?!\\.)[a-z.]+@[a-z.]+$"}, {"allOf": [{"pattern": LOOKS_AHEAD}]}
    check = compile_schema({"properties": {"to": address, "body": TEXT, "password": password}})
    mail = {"to": "ada@example.org", "body": "word " * 100_000, "password": "Secret 12"}
    assert check.errors(mail) == ()
    (error,) = check.errors({**mail, "to": "a" * 3_000})
    assert (error.pointer, error.expected) == (
        "/to",
        "text of at most 2048 characters (longer cannot be matched safely)",
    )
    assert [error.pointer for error in check.errors({**mail, "password": "secret"})] == ["/password"]


def test_thousands_of_short_texts_are_looked_at_by_a_pattern_that_looks_ahead() -> None:
    check = compile_schema({"items": {"properties": {"mail": {"pattern": "^(?!\\.)[a-z0-9.]+@[a-z.]+$"}}}})
    people = [{"mail": f"person.{n}@example.org"} for n in range(8_000)]
    assert check.is_valid(people)
    people[7_999]["mail"] = "nobody"
    assert not check.is_valid(people)


@pytest.mark.parametrize(
    ("pattern", "fits", "refuses"),
    [
        ("^\\p{L}+$", "Ünïcödé", "a1"),
        ("^\\p{Script=Greek}+$", "αβγ", "abc"),
        ("^[\\p{L}\\p{N} _-]{1,100}$", "a b-c_9", "!"),
        ("^\\d{1,9999}$", "1" * 9_999, "1" * 10_000),
        ("^(a+)+$", "a" * 50_000, "a" * 50_000 + "!"),
        ("^(?!.*\\.\\.)[a-z.]+$", "a.b", "a..b"),
        ("^(['\"]).*\\1$", "'x'", "'x\""),
        ("(?<=\\$)[0-9]+", "$5", "5"),
        ("^\\S+$", "a", "a b"),
        ("\\u00e9", "é", "e"),
    ],
)
def test_patterns_as_people_write_them_are_enforced(pattern: str, fits: str, refuses: str) -> None:
    check = compile_schema({"pattern": pattern})
    assert check.is_valid(fits)
    assert not check.is_valid(refuses)


@pytest.mark.proves("schema.quarantine")
@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "\\p{L}{65536}"},
        {"pattern": "(?<name>a)\\k<name>"},
        {"items": {"pattern": "((((a{100}){100}){100}){100})"}},
        {"patternProperties": {"(": {}}},
        {"properties": {f"p{n}": {"pattern": f"^(\\p{{L}}|{n}){{9}}$"} for n in range(200)}},
        {"patternProperties": {f"^a{n}": TEXT for n in range(5_000)}},
        {"pattern": "a" * 1_000_000},
        {"properties": {f"p{n}": {"pattern": f"(\\p{{L}}{{{n}}})x"} for n in range(50, 500)}},
    ],
)
def test_patterns_that_no_engine_can_carry_put_their_tool_aside_alone(schema: Any) -> None:
    tools = (ToolDefinition(name="bad", input_schema=schema), ToolDefinition(name="good"))
    source = build_source("s", ToolListing(definitions=tools))
    assert set(source.tools) == {"good"}
    assert source.quarantined["bad"].startswith("input schema: ")


def test_a_schema_whose_patterns_make_large_programs_is_compiled_when_it_is_used() -> None:
    properties = {f"p{n}": {"pattern": f"^(\\p{{L}}|{n})+$"} for n in range(20)}
    check = compile_schema({"properties": properties})
    assert not check.prepared
    assert check.is_valid({"p1": "é1"})
    assert not check.is_valid({"p1": "é2"})
    assert check.prepared


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {f"d{n}": {"$anchor": f"d{n}"} for n in range(20_000)}, "$ref": "#d7"},
        {"$dynamicAnchor": "a", "properties": {f"p{n}": {"$dynamicRef": "#a"} for n in range(5_000)}},
        {
            "$id": "http://x/",
            "$ref": "d0",
            "$defs": {
                f"d{n}": {"$id": f"d{n}", "items": {"$ref": "#/$defs/q"}, "$defs": {"q": TEXT}} for n in range(2_000)
            },
        },
        {
            "$id": "http://x/",
            "$ref": "d0",
            "$defs": {f"d{n}": {"$id": f"d{n}", "$ref": f"d{n + 1}"} for n in range(199)} | {"d199": {"$id": "d199"}},
        },
        {
            "properties": {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(5_000)},
            "$defs": {f"d{n}": TEXT for n in range(5_000)},
        },
    ],
    ids=["anchors", "dynamic references", "parts with ids", "a chain of ids", "references"],
)
def test_a_schema_of_very_many_references_is_compiled(schema: Any) -> None:
    assert compile_schema(schema).is_valid({"p0": "x"})
