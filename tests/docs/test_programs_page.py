"""The page on programs lists the globals there are, and its tables hold."""

from __future__ import annotations

import json
import re

import pytest
from docs_pages import ROOT, blocks, sections

from codemodekit import CodeMode, DiagnosticCode, RunResult, allow_all_tool_calls
from codemodekit.testing import JAVASCRIPT_GLOBALS, InMemoryProvider

pytestmark = [pytest.mark.anyio, pytest.mark.proves("house.docs", "sandbox.globals")]

PAGE = ROOT / "docs" / "programs.md"
SECTIONS = sections(PAGE, 2)
ROW = re.compile(r"^\| `(?P<left>.+)` \| `(?P<right>.+)` \|$", re.MULTILINE)
CONVERTED, REFUSED = SECTIONS["Values"].split("| value | instead |")


def rows(text: str) -> list[tuple[str, str]]:
    found = [(row["left"], row["right"]) for row in ROW.finditer(text)]
    assert len(found) == text.count("\n| `")
    return found


async def run(program: str) -> RunResult:
    provider = InMemoryProvider("shop", ["search"])
    async with CodeMode(providers=[provider], tool_policy=allow_all_tool_calls()) as code_mode:
        await code_mode.settled(5)
        return await code_mode.run(program)


def test_the_globals_are_those_that_are_listed() -> None:
    (listed,) = (block.text.split() for block in blocks(PAGE) if block.mark == "globals")
    assert listed == sorted(JAVASCRIPT_GLOBALS)


@pytest.mark.proves("value.plain")
@pytest.mark.parametrize(("value", "becomes"), rows(CONVERTED))
async def test_a_value_becomes_what_the_page_says(value: str, becomes: str) -> None:
    assert (await run(f"return {value}")).value == json.loads(becomes)


@pytest.mark.parametrize(("value", "instead"), rows(REFUSED))
async def test_a_value_is_refused_with_the_advice_on_the_page(value: str, instead: str) -> None:
    error = (await run(f"return {{ it: {value} }}")).error
    assert error is not None
    assert error.code is DiagnosticCode.OUTPUT_NOT_SERIALIZABLE
    assert error.message.endswith(instead)


@pytest.mark.parametrize(("value", "shows"), rows(SECTIONS["Console"]))
async def test_the_console_shows_what_the_page_says(value: str, shows: str) -> None:
    assert [entry.message for entry in (await run(f"console.log({value})")).logs] == [shows]
