"""The compiler's process has a group, memory and folder of its own, reads nothing else, and ends with its CodeMode."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.e2e.processes import descendants, gone, needs_proc
from typecheck_world import PATIENT_MS, checked_kit

from codemodekit.compilers.typecheck import TypeScriptChecker
from codemodekit.testing import InMemoryProvider

pytestmark = [pytest.mark.anyio, pytest.mark.proves("typecheck.isolated")]

WRONG = "return tools.memory.ehco({});"


def compilers() -> list[int]:
    return [pid for pid, line in descendants(os.getpid()).items() if "--lsp" in line]


@needs_proc
async def test_the_process_has_a_group_an_environment_and_a_memory_bound_of_its_own() -> None:
    import resource  # POSIX only, as is /proc

    checker = TypeScriptChecker(budget_ms=PATIENT_MS, memory_bytes=200 * 1024 * 1024)
    async with checked_kit([InMemoryProvider()], checker) as code_mode:
        assert (await code_mode.run(WRONG)).error is not None
        [pid] = compilers()
        environment = Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0")
        folder = Path(f"/proc/{pid}/cwd").resolve()
        assert os.getpgid(pid) == pid != os.getpgid(0)
        assert {entry.partition("=")[0] for entry in environment if entry} == {
            "GOMEMLIMIT", "GOMAXPROCS", "PATH", "LANG"
        }  # fmt: skip
        assert "GOMEMLIMIT=209715200" in environment
        assert sorted(one.name for one in folder.iterdir()) == ["package.json", "tsconfig.json"]
        if sys.platform == "linux":
            assert resource.prlimit(pid, resource.RLIMIT_DATA) == (419430400, 419430400)
    await gone([pid])
    assert not folder.exists()


@needs_proc
async def test_closing_leaves_no_process_behind_whenever_it_comes() -> None:
    for rounds in range(3):
        checker = TypeScriptChecker(budget_ms=PATIENT_MS)
        async with checked_kit([InMemoryProvider()], checker) as code_mode:
            if rounds:
                await code_mode.run(WRONG)
        await checker.aclose()
        assert compilers() == []
        assert not any(line.endswith("defunct") for line in descendants(os.getpid()).values())


async def test_types_of_a_program_lead_to_no_file(tmp_path: Path) -> None:
    """Neither what a file holds nor whether it is there can be told from the notes."""
    (tmp_path / "secret.d.ts").write_text('export const key: "sesame";', encoding="utf-8")
    (tmp_path / "secret.json").write_text('{"sesame": 1}', encoding="utf-8")
    program = """
        /// <reference path="{0}/secret.d.ts" />
        let key: typeof import("{0}/secret").key = 5 as any as 6;
        let data: typeof import("{0}/secret.json") = 7 as any as 8;
        const name: never = key;
        return data.nothing;
    """.replace("{0}", tmp_path.as_posix())
    async with checked_kit([InMemoryProvider()]) as code_mode:
        there = await code_mode.check(program)
        missing = await code_mode.check(program.replace("secret", "absent"))
    assert there.checked
    assert "sesame" not in str(there)
    assert there.notes == missing.notes
