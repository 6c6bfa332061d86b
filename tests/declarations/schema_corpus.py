"""Schemas as they are met in the wild and as they should not be, with values that fit and values that do not.

`refuses` holds values that the schema refuses for a reason TypeScript has words for; others belong elsewhere.
"""

from __future__ import annotations

from typing import Any

from .schema_cases import DRAFT_7, DRAFT_2019, DRAFT_2020, NULL, REF_A, B, Case, I, N, S, obj
from .schema_families import FAMILIES

SCALARS = [
    Case("string", S, ("a",), (1, None)),
    Case("integer", I, (1,), ("1",)),
    Case("boolean", B, (True,), ("true",)),
    Case("null", NULL, (None,), (0,)),
    Case("type array", {"type": ["string", "null", "integer"]}, ("a", None, 1), (True, [])),
    Case("nullable", {"type": "string", "nullable": True}, ("a",), (1,)),
    Case("empty", {}, (1, "a", None, [1], {"a": 1})),
    Case("true", True, (1, None)),
    Case("false", False),
    Case("bounds and formats", {"type": "string", "format": "date", "pattern": "^*/", "minLength": 2}),
    Case("no schema at all", 17),
    Case("unknown type", {"type": "file"}),
]

ENUMS = [
    Case("enum", {"enum": ["a", "b"]}, ("a",), ("c", 1)),
    Case("enum with null and type array", {"type": ["string", "null"], "enum": ["a", None]}, ("a", None), ("b",)),
    Case("enum holding null", {"enum": ["a", None]}, ("a", None), ("b",)),
    Case("mixed enum", {"enum": [1, "1", True, None, -2.5]}, (1, "1", True, None, -2.5), (2, "2", False)),
    Case("enum cut by type", {"type": "string", "enum": ["a", 1]}, ("a",), (1,)),
    Case("nullable enum", {"type": "string", "enum": ["a"], "nullable": True}, ("a",), ("b",)),
    Case("both booleans", {"enum": [True, False]}, (True, False), (1,)),
    Case("const", {"const": "a"}, ("a",), ("b",)),
    Case("const null", {"const": None}, (None,), (1,)),
    Case("const object", {"const": {"a": [1, "x", {}]}}, ({"a": [1, "x", {}]},), ({"a": [2, "x", {}]},)),
    Case("const empty array", {"const": []}, ([],), ([1],)),
    Case("strange literals", {"enum": ['"', "\\", "\n", "\u2028", "*/", "${x}", "`", "\ud800", "", "é", "👩‍👩‍👧"]}),
    Case("strange numbers", {"enum": [1e400, 10**400, -0.0, 1e-7, 1e21, 2**53, 2**60, 1.0]}, (1.0,)),
    Case("empty enum", {"enum": []}),
    Case("giant enum", {"enum": [f"value-{n}" for n in range(50_000)]}, ("value-7",)),
    Case("giant mixed enum", {"enum": [*range(5_000), None, "x", {"a": 1}]}, (7, None)),
    Case("giant typed enum", {"type": ["string", "null"], "enum": ["x" * 5_000, None]}, ("x" * 5_000,), (1,)),
]

