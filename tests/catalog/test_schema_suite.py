"""The official test suite of JSON Schema, through the tools of a source; only what would have to be fetched fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from codemodekit.catalog.schemas import SchemaCheck
from codemodekit.catalog.snapshot import build_source
from codemodekit.contracts import ToolDefinition, ToolListing
from schema_suite import DIALECTS, SuiteCase, suite_cases

REFERS_ELSEWHERE = {
    # the schema it refers to is on another server, and nothing is ever fetched
    "draft7": {
        "optional/cross-draft.json: refs to future drafts are processed as future drafts",
        "refRemote.json: remote ref",
        "refRemote.json: fragment within remote ref",
        "refRemote.json: ref within remote ref",
        "refRemote.json: base URI change",
        "refRemote.json: base URI change - change folder",
        "refRemote.json: base URI change - change folder in subschema",
        "refRemote.json: root ref in remote ref",
        "refRemote.json: remote ref with ref to definitions",
        "refRemote.json: Location-independent identifier in remote ref",
        "refRemote.json: retrieved nested refs resolve relative to their URI not $id",
        "refRemote.json: $ref to $ref finds location-independent $id",
    },
    "draft2019-09": {
        "optional/cross-draft.json: refs to future drafts are processed as future drafts",
        "optional/cross-draft.json: refs to historic drafts are processed as historic drafts",
        "refRemote.json: remote ref",
        "refRemote.json: fragment within remote ref",
        "refRemote.json: anchor within remote ref",
        "refRemote.json: ref within remote ref",
        "refRemote.json: base URI change",
        "refRemote.json: base URI change - change folder",
        "refRemote.json: base URI change - change folder in subschema",
        "refRemote.json: root ref in remote ref",
        "refRemote.json: remote ref with ref to defs",
        "refRemote.json: Location-independent identifier in remote ref",
        "refRemote.json: retrieved nested refs resolve relative to their URI not $id",
        "refRemote.json: remote HTTP ref with different $id",
        "refRemote.json: remote HTTP ref with different URN $id",
        "refRemote.json: remote HTTP ref with nested absolute ref",
        "refRemote.json: $ref to $ref finds detached $anchor",
    },
    "draft2020-12": {
        "dynamicRef.json: strict-tree schema, guards against misspelled properties",
        "dynamicRef.json: tests for implementation dynamic anchor and reference link",
        "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
        "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
        "dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor",
        "optional/cross-draft.json: refs to historic drafts are processed as historic drafts",
        "refRemote.json: remote ref",
        "refRemote.json: fragment within remote ref",
        "refRemote.json: anchor within remote ref",
        "refRemote.json: ref within remote ref",
        "refRemote.json: base URI change",
        "refRemote.json: base URI change - change folder",
        "refRemote.json: base URI change - change folder in subschema",
        "refRemote.json: root ref in remote ref",
        "refRemote.json: remote ref with ref to defs",
        "refRemote.json: Location-independent identifier in remote ref",
        "refRemote.json: retrieved nested refs resolve relative to their URI not $id",
        "refRemote.json: remote HTTP ref with different $id",
        "refRemote.json: remote HTTP ref with different URN $id",
        "refRemote.json: remote HTTP ref with nested absolute ref",
        "refRemote.json: $ref to $ref finds detached $anchor",
    },
}
HAS_A_DIALECT_ELSEWHERE = {
    # its `$schema` is a dialect of its own, which would have to be fetched as well
    "draft7": set(),
    "draft2019-09": {
        "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
        "vocabulary.json: ignore unrecognized optional vocabulary",
    },
    "draft2020-12": {
        "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
        "vocabulary.json: ignore unrecognized optional vocabulary",
    },
}


def _as_it_is(schema: dict[str, Any]) -> dict[str, Any]:
    return schema


def _branching(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, and work that multiplies below a property no value has: such a schema is metered."""
    twice = [{"properties": {"x": {"$ref": "#/definitions/x-loop"}}}] * 2
    definitions = {**schema.get("definitions", {}), "x-loop": {"allOf": twice}}
    loop = {"properties": {"x-loop": {"$ref": "#/definitions/x-loop"}}}
    return {**schema, "definitions": definitions, "allOf": [*schema.get("allOf", []), loop]}


def _looking_ahead(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, and a pattern below a property no value has, for which another engine is needed."""
    pattern = {"properties": {"x-pattern": {"pattern": "^(?=a)"}}}
    return {**schema, "allOf": [*schema.get("allOf", []), pattern]}


def _large(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, and so long that it is compiled when it is used."""
    return {**schema, "$comment": "x" * (65 << 10)}


FORMS = {one.__name__.strip("_").replace("_", " "): one for one in (_as_it_is, _branching, _looking_ahead, _large)}


def _asserts_formats(case: SuiteCase) -> bool:
    # a format is a hint and refuses nothing, which the specification leaves open: its cases have a test of their own
    return case.file.startswith("optional/format")


def _checks(cases: list[SuiteCase], form: Callable[[dict[str, Any]], dict[str, Any]]) -> list[SchemaCheck | None]:
    """The check of each case, listed together by one source; None for one that is put aside."""
    tools = [
        ToolDefinition(name=str(at), input_schema=form(case.schema) if isinstance(case.schema, dict) else case.schema)
        for at, case in enumerate(cases)
    ]
    source = build_source("suite", ToolListing(definitions=tuple(tools)))
    return [source.tools[one.name].input if one.name in source.tools else None for one in tools]


def _judges_well(check: SchemaCheck | None, case: SuiteCase) -> bool:
    if check is None:
        return False
    return all(
        check.is_valid(value) is deserved and (check.errors(value) == ()) is deserved for value, deserved in case.values
    )


@pytest.mark.proves("schema.drafts", "schema.offline")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("draft", DIALECTS)
def test_the_official_suite_fails_only_where_something_would_have_to_be_fetched(draft: str, form: str) -> None:
    cases = [case for case in suite_cases(draft) if not _asserts_formats(case)]
    assert len(cases) > 200
    checks = _checks(cases, FORMS[form])
    failing = {case.name for check, case in zip(checks, cases, strict=True) if not _judges_well(check, case)}
    assert failing == REFERS_ELSEWHERE[draft] | HAS_A_DIALECT_ELSEWHERE[draft]


@pytest.mark.proves("schema.quarantine")
@pytest.mark.parametrize("draft", DIALECTS)
def test_what_would_have_to_be_fetched_is_put_aside_with_the_reason(draft: str) -> None:
    named = REFERS_ELSEWHERE[draft] | HAS_A_DIALECT_ELSEWHERE[draft]
    tools = [ToolDefinition(name=one.name, input_schema=one.schema) for one in suite_cases(draft) if one.name in named]
    source = build_source("suite", ToolListing(definitions=tuple(tools)))
    assert set(source.quarantined) == named
    assert all("leaves the schema" in source.quarantined[name] for name in REFERS_ELSEWHERE[draft])
    assert all("$schema" in source.quarantined[name] for name in HAS_A_DIALECT_ELSEWHERE[draft])


@pytest.mark.proves("schema.drafts")
@pytest.mark.parametrize("draft", DIALECTS)
def test_no_format_of_the_official_suite_refuses_a_value(draft: str) -> None:
    cases = [case for case in suite_cases(draft) if case.file.startswith("optional/format/")]
    assert len(cases) > 15
    refused = [
        case.name
        for check, case in zip(_checks(cases, _as_it_is), cases, strict=True)
        if check is None or not all(check.is_valid(value) for value, _ in case.values)
    ]
    assert refused == []
