"""Schemas of one family each, as generators and people write them: recursion, tuples, unions, names, texts."""

from __future__ import annotations

from typing import Any

from .schema_cases import DRAFT_7, DRAFT_2019, DRAFT_2020, NULL, REF_A, B, Case, I, N, S, obj

RECURSION = [
    Case(
        "a tree of lists",
        {"$ref": "#/$defs/T", "$defs": {"T": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/T"}, N]}}}},
        ([1, [2, [3, []]]],),
        (["a"], [[["a"]]], 1),
    ),
    Case(
        "mutual recursion through lists",
        {
            **REF_A,
            "$defs": {
                "A": obj({"bs": {"type": "array", "items": {"$ref": "#/$defs/B"}}}, "bs"),
                "B": obj({"as": {"type": "array", "items": REF_A}}, "as"),
            },
        },
        ({"bs": [{"as": [{"bs": []}]}]},),
        ({"bs": [{"as": [{}]}]}, {"bs": [{"bs": []}]}),
    ),
    Case(
        "recursion through a map",
        {**REF_A, "$defs": {"A": {"type": "object", "additionalProperties": {"anyOf": [REF_A, S]}}}},
        ({"a": {"b": {"c": "d"}}},),
        ({"a": 1}, {"a": {"b": True}}),
    ),
    Case(
        "recursion through a tuple",
        {**REF_A, "$defs": {"A": {"type": "array", "prefixItems": [S, REF_A], "items": False, "minItems": 1}}},
        (["a"], ["a", ["b", ["c"]]]),
        (["a", "b"], [], ["a", [1]]),
    ),
    Case(
        "recursion through an anchor",
        {"$anchor": "top", **obj({"next": {"$ref": "#top"}, "n": I}, "n")},
        ({"n": 1, "next": {"n": 2}},),
        ({"n": 1, "next": {}},),
    ),
    Case(
        "recursion through a nullable property",
        obj({"next": {"anyOf": [{"$ref": "#"}, NULL]}, "n": I}, "n", "next"),
        ({"n": 1, "next": {"n": 2, "next": None}},),
        ({"n": 1}, {"n": 1, "next": {"n": 1}}),
    ),
    Case(
        "recursion through allOf",
        {
            "$ref": "#/$defs/Dir",
            "$defs": {
                "Node": obj({"name": S}, "name"),
                "Dir": {"allOf": [{"$ref": "#/$defs/Node"}, obj({"kids": {"items": {"$ref": "#/$defs/Dir"}}})]},
            },
        },
        ({"name": "a", "kids": [{"name": "b"}]},),
        ({"kids": []}, {"name": "a", "kids": [{}]}),
    ),
    Case(
        "an expression language",
        {
            "$ref": "#/$defs/E",
            "$defs": {
                "E": {
                    "oneOf": [
                        N,
                        obj(
                            {"op": {"enum": ["+", "*"]}, "args": {"type": "array", "items": {"$ref": "#/$defs/E"}}},
                            "op",
                            "args",
                        ),
                        obj({"neg": {"$ref": "#/$defs/E"}}, "neg", additionalProperties=False),
                    ]
                }
            },
        },
        (1, {"op": "+", "args": [1, {"neg": {"op": "*", "args": []}}]}),
        ("a", {"op": "-", "args": []}, {"neg": "x"}),
    ),
    Case(
        "dynamic references with two that may be meant",
        {
            "$schema": DRAFT_2020,
            "$id": "https://example.com/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$dynamicAnchor": "node",
                    **obj({"data": N, "kids": {"type": "array", "items": {"$dynamicRef": "#node"}}}),
                }
            },
        },
        ({"data": 1, "kids": [{"data": 2}]},),
        ({"data": "x"},),
    ),
    Case(
        "a dynamic reference to a plain anchor",
        {
            "$schema": DRAFT_2020,
            "$defs": {"A": {"$anchor": "here", **S}, "B": {"$id": "https://e.com/b", "$dynamicAnchor": "here", **N}},
            **obj({"a": {"$dynamicRef": "#here"}}),
        },
        ({"a": "x"},),
        ({"a": 1},),
    ),
    Case(
        "recursive references with two that may be meant",
        {
            "$schema": DRAFT_2019,
            "$id": "https://example.com/outer",
            "$recursiveAnchor": True,
            "anyOf": [I, {"$ref": "inner"}],
            "$defs": {
                "inner": {
                    "$id": "inner",
                    "$recursiveAnchor": True,
                    "type": "object",
                    "additionalProperties": {"anyOf": [{"$recursiveRef": "#"}, S]},
                }
            },
        },
        (1, {"a": "x"}, {"a": 1}, {"a": {"b": 2}}),
        ("x", True),
    ),
]


