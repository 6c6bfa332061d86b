"""What a schema accepts fits its type: random schemas, values from them, the validator as judge."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema_rs
import pytest

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import declare_catalog

pytestmark = pytest.mark.proves("types.by-value")

SCHEMAS = 150
NAMES = ["a", "b", "x-c", "new"]
TEXTS = ["", "a", "b", "*/"]


class Maker:
    """Schemas and values of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.defs = {f"D{n}": {} for n in range(3)}

    def document(self) -> dict[str, Any]:
        for name in self.defs:
            self.defs[name] = self.object(2) if self.random.random() < 0.6 else self.schema(2, bare=True)
        return {**self.schema(3, bare=True), "$defs": self.defs}

    def schema(self, depth: int, *, bare: bool = False) -> dict[str, Any]:
        """`bare`: not a reference, so that no type is its own alternative, over which a validator may never return."""
        kinds = [self.scalar, self.values]
        if depth:
            kinds += [self.object, self.object, self.array, self.tuple, self.choice]
            if not bare:
                kinds += [self.reference]
        made = self.random.choice(kinds)(depth)
        if "$ref" not in made and self.random.random() < 0.1:
            made["description"] = "*/ says"
        return made

    def reference(self, _depth: int) -> dict[str, Any]:
        return {"$ref": f"#/$defs/{self.random.choice(list(self.defs))}"}

    def scalar(self, _depth: int) -> dict[str, Any]:
        return {"type": self.random.choice(["string", "integer", "boolean", "null", "number", ["string", "null"]])}

    def values(self, _depth: int) -> dict[str, Any]:
        pool = [*TEXTS, 1, 2.5, True, False, None, {"a": 1}, ["a"]]
        return {"enum": self.random.sample(pool, self.random.randint(1, 4))}

    def object(self, depth: int) -> dict[str, Any]:
        names = self.random.sample(NAMES, self.random.randint(0, 3))
        made: dict[str, Any] = {"type": "object", "properties": {name: self.schema(depth - 1) for name in names}}
        made["required"] = self.random.sample(NAMES, self.random.randint(0, 2))
        more = self.random.choice([None, None, True, False, "schema"])
        if more is not None:
            made["additionalProperties"] = self.schema(depth - 1) if more == "schema" else more
        if self.random.random() < 0.2:
            made["patternProperties"] = {self.random.choice(["^x-", "c$"]): self.schema(depth - 1)}
        if self.random.random() < 0.2:
            made[self.random.choice(["anyOf", "oneOf", "allOf"])] = [
                {"required": [self.random.choice(NAMES)]},
                {"properties": {"a": self.schema(depth - 1)}},
            ]
        if self.random.random() < 0.3:
            made |= self.side_condition(depth)
        if self.random.random() < 0.1:
            del made["type"]
            made = {"allOf": [{"type": "object"}], **made}
        return made

    def side_condition(self, depth: int) -> dict[str, Any]:
        """What TypeScript has no words for: it may only leave the type wider."""
        name, other = self.random.sample(NAMES, 2)
        return self.random.choice(
            [
                {"not": {"required": [name]}},
                {"if": {"required": [name]}, "then": {"required": [other]}, "else": self.schema(depth - 1, bare=True)},
                {"dependentRequired": {name: [other]}},
                {"dependentSchemas": {name: {"properties": {other: self.schema(depth - 1)}}}},
                {"unevaluatedProperties": self.random.choice([False, {"type": "string"}])},
                {"propertyNames": {"maxLength": 3}},
                {"maxProperties": 3, "minProperties": self.random.randint(0, 2)},
            ]
        )

    def array(self, depth: int) -> dict[str, Any]:
        made = {"type": "array", "items": self.schema(depth - 1)}
        if self.random.random() < 0.2:
            made |= self.random.choice([{"contains": self.schema(depth - 1)}, {"uniqueItems": True}, {"minItems": 1}])
        return made

    def tuple(self, depth: int) -> dict[str, Any]:
        items = [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]
        made: dict[str, Any] = {"type": "array", "prefixItems": items, "minItems": self.random.randint(0, 3)}
        rest = self.random.choice([None, False, "schema"])
        if rest is not None:
            made["items"] = self.schema(depth - 1) if rest == "schema" else rest
        return made

    def choice(self, depth: int) -> dict[str, Any]:
        keyword = self.random.choice(["anyOf", "oneOf", "allOf"])
        return {keyword: [self.schema(depth - 1, bare=True) for _ in range(self.random.randint(1, 3))]}

    def value(self, schema: Any, depth: int = 5) -> Any:
        """A value that may well fit."""
        if not isinstance(schema, dict) or not schema or not depth:
            return self.random.choice([1, "a", None, True, {}, []])
        if "$ref" in schema:
            return self.value(self.defs[schema["$ref"].rsplit("/", 1)[1]], depth - 1)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if schema.get("type") == "array":
            first = [self.value(part, depth - 1) for part in schema.get("prefixItems", [])]
            rest = schema.get("items", True)
            return first + [self.value(rest, depth - 1) for _ in range(self.random.randint(0, 2))] * (rest is not False)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema and "properties" not in schema:
                parts = [self.value(part, depth - 1) for part in schema[keyword]]
                if keyword == "allOf" and all(isinstance(part, dict) for part in parts):
                    return {name: value for part in parts for name, value in part.items()}
                return self.random.choice(parts)
        if "properties" in schema:
            return self.object_value(schema, depth)
        return self.scalar_value(schema.get("type"))

    def object_value(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        more = schema.get("additionalProperties", True)
        names = {name for name in schema["properties"] if self.random.random() < 0.7} | set(schema["required"])
        # An interface does not take what an open object does not declare, so that is not asked of it here.
        if ("additionalProperties" in schema or "patternProperties" in schema) and self.random.random() < 0.3:
            names.add(self.random.choice(["x-c", "other"]))
        return {name: self.value(schema["properties"].get(name, more), depth - 1) for name in sorted(names)}

    def scalar_value(self, kind: Any) -> Any:
        pool = {"string": TEXTS, "integer": [0, -3], "number": [2.5, 1], "boolean": [True, False], "null": [None]}
        return self.random.choice(pool.get(str(kind), ["a", None]))


def _fitting(maker: Maker, document: dict[str, Any]) -> list[Any]:
    validator = jsonschema_rs.validator_for(document, offline=True)
    values = [maker.value(document) for _ in range(25)]
    return list({json.dumps(value): value for value in values if validator.is_valid(value)}.values())[:6]


def test_whatever_a_random_schema_accepts_fits_its_type(tsc) -> None:
    files, documents, checked = {}, {}, 0
    for seed in range(SCHEMAS):
        maker = Maker(seed)
        document = maker.document()
        values = _fitting(maker, document)
        checked += len(values)
        # The type parameter keeps the literal types of what is passed.
        text = declare_catalog({"s": [ToolDefinition(name="t", input_schema=document)]})
        text += "declare function fits<T extends Parameters<typeof tools.s.t>[0]>(value: T): void;\n"
        files[f"{seed}.ts"] = text + "".join(f"fits({json.dumps(value)});\n" for value in values)
        documents[f"{seed}.ts"] = document
    assert checked > SCHEMAS
    wrong = {name: (found, documents[name]) for name, found in tsc.check_modules(files).items() if found}
    if wrong:
        pytest.fail(
            "\n".join(f"{name}: {found[:2]}\n{json.dumps(doc)}" for name, (found, doc) in list(wrong.items())[:3])
        )
