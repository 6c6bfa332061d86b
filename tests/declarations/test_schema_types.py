from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import declare_catalog, declare_tool

from .schema_corpus import CASES, HOSTILE, Case

LONGEST_OF_ONE_TOOL = 45_000
LONGEST_RESULT = 12_500


@cache
def _declaration(position: int) -> str:
    return declare_catalog({"s": [_tool(CASES[position])]})


def _tool(case: Case) -> ToolDefinition:
    return ToolDefinition(name="t", input_schema=case.schema, output_schema=case.schema)


GIVES = """\
type Output = Awaited<ReturnType<typeof tools.s.t>>["structuredContent"];
declare function gives(value: Exclude<Output, undefined>): void;
"""


def _lines(call: str, values: tuple[Any, ...]) -> str:
    return "".join(f"{call}({json.dumps(value)});\n" for value in values)


def _program(at: int, case: Case) -> str:
    """All values as inputs, then all as results, each on a line of its own."""
    inputs = _lines("void tools.s.t", case.fits) + _lines("void tools.s.t", case.refuses)
    return _declaration(at) + GIVES + inputs + _lines("gives", case.fits) + _lines("gives", case.refuses)


def _lines_of_errors(at: int, case: Case) -> set[int]:
    first = (_declaration(at) + GIVES).count("\n") + 1
    refused = range(len(case.fits), len(case.fits) + len(case.refuses))
    return {first + many + line for many in (0, len(case.fits) + len(case.refuses)) for line in refused}


@pytest.mark.proves("types.by-value")
@pytest.mark.parametrize("case", [case for case in CASES if case.fits or case.refuses], ids=lambda case: case.name)
def test_the_values_of_the_corpus_are_what_the_validator_says_they_are(case: Case) -> None:
    validator = jsonschema_rs.validator_for(case.schema, offline=True)
    assert [value for value in case.fits if not validator.is_valid(value)] == []
    assert [value for value in case.refuses if validator.is_valid(value)] == []


@pytest.mark.proves("types.compile")
def test_every_schema_compiles_strictly(tsc) -> None:
    files = {f"{position}.d.ts": _declaration(position) for position in range(len(CASES))}
    errors = tsc.check_modules(files)
    assert {CASES[int(name.split(".")[0])].name: found for name, found in errors.items() if found} == {}
    assert len(files) >= 200


@pytest.mark.proves("types.by-value")
def test_what_the_schema_accepts_type_checks_and_what_it_refuses_does_not(tsc) -> None:
    cases = {at: case for at, case in enumerate(CASES) if case.fits}
    assert len(cases) >= 150
    errors = tsc.check_modules({f"{at}.ts": _program(at, case) for at, case in cases.items()})
    wrong = {
        case.name: errors[f"{at}.ts"]
        for at, case in cases.items()
        if {int(line.split(":")[0]) for line in errors[f"{at}.ts"]} != _lines_of_errors(at, case)
    }
    assert wrong == {}


@pytest.mark.proves("types.unknown")
def test_any_is_never_said_and_the_text_can_be_encoded() -> None:
    for at, case in enumerate(CASES):
        assert re.search(r"[:<(|&] ?any\b", _declaration(at)) is None, case.name
        assert _declaration(at).encode()


@pytest.mark.proves("types.bounded")
def test_size_is_bounded_whatever_the_schema() -> None:
    base = len(declare_catalog({}))
    for at, case in enumerate(CASES):
        assert len(_declaration(at)) - base < LONGEST_OF_ONE_TOOL, case.name
        assert len(declare_tool("s", _tool(case), "tools.s.t")) < LONGEST_RESULT, case.name


@pytest.mark.proves("types.bounded")
def test_the_same_schema_gives_the_same_text_each_time() -> None:
    for at, case in enumerate(CASES):
        if case not in HOSTILE:
            assert declare_catalog({"s": [_tool(case)]}) == _declaration(at), case.name