def _levels(keyword: str, height: int) -> dict[str, Any]:
    def next_of(at: int) -> dict[str, Any]:
        return {"$ref": f"#/$defs/A{at + 1}"}

    defs: dict[str, Any] = {
        f"A{at}": {
            "properties": obj({"l": next_of(at), "r": next_of(at)}),
            "items": {"type": "array", "prefixItems": [next_of(at), next_of(at)]},
            "allOf": {"allOf": [next_of(at), next_of(at), obj({f"p{at}": I})]},
            "anyOf": {"anyOf": [next_of(at), next_of(at), obj({f"p{at}": I}, f"p{at}")]},
            "twice": {"allOf": [{"$ref": f"#/$defs/L{at}"}, {"$ref": f"#/$defs/R{at}"}]},
        }[keyword]
        for at in range(height)
    }
    if keyword == "twice":
        defs |= {
            f"{side}{at}": {"allOf": [next_of(at), obj({f"{side}{at}": I})]} for at in range(height) for side in "LR"
        }
    return {"$ref": "#/$defs/A0", "$defs": {**defs, f"A{height}": obj({"end": S}, "end")}}


DIAMONDS = [
    Case("a diamond of properties", _levels("properties", 24), ({"l": {"r": {}}, "r": {}},), ({"l": {"r": 1}},)),
    Case("a diamond of tuples", _levels("items", 24), ([[], [[]]],), ([1], [[1]])),
    Case("a diamond of allOf", _levels("allOf", 24)),
    Case("a diamond of anyOf", _levels("anyOf", 24)),
    Case("a diamond of twice two", _levels("twice", 24)),
    Case(
        "a small diamond of allOf",
        _levels("allOf", 4),
        ({"end": "x", "p0": 1, "p3": 2},),
        ({"p0": 1}, {"end": "x", "p3": "y"}),
    ),
    Case("a small diamond of anyOf", _levels("anyOf", 4), ({"end": "x"}, {"p2": 1}), ({}, {"p2": "x"}, 1)),
]

POINTERS = [
    Case(
        "names that pointers escape",
        obj(
            {
                str(n): {"$ref": f"#/$defs/{name}"}
                for n, name in enumerate(["a~0b", "a~1b", "a%25b", "a%20b", "~01", "%C3%A9"])
            },
            **{"$defs": {name: {"const": name} for name in ["a~b", "a/b", "a%b", "a b", "~1", "é"]}},
        ),
        ({"0": "a~b", "1": "a/b", "2": "a%b", "3": "a b", "4": "~1", "5": "é"},),
        ({"0": "a/b"}, {"1": "a~b"}, {"2": "a%25b"}, {"4": "/"}),
    ),
    Case(
        "a pointer through every kind of place",
        {
            "allOf": [{"properties": {"a": {"items": {"anyOf": [S, {"const": 7}]}}}}],
            **obj({"b": {"$ref": "#/allOf/0/properties/a/items/anyOf/1"}}),
        },
        ({"b": 7, "a": ["x", 7]},),
        ({"b": 8}, {"a": [8]}),
    ),
    Case(
        "an anchor inside a part with an id",
        {
            "$id": "https://example.com/r",
            "$defs": {
                "P": {"$id": "p", "$defs": {"x": {"$anchor": "x", "enum": ["in p"]}}},
                "x": {"$anchor": "x", **N},
            },
            **obj({"a": {"$ref": "p#x"}, "b": {"$ref": "#x"}}),
        },
        ({"a": "in p", "b": 1},),
        ({"a": 1}, {"b": "in p"}),
    ),
    Case(
        "a pointer from a part with an id",
        {
            "$id": "https://e.com/r",
            "$defs": {"P": {"$id": "p", "$ref": "#/$defs/q", "$defs": {"q": B}}, "q": S},
            "$ref": "p",
        },
        (True,),
        ("x",),
    ),
    Case(
        "a reference to an unknown keyword",
        {
            "components": {"schemas": {"Pet": obj({"name": S}, "name")}},
            **obj({"pet": {"$ref": "#/components/schemas/Pet"}}),
        },
        ({"pet": {"name": "x"}},),
        ({"pet": {}},),
    ),
]