OBJECTS = [
    Case("open object", {"type": "object"}, ({}, {"a": 1}), (1, "a")),
    Case("required and optional", obj({"a": S, "b": I}, "a"), ({"a": "x"}, {"a": "x", "b": 1}), ({"b": 1}, {"a": 1})),
    Case("closed object", obj({"a": S}, additionalProperties=False), ({"a": "x"}, {}), ({"a": "x", "b": 1},)),
    Case("closed and empty", obj({}, additionalProperties=False), ({},), ({"a": 1},)),
    Case("map", {"type": "object", "additionalProperties": N}, ({"a": 1},), ({"a": "x"},)),
    Case(
        "map beside properties",
        obj({"id": S}, "id", additionalProperties=N),
        ({"id": "x", "n": 1},),
        ({"n": 1}, {"id": "x", "n": True}),
    ),
    Case(
        "map beside optional properties", obj({"id": S}, additionalProperties=N), ({"n": 1}, {"id": "x"}), ({"n": [1]},)
    ),
    Case("map of everything", obj({"id": S}, additionalProperties=True), ({"id": "x", "y": [1]},), ({"id": 1},)),
    Case(
        "map beside many",
        obj({f"p{n}": {"const": n} for n in range(9)}, additionalProperties=S),
        ({"p1": 1, "x": "y"},),
        ({"p1": 2},),
    ),
    Case("prefix pattern", obj({"id": I}, patternProperties={"^x-": S}), ({"id": 1, "x-a": "b"},), ({"x-a": 1},)),
    Case(
        "prefix pattern, closed",
        obj({"x-id": I}, patternProperties={"^x-": {"type": ["string", "integer"]}}, additionalProperties=False),
        ({"x-id": 1, "x-a": "b"},),
        ({"x-a": True}, {"y": "z"}),
    ),
    Case(
        "other pattern, closed",
        obj({}, patternProperties={"[0-9]+$": N}, additionalProperties=False),
        ({"a1": 1},),
        ({"a1": "x"},),
    ),
    Case("other pattern, open", obj({"id": S}, patternProperties={"a*/.$": N}), ({"id": "x"},), ({"id": 1},)),
    Case(
        "two patterns",
        obj({}, patternProperties={"^a": N, "^b": S}, additionalProperties=False),
        ({"a": 1, "b": "x"},),
        ({"a": True},),
    ),
    Case("patterns that forbid", obj({"a": S}, patternProperties={"^b": False}), ({"a": "x"},), ({"b": 1},)),
    Case(
        "allowed names",
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": N},
        ({"a": 1},),
        ({"c": 1}, {"a": "x"}),
    ),
    Case(
        "allowed names, open",
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "required": ["b"]},
        ({"b": [1]},),
        ({"a": 1}, {"b": 1, "c": 1}),
    ),
    Case("required without a property", {"type": "object", "required": ["a"]}, ({"a": 1},), ({},)),
    Case("properties without type", {"properties": {"a": S}}, ({"a": "x"},), ({"a": 1},)),
    Case("forbidden property", obj({"a": False, "b": True}), ({"b": 1},), ({"a": 1},)),
    Case("object or string", {"type": ["object", "string"], "properties": {"a": S}}, ("x", {"a": "x"}), (1, {"a": 1})),
    Case(
        "keywords",
        obj(
            dict.fromkeys(
                ("new", "class", "constructor", "get", "readonly", "__proto__", "default", "in", "static", "async"), S
            ),
            "new",
        ),
    ),
    Case(
        "strange names",
        obj(
            dict.fromkeys(
                ("a-b", "a b", "", "1", "é", '"', "\\", "\n", "*/", "\u2028", "\ud800", "$a", "_b", "`${x}`"), S
            )
        ),
    ),
    Case(
        "500 properties",
        obj({f"property_{n}": {**S, "description": "What it is. " * 20} for n in range(500)}, "property_0"),
        ({"property_0": "x"},),
        ({"property_0": 1},),
    ),
    Case(
        "nested",
        obj({"a": obj({"b": obj({"c": I}, "c")}, "b")}, "a"),
        ({"a": {"b": {"c": 1}}},),
        ({"a": {"b": {"c": "x"}}}, {"a": {"b": {}}}),
    ),
    Case("unevaluated false", obj({"a": S}, unevaluatedProperties=False), ({"a": "x"},), ({"b": 1},)),
    Case("unevaluated schema", obj({}, unevaluatedProperties=N), ({"b": 1},), ({"b": "x"},)),
]

