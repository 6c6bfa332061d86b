"""Nine kinds of mistakes about tools are found before any tool is called."""

from __future__ import annotations

import pytest
from typecheck_world import checked_kit, programs, world

from codemodekit.compilers.typecheck.mistakes import MistakeKind
from codemodekit.diagnostics import DiagnosticCode, utf16_length

pytestmark = pytest.mark.proves("typecheck.catches", "result.location")

WRONG = programs("wrong_programs.ts")
MARK = "/*!*/"


def expectation(heading: str, program: str) -> tuple[str, str | None, int, int]:
    """Kind, tool, line and column, as the corpus has them."""
    _, kind, *tool = (part.strip() for part in heading.split("|"))
    lines = program[: program.index(MARK)].split("\n")
    return kind, tool[0] if tool else None, len(lines), utf16_length(lines[-1] + MARK) + 1


def test_there_are_programs_with_each_of_nine_kinds() -> None:
    kinds = {expectation(heading, program)[0] for heading, program in WRONG.items()}
    assert kinds == set(MistakeKind)
    assert len(kinds) == 9


@pytest.mark.anyio
async def test_each_mistake_is_told_with_its_place_before_a_tool_is_called() -> None:
    sources = world()
    async with checked_kit(list(sources.values())) as code_mode:
        for heading, program in WRONG.items():
            result = await code_mode.run(program)
            assert result.error is not None, heading
            assert result.error.code is DiagnosticCode.TYPE_ERROR, f"{heading}: {result.error}"
            assert result.error.location is not None, heading
            told, place = result.error, result.error.location
            tool = None if told.tool is None else f"{told.tool.source}.{told.tool.name}"
            found = (told.details["errors"][0]["kind"], tool, place.line, place.column)
            assert found == expectation(heading, program), f"{heading}: {told.message}"
            assert (result.calls, result.rerun) == ((), "safe"), heading
    assert [call for source in sources.values() for call in source.calls] == []