TUPLES = [
    Case(
        "a tuple of 2019-09",
        {"$schema": DRAFT_2019, "type": "array", "items": [S, N], "additionalItems": False, "minItems": 2},
        (["a", 1],),
        (["a"], ["a", 1, 2], [1, 1]),
    ),
    Case("an open tuple of draft 7", {"$schema": DRAFT_7, "items": [S, N]}, (["a", 1, True],), ([1],)),
    Case(
        "a tuple of draft 7 with a tail",
        {"$schema": DRAFT_7, "type": "array", "items": [S], "additionalItems": {"type": ["null", "integer"]}},
        (["a", 1, None],),
        (["a", "b"],),
    ),
    Case(
        "tuples in a tuple",
        {
            "type": "array",
            "prefixItems": [{"type": "array", "prefixItems": [S, N], "items": False, "minItems": 2}],
            "items": False,
            "minItems": 1,
        },
        ([["a", 1]],),
        ([["a"]], [[1, "a"]], []),
    ),
    Case(
        "a list of tuples",
        {"type": "array", "items": {"type": "array", "prefixItems": [N, N], "items": False, "minItems": 2}},
        ([[1, 2], [3, 4]],),
        ([[1]], [[1, 2, 3]], [["a", 1]]),
    ),
    Case(
        "more items asked for than there are positions",
        {"type": "array", "prefixItems": [S], "items": N, "minItems": 3},
        (["a", 1, 2],),
        ([1, 1, 1], ["a", "b", 2]),
    ),
    Case("a tuple that must be empty", {"type": "array", "prefixItems": [S], "maxItems": 0}, ([],), (["a"],)),
    Case("a tuple beside contains", {"type": "array", "prefixItems": [S], "contains": N}, (["a", 1],), ([1],)),
    Case(
        "a tail that is not evaluated yet",
        {"type": "array", "prefixItems": [S], "unevaluatedItems": N},
        (["a", 1],),
        ([1], ["a", "b"]),
    ),
    Case(
        "a nullable list of nullable texts",
        {"type": ["array", "null"], "items": {"type": ["string", "null"]}},
        (["a", None], None),
        ([1], "a"),
    ),
]