ARRAYS = [
    Case("array", {"type": "array", "items": S}, (["a"], []), ([1], "a")),
    Case("array of anything", {"type": "array"}, ([1, "a"],), ({},)),
    Case("array of unions", {"type": "array", "items": {"anyOf": [S, N]}}, ([1, "a"],), ([True],)),
    Case(
        "array of a giant enum", {"type": "array", "items": {"enum": [f"v{n}" for n in range(999)]}}, (["v1"],), ([1],)
    ),
    Case("items without type", {"items": S}, (["a"],), ([1],)),
    Case("items false", {"type": "array", "items": False}, ([],), ([1],)),
    Case(
        "prefixItems",
        {"type": "array", "prefixItems": [S, N], "items": False, "minItems": 2},
        (["a", 1],),
        ([1, "a"], ["a"], ["a", 1, 2]),
    ),
    Case(
        "optional items",
        {"type": "array", "prefixItems": [S, N], "items": False},
        ([], ["a"], ["a", 1]),
        ([1], ["a", 1, 1]),
    ),
    Case(
        "tuple with a tail",
        {"type": "array", "prefixItems": [S], "items": N, "minItems": 1},
        (["a", 1, 2],),
        (["a", "b"], []),
    ),
    Case("open tuple", {"type": "array", "prefixItems": [S]}, (["a", True],), ([1],)),
    Case(
        "tuple of an old draft",
        {"$schema": DRAFT_7, "type": "array", "items": [S, N], "additionalItems": False},
        (["a", 1],),
        (["a", 1, 1], [1]),
    ),
    Case(
        "open tuple of an old draft",
        {"$schema": DRAFT_7, "type": "array", "items": [S], "additionalItems": N},
        (["a", 1],),
        (["a", "b"],),
    ),
    Case(
        "tuple ended by maxItems",
        {"type": "array", "prefixItems": [S, N, B], "maxItems": 2},
        (["a", 1],),
        (["a", 1, True],),
    ),
    Case("unevaluated items", {"type": "array", "prefixItems": [S], "unevaluatedItems": False}, (["a"],), (["a", 1],)),
    Case(
        "tuple of unions",
        {"type": "array", "prefixItems": [{"anyOf": [S, N]}, {"anyOf": [{"type": "array", "items": S}, NULL]}]},
        ([1, None],),
        ([True],),
    ),
    Case("strange bounds", {"type": "array", "prefixItems": [S], "minItems": -3, "maxItems": 1.5}),
]

