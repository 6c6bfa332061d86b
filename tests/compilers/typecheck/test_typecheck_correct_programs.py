"""No program that runs well is kept from running, whatever TypeScript says about it."""

from __future__ import annotations

import pytest
from typecheck_world import checked_kit, programs, world

pytestmark = [pytest.mark.anyio, pytest.mark.proves("typecheck.no-false-block")]

CORRECT = programs("correct_programs.ts")


async def test_programs_that_run_well_are_checked_and_run() -> None:
    async with checked_kit(list(world().values()), max_tool_calls=64) as code_mode:
        for title, program in CORRECT.items():
            result = await code_mode.run(program)
            assert result.error is None, f"{title}: {result.error}"
            assert not any("is unchecked" in note for note in result.notes), f"{title}: {result.notes}"
            if title == "what the language has had for a short time":
                assert result.notes == ()
