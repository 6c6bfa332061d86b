"""The schemas of the official JSON Schema suite as types: each compiles, and what a schema accepts fits its type."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import declare_catalog
from schema_suite import DIALECTS, suite_cases

KEYWORDS_SAY_THE_TYPE = {
    # keywords of objects or lists without a `type` are read as "an object" or "a list", which their authors mean; the
    # suite has values of other types, to which such keywords do not apply
    "additionalItems.json: additionalItems as false without items",
    "additionalProperties.json: additionalProperties being false does not allow other properties",
    "items.json: a schema given for items",
    "items.json: an array of schemas for items",
    "patternProperties.json: patternProperties validates properties matching a regex",
    "prefixItems.json: a schema given for prefixItems",
    "properties.json: object properties validation",
    "properties.json: properties whose names are Javascript object property names",
    "propertyNames.json: propertyNames validation",
    "recursiveRef.json: $recursiveRef without $recursiveAnchor works like $ref",
    "ref.json: root pointer ref",
    "ref.json: simple URN base URI with $ref via the URN",
    "required.json: required validation",
    "required.json: required properties whose names are Javascript object property names",
}
OPEN_OBJECTS_SHOW_WHAT_THEY_DECLARE = {
    # an object that does not forbid further properties is a plain interface, so that a misspelt one is an error; the
    # suite has values with nothing but further properties
    "dependencies.json: dependent subschema incompatible with root",
    "dependentSchemas.json: dependent subschema incompatible with root",
    "dynamicRef.json: A $dynamicRef that initially resolves to a schema without a matching $dynamicAnchor behaves like "
    "a normal $ref to $anchor",
    "not.json: forbidden property",
}


def _file(schema: Any, values: list[Any]) -> str:
    text = declare_catalog({"s": [ToolDefinition(name="t", input_schema=schema)]})
    # The type parameter keeps the literal types of what is passed.
    text += "declare function fits<T extends Parameters<typeof tools.s.t>[0]>(value: T): void;\n"
    return text + "".join(f"fits({json.dumps(value)});\n" for value in values)


@pytest.mark.slow
@pytest.mark.proves("types.by-value", "types.compile", "schema.drafts")
def test_what_an_official_schema_accepts_fits_its_type_but_for_two_conventions(tsc) -> None:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for draft in DIALECTS:
        for case in suite_cases(draft):
            # many cases are the same in each draft, and one program of all is quick only as long as it is small
            names[_file(case.schema, [value for value, fits in case.values if fits])].append(case.name)
    files = {f"{at}.ts": text for at, text in enumerate(names)}
    assert sum(map(len, names.values())) > 1_000
    failing = {name for file, found in tsc.check_modules(files).items() if found for name in names[files[file]]}
    assert failing == KEYWORDS_SAY_THE_TYPE | OPEN_OBJECTS_SHOW_WHAT_THEY_DECLARE