COMPOSED = [
    Case("anyOf", {"anyOf": [S, N]}, ("a", 1), (True,)),
    Case("oneOf with null", {"oneOf": [obj({"a": S}, "a"), NULL]}, ({"a": "x"}, None), ({"a": 1}, 3)),
    Case("allOf", {"allOf": [obj({"a": S}, "a"), obj({"b": N}, "b")]}, ({"a": "x", "b": 1},), ({"a": "x"}, {"b": 1})),
    Case(
        "allOf beside properties",
        obj({"a": S}, "a", allOf=[{"required": ["b"]}, {"properties": {"b": N}}]),
        ({"a": "x", "b": 1},),
        ({"a": "x"}, {"a": "x", "b": "y"}),
    ),
    Case(
        "anyOf of required",
        obj({"a": S, "b": N}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        ({"a": "x"}, {"b": 1}),
        ({}, {"a": 1}),
    ),
    Case(
        "oneOf beside properties",
        obj({"id": I}, "id", oneOf=[obj({"a": S}, "a"), obj({"b": S}, "b")]),
        ({"id": 1, "a": "x"}, {"id": 1, "b": "x"}),
        ({"id": 1}, {"a": "x"}),
    ),
    Case(
        "type beside anyOf",
        {
            "type": "object",
            "anyOf": [{"properties": {"a": S}, "required": ["a"]}, {"properties": {"b": S}, "required": ["b"]}],
        },
        ({"a": "x"}, {"b": "x"}),
        ({}, 1),
    ),
    Case(
        "type beside allOf of checks", {"type": "string", "allOf": [{"pattern": "a"}, {"minLength": 1}]}, ("a",), (1,)
    ),
    Case(
        "tagged union",
        {"oneOf": [obj({"kind": {"const": k}, k: S}, "kind", k) for k in ("a", "b")]},
        ({"kind": "a", "a": "x"},),
        ({"kind": "a", "b": "x"}, {"kind": "c"}),
    ),
    Case("not", {"type": "string", "not": {"const": "a"}}, ("b",), (1,)),
    Case(
        "if then else",
        obj({"a": S, "b": {}}, **{"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": False}),
        ({"a": "x", "b": 1},),
        ({"a": 1, "b": 1},),
    ),
    Case(
        "optional number of a generator",
        obj({"n": {"anyOf": [{"type": "integer", "minimum": 1}, NULL], "default": None, "title": "N"}}),
        ({"n": 1}, {"n": None}, {}),
        ({"n": "x"},),
    ),
    Case("anyOf with an empty one", {"anyOf": [{}, S]}, (1,)),
    Case("contradiction", {"allOf": [S, N]}),
    Case("array beside anyOf", {"type": "array", "anyOf": [{"items": S}, {"items": N}]}, (["a"], [1]), (["a", 1], 1)),
    Case("empty compositions", {"allOf": [], "anyOf": [], "oneOf": []}),
    Case("compositions that are none", {"allOf": {}, "anyOf": 3, "oneOf": "x", "type": "string"}),
    Case(
        "products of unions",
        {"allOf": [{"anyOf": [obj({f"p{i}{j}": S}, f"p{i}{j}") for j in range(30)]} for i in range(6)]},
    ),
    Case(
        "products of aliases",
        {
            "allOf": [{"$ref": f"#/$defs/U{i}"} for i in range(5)],
            "$defs": {f"U{i}": {"anyOf": [obj({f"p{i}{j}": S}, f"p{i}{j}") for j in range(25)]} for i in range(5)},
        },
    ),
]

REFERENCES = [
    Case(
        "reference",
        {"$defs": {"A": obj({"x": S}, "x")}, **obj({"a": REF_A}, "a")},
        ({"a": {"x": "y"}},),
        ({"a": {"x": 1}}, {"a": {}}),
    ),
    Case(
        "root is a reference",
        {**REF_A, "$defs": {"A": obj({"a": REF_A, "n": I}, "n")}},
        ({"n": 1, "a": {"n": 2}},),
        ({"n": 1, "a": {}},),
    ),
    Case(
        "recursion through the root",
        obj({"kids": {"type": "array", "items": {"$ref": "#"}}, "name": S}, "name"),
        ({"name": "a", "kids": [{"name": "b"}]},),
        ({"name": "a", "kids": [{}]},),
    ),
    Case(
        "mutual recursion",
        {**REF_A, "$defs": {"A": obj({"b": {"$ref": "#/$defs/B"}}), "B": obj({"a": REF_A, "n": N})}},
        ({"b": {"a": {"b": {"n": 1}}}},),
        ({"b": {"a": {"b": {"n": "x"}}}},),
    ),
    Case(
        "recursive union",
        {
            **REF_A,
            "$defs": {
                "A": {
                    "anyOf": [S, {"type": "array", "items": REF_A}, {"type": "object", "additionalProperties": REF_A}]
                }
            },
        },
        ("a", ["a", ["b", {"c": "d"}]]),
        (1, [1], {"a": 1}),
    ),
    Case(
        "description beside a recursive reference",
        {**REF_A, "$defs": {"A": obj({"a": {**REF_A, "description": "again"}})}},
        ({"a": {"a": {}}},),
        ({"a": 1},),
    ),
    Case(
        "siblings of a reference",
        {"$defs": {"A": obj({"x": S}, "x")}, "allOf": [{**REF_A, **obj({"y": N}, "y")}]},
        ({"x": "a", "y": 1},),
        ({"x": "a"}, {"y": 1}),
    ),
    Case(
        "siblings of a reference in an old draft",
        {"$schema": DRAFT_7, "definitions": {"A": S}, **obj({"a": {"$ref": "#/definitions/A", "type": "number"}})},
        ({"a": "x"},),
        ({"a": 1},),
    ),
    Case(
        "definitions",
        {"definitions": {"A": {"enum": ["x"]}}, **obj({"a": {"$ref": "#/definitions/A"}})},
        ({"a": "x"},),
        ({"a": "y"},),
    ),
    Case("escaped pointers", {"$defs": {"a/b~c d": {"enum": [1]}}, "$ref": "#/$defs/a~1b~0c%20d"}, (1,), (2,)),
    Case(
        "pointer into properties",
        obj({"a": obj({"x": N}), "b": {"$ref": "#/properties/a"}}),
        ({"b": {"x": 1}},),
        ({"b": {"x": "y"}},),
    ),
    Case(
        "pointer into a list",
        {"anyOf": [{"enum": ["a"]}, {"type": "array", "items": {"$ref": "#/anyOf/0"}}]},
        ("a", ["a"]),
        ("b", ["b"]),
    ),
    Case("anchor", {"$defs": {"A": {"$anchor": "here", "enum": ["x"]}}, "$ref": "#here"}, ("x",), ("y",)),
    Case(
        "anchor of an old draft",
        {"$schema": DRAFT_7, "definitions": {"A": {"$id": "#here", "enum": ["x"]}}, **obj({"a": {"$ref": "#here"}})},
        ({"a": "x"},),
        ({"a": "y"},),
    ),
    Case(
        "ids inside the document",
        {
            "$id": "https://example.com/root.json",
            "$defs": {"A": {"$id": "a.json", "$defs": {"B": {"enum": ["x"]}}, "$ref": "#/$defs/B"}},
            "$ref": "a.json",
        },
        ("x",),
        ("y",),
    ),
    Case(
        "embedded root",
        {"$id": "https://example.com/root.json", **obj({"a": {"$ref": "https://example.com/root.json"}, "n": N}, "n")},
        ({"n": 1, "a": {"n": 2}},),
        ({"n": 1, "a": {}},),
    ),
    Case("urn", {"$id": "urn:example:root", "$defs": {"A": {"enum": ["x"]}}, **REF_A}, ("x",), ("y",)),
    Case(
        "dynamic reference",
        {
            "$schema": DRAFT_2020,
            "$dynamicAnchor": "node",
            **obj({"kids": {"type": "array", "items": {"$dynamicRef": "#node"}}, "n": N}, "n"),
        },
        ({"n": 1, "kids": [{"n": 2}]},),
        ({"n": 1, "kids": [{}]},),
    ),
    Case(
        "recursive reference",
        {"$schema": DRAFT_2019, **obj({"kids": {"type": "array", "items": {"$recursiveRef": "#"}}, "n": N}, "n")},
        ({"n": 1, "kids": [{"n": 2}]},),
        ({"n": 1, "kids": [{}]},),
    ),
    Case(
        "reference to true and false",
        {"$defs": {"T": True, "F": False}, **obj({"t": {"$ref": "#/$defs/T"}, "f": {"$ref": "#/$defs/F"}})},
        ({"t": 1},),
        ({"f": 1},),
    ),
    Case(
        "dangling and remote references",
        obj(
            {
                "a": {"$ref": "#/nope"},
                "b": {"$ref": "https://example.com/x"},
                "c": {"$ref": "http://["},
                "d": {"$ref": 3},
                "e": {"$ref": "#" + "x" * 5000},
            }
        ),
    ),
    Case("a reference to itself", {"$ref": "#"}),
    Case("an alias of itself", {**REF_A, "$defs": {"A": {"anyOf": [REF_A, S]}}}),
    Case(
        "a circle of aliases",
        {
            **REF_A,
            "$defs": {
                "A": {"anyOf": [{"$ref": "#/$defs/B"}, S]},
                "B": {"allOf": [{"$ref": "#/$defs/C"}, {"anyOf": [S, N]}]},
                "C": {"oneOf": [REF_A, N]},
            },
        },
    ),
    Case(
        "an alias into a circle",
        {
            "anyOf": [{"$ref": "#/$defs/X"}, N],
            "$defs": {
                "X": {"anyOf": [REF_A, B]},
                "A": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/X"}}, REF_A]},
            },
        },
    ),
    Case(
        "a reference nullable beside",
        obj({"a": {**REF_A, "nullable": True}}, **{"$defs": {"A": {"enum": ["x", 1]}}}),
        ({"a": "x"},),
        ({"a": "y"},),
    ),
    Case(
        "names that collide",
        {
            "$defs": {
                "a_b": {"enum": [1]},
                "aB": {"enum": [2]},
                "a-b": {"enum": [3]},
                "": {"enum": [4]},
                "1": {"enum": [5]},
                "é": {"enum": [6]},
            },
            **obj({str(n): {"$ref": f"#/$defs/{k}"} for n, k in enumerate(["a_b", "aB", "a-b", "", "1", "%C3%A9"])}),
        },
        ({"0": 1, "1": 2, "2": 3},),
        ({"0": 2}, {"2": 1}),
    ),
]


def _chain(length: int) -> dict[str, Any]:
    defs: dict[str, Any] = {f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}, {"const": n}]} for n in range(length)}
    return {"$ref": "#/$defs/A0", "$defs": {**defs, f"A{length}": NULL}}