UNIONS = [
    Case(
        "a discriminated union of references",
        {
            "type": "array",
            "items": {
                "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
                "discriminator": {"propertyName": "kind"},
            },
            "$defs": {
                "Cat": obj({"kind": {"const": "cat"}, "lives": I}, "kind", "lives"),
                "Dog": obj({"kind": {"const": "dog"}, "tricks": {"type": "array", "items": S}}, "kind"),
            },
        },
        ([{"kind": "cat", "lives": 9}, {"kind": "dog", "tricks": ["sit"]}],),
        ([{"kind": "cat"}], [{"kind": "dog", "tricks": [1]}], [{"kind": "cow"}]),
    ),
    Case(
        "a discriminated union on a common base",
        {
            **obj({"id": S, "kind": {"enum": ["a", "b"]}}, "id", "kind"),
            "oneOf": [obj({"kind": {"const": "a"}, "n": N}, "n"), obj({"kind": {"const": "b"}, "s": S}, "s")],
        },
        ({"id": "x", "kind": "a", "n": 1}, {"id": "x", "kind": "b", "s": "y"}),
        ({"id": "x", "kind": "a", "s": "y"}, {"kind": "a", "n": 1}, {"id": "x", "kind": "c", "n": 1}),
    ),
    Case(
        "unions in a union",
        {"anyOf": [{"anyOf": [S, {"oneOf": [N, NULL]}]}, {"type": "array", "items": {"anyOf": [S, NULL]}}]},
        ("a", 1, None, ["a", None]),
        (True, [1], {}),
    ),
    Case(
        "a tag with several values",
        {
            "oneOf": [
                obj({"t": {"enum": ["a", "b"]}, "x": S}, "t", "x"),
                obj({"t": {"enum": ["c", None]}, "y": S}, "t", "y"),
            ]
        },
        ({"t": "b", "x": "1"}, {"t": None, "y": "1"}),
        ({"t": "a", "y": "1"}, {"t": "c", "x": "1"}),
    ),
    Case("an enumeration beside anyOf", {"enum": ["a", 1, None], "anyOf": [S, NULL]}, ("a", None), (1, "b")),
    Case(
        "a type beside oneOf of constants",
        {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
        ("a", "b"),
        ("c", 1),
    ),
    Case(
        "properties beside anyOf of closed objects",
        obj({"a": S}, anyOf=[obj({"a": {}, "b": N}, "b", additionalProperties=False), obj({"a": {}, "c": N}, "c")]),
        ({"a": "x", "b": 1}, {"c": 1}),
        ({"a": 1, "b": 1}, {"a": "x"}),
    ),
    Case(
        "items beside anyOf",
        {"type": "array", "items": S, "anyOf": [{"minItems": 1}, {"maxItems": 3}]},
        (["a"], []),
        ([1],),
    ),
    Case(
        "allOf of closed objects",
        {"allOf": [obj({"a": S}, additionalProperties=False), obj({"a": {}, "b": N})]},
        ({"a": "x"}, {}),
        ({"a": 1}, {"b": "x"}),
    ),
    Case(
        "allOf of one property twice",
        {"allOf": [obj({"a": {"type": ["string", "number"]}}), obj({"a": {"type": ["string", "null"]}}, "a")]},
        ({"a": "x"},),
        ({"a": 1}, {"a": None}, {}),
    ),
    Case(
        "allOf in anyOf in allOf",
        {"allOf": [{"anyOf": [{"allOf": [obj({"a": S}, "a"), obj({"b": S}, "b")]}, NULL]}]},
        ({"a": "x", "b": "y"}, None),
        ({"a": "x"}, 1),
    ),
    Case("not of a type", obj({"a": {"not": S}}), ({"a": 1},), (1,)),
    Case("not of everything", obj({"a": S, "b": {"not": {}}}), ({"a": "x"},), ({"a": 1},)),
    Case(
        "if then else beside properties",
        obj(
            {"k": S, "x": N, "y": N},
            "k",
            **{"if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["x"]}, "else": {"required": ["y"]}},
        ),
        ({"k": "a", "x": 1}, {"k": "b", "y": 1}),
        ({"x": 1}, {"k": 1, "y": 1}),
    ),
    Case(
        "dependent schemas",
        obj({"a": S, "b": N}, dependentSchemas={"a": {"required": ["b"]}}, dependentRequired={"b": ["a"]}),
        ({"a": "x", "b": 1}, {}),
        ({"a": 1, "b": 1},),
    ),
]

VALUES = [
    Case(
        "an enumeration with null and lists",
        {"enum": [None, "a", 0, False, [1, "x"], {"k": None}]},
        (None, "a", 0, False, [1, "x"], {"k": None}),
        ("b", 1, True, [2, "x"], {"k": 1}),
    ),
    Case("a list of an enumeration", {"type": "array", "items": {"enum": ["a", "b"]}}, (["a", "b", "a"],), (["c"],)),
    Case("numbers listed", {"enum": [0.5, -1, 1e3, 2147483648]}, (0.5, -1, 1000, 2147483648), (2, "0.5")),
    Case(
        "constants of each kind",
        obj({"f": {"const": False}, "z": {"const": 0}, "e": {"const": ""}, "l": {"const": [[1], []]}}),
        ({"f": False, "z": 0, "e": "", "l": [[1], []]},),
        ({"f": True}, {"z": 1}, {"e": "x"}, {"l": [[2], []]}),
    ),
    Case(
        "a constant object in a property",
        obj({"c": {"const": {"a": {"b": None}, "new": 1}}}),
        ({"c": {"a": {"b": None}, "new": 1}},),
        ({"c": {"a": {}}},),
    ),
    Case(
        "bounds of integers",
        obj({"n": {**I, "minimum": -5, "maximum": 10, "exclusiveMaximum": 11, "multipleOf": 5}}),
        ({"n": 5},),
        ({"n": "5"},),
    ),
    Case(
        "nullable forms",
        obj(
            {
                "o": {**obj({"a": S}), "nullable": True},
                "l": {"type": "array", "items": S, "nullable": True},
                "t": {"type": ["string", "null"]},
                "r": {"anyOf": [REF_A, NULL]},
            },
            **{"$defs": {"A": obj({"x": I}, "x")}},
        ),
        ({"o": {"a": "x"}, "l": ["x"], "t": None, "r": None}, {"r": {"x": 1}}),
        ({"o": 1}, {"l": [1]}, {"t": 1}, {"r": {}}),
    ),
    Case(
        "true and false in every place",
        obj(
            {
                "t": True,
                "f": False,
                "l": {"type": "array", "items": True},
                "m": {"type": "object", "additionalProperties": True},
            }
        ),
        ({"t": 1, "l": [1], "m": {"a": 1}},),
        ({"f": 1}, {"l": 1}, {"m": 1}),
    ),
    Case(
        "empty in every place",
        obj({"e": {}, "l": {"type": "array", "items": {}}, "m": {"type": "object", "additionalProperties": {}}}, "e"),
        ({"e": None, "l": [{}], "m": {"a": []}},),
        ({}, {"e": 1, "l": {}}),
    ),
]

STRANGE = (
    *("a-b", "a b", "", "1", "é", "名前", '"', "\\", "\n", "*/", "\u2028", "$a", "_b", "`${x}`", "</script>", "//"),
    *("constructor", "hasOwnProperty", "then", "toJSON", "new", "class", "null", "👩\u200d👩\u200d👧"),
)
NAMES = [
    Case(
        "every name is reached by its own spelling",
        obj(dict.fromkeys(STRANGE, N), *STRANGE),
        (dict.fromkeys(STRANGE, 1),),
        ({},),
    ),
    *(
        Case(f"a property called {name!r}", obj({name: N}, name), ({name: 1},), ({}, {name: "x"}))
        for name in ["", "é", "a-b", "new", "1", "*/", "constructor"]
    ),
    Case("the name of the prototype", obj({"__proto__": N, "a": S}, "a"), ({"a": "x"},), ({"a": 1},)),
    Case(
        "500 required properties",
        obj({f"p{n}": I for n in range(500)}, *(f"p{n}" for n in range(500))),
        (dict.fromkeys((f"p{n}" for n in range(500)), 1),),
        ({"p0": 1},),
    ),
    Case("two prefixes", obj({}, patternProperties={"^x-": S, "^y-": N}), ({"x-a": "b", "y-a": 1},)),
    Case(
        "a prefix and a schema for the rest",
        obj({"id": I}, "id", patternProperties={"^x-": S}, additionalProperties=B),
        ({"id": 1, "x-a": "b", "c": True},),
        ({"x-a": "b"},),
    ),
    Case(
        "a prefix and a required name", obj({}, "x-a", patternProperties={"^x-": S}), ({"x-a": "b"},), ({}, {"x-a": 1})
    ),
    Case(
        "names of one length",
        {"type": "object", "propertyNames": {"pattern": "^.{2}$"}, "additionalProperties": N},
        ({"ab": 1},),
        ({"ab": "x"},),
    ),
]

EVIL = "*/ } declare const stolen: string; /* </script> <!-- \u202e @param {string} x\n@internal\n\n * ``` \\u002a/"
TEXTS = [
    Case(
        "texts that would leave their comment",
        obj(
            {
                "a": {
                    **S,
                    "description": EVIL,
                    "title": EVIL,
                    "default": EVIL,
                    "examples": [EVIL],
                    "pattern": "\\*/",
                    "format": EVIL,
                }
            },
            description=EVIL,
        ),
        ({"a": "*/"},),
        ({"a": 1},),
    ),
    Case(
        "a text of 100 KB",
        obj({"a": {**S, "description": "a long story */ " * 7_000}}, description="x" * 100_000),
        ({"a": "x"},),
        ({"a": 1},),
    ),
    Case(
        "a text that is no text",
        obj({"a": {**S, "description": {"en": "x"}, "title": 5, "default": {"a": [1]}}}),
    ),
    Case(
        "tags that say something else",
        obj({"a": {**S, "description": "@default 5\n@type {number}\n@see {@link x}"}}),
        ({"a": "x"},),
        ({"a": 1},),
    ),
]

FAMILIES = [*RECURSION, *DIAMONDS, *POINTERS, *TUPLES, *UNIONS, *VALUES, *NAMES, *TEXTS]