def _diamond(height: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"A{n}": obj({"l": {"$ref": f"#/$defs/A{n + 1}"}, "r": {"$ref": f"#/$defs/A{n + 1}"}}) for n in range(height)
    }
    return {"$ref": "#/$defs/A0", "$defs": {**defs, f"A{height}": S}}


def _shared(height: int) -> dict[str, Any]:
    schema: dict[str, Any] = S
    for _ in range(height):
        schema = obj({"l": schema, "r": schema}, allOf=[schema])
    return schema


def _deep(keyword: str, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = S
    for _ in range(depth):
        schema = {
            "properties": {"type": "object", "properties": {"a": schema}},
            "items": {"type": "array", "items": schema},
            "allOf": {"allOf": [schema, {"minLength": 1}]},
            "anyOf": {"anyOf": [schema, N]},
            "additionalProperties": {"type": "object", "additionalProperties": schema},
        }[keyword]
    return schema


def _deep_value(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


KEYWORDS = (
    "$anchor",
    "$defs",
    "$dynamicRef",
    "$id",
    "$recursiveRef",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maxItems",
    "minItems",
    "nullable",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
)

HOSTILE = [
    *(
        Case(f"deep {keyword}", _deep(keyword, 20_000))
        for keyword in ("properties", "items", "allOf", "anyOf", "additionalProperties")
    ),
    Case("a long chain", _chain(3_000)),
    Case("a diamond", _diamond(200)),
    Case("a schema shared by identity", _shared(40)),
    Case("a deep const", {"const": _deep_value(20_000), "default": _deep_value(20_000), "type": "array"}),
    Case(
        "a deep default",
        obj({"a": {"type": "array", "default": _deep_value(20_000), "examples": [_deep_value(20_000)]}}),
    ),
    Case(
        "a huge description",
        obj({"a": {**S, "description": "*/ }; any \u202e \0" * 100_000}}),
        ({"a": "x"},),
        ({"a": 1},),
    ),
    Case("a huge name", obj({"x" * 100_000: S, "a": S}), ({"a": "x"},)),
    Case("a huge number of properties", obj({f"p{n}": S for n in range(100_000)}, *(f"p{n}" for n in range(100_000)))),
    Case("a huge number of names required", {"type": "object", "required": [f"p{n}" for n in range(100_000)]}),
    Case("a huge union", {"anyOf": [obj({f"p{n}": S}, f"p{n}") for n in range(5_000)]}),
    Case("a huge allOf", {"allOf": [obj({"same": {"minLength": n}, f"p{n}": S}) for n in range(5_000)]}),
    Case(
        "branches beside many properties",
        obj(
            {f"p{n}": S for n in range(3_000)},
            allOf=[{"required": [f"p{n}"], "properties": {f"q{n}": S}} for n in range(3_000)],
        ),
    ),
    Case("a huge tuple", {"type": "array", "prefixItems": [S] * 50_000}),
    Case(
        "a number of 10000 digits",
        {"type": "integer", "enum": [10**10_000], "minimum": 10**10_000, "default": 10**10_000},
    ),
    Case(
        "every keyword wrong",
        dict.fromkeys(KEYWORDS, 5),
    ),
    Case(
        "every keyword a list",
        {keyword: [[], {}, None] for keyword in KEYWORDS},
    ),
    Case("infinite bounds", {"type": "array", "prefixItems": [S], "minItems": 1e400, "maxItems": 1e400}),
    Case("keys of another type", {"type": "object", "properties": {1: S, None: S}}),
]

CASES = [*SCALARS, *ENUMS, *OBJECTS, *ARRAYS, *COMPOSED, *REFERENCES, *FAMILIES, *HOSTILE]
