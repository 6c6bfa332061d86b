"""The page of diagnostics knows every code, and its examples come to what it says."""

from __future__ import annotations

from typing import Final

import pytest
from diagnostic_examples import PAGE, example, outcome, result, run
from docs_pages import sections

from codemodekit import DiagnosticCode
from codemodekit.diagnostics import phase_of

pytestmark = pytest.mark.proves("house.docs", "error.codes")

SECTIONS: Final = sections(PAGE, 3)
WITHOUT_EXAMPLE: Final = {DiagnosticCode.INTERNAL_ERROR, DiagnosticCode.EXECUTION_CANCELLED}


def test_every_code_is_documented_and_no_other() -> None:
    assert list(SECTIONS) == [str(code) for code in DiagnosticCode if code is not DiagnosticCode.INTERNAL_ERROR] + [
        "INTERNAL_ERROR"
    ]


def test_every_code_stands_under_its_phase() -> None:
    phases = {
        code: title.lower() for title, text in sections(PAGE, 2).items() for code in SECTIONS if f"### {code}\n" in text
    }
    assert phases == {
        code: "any phase" if code == "INTERNAL_ERROR" else str(phase_of(DiagnosticCode(code))) for code in SECTIONS
    }


@pytest.mark.parametrize("code", SECTIONS)
def test_every_code_has_a_cause_an_example_with_its_result_and_a_cure(code: str) -> None:
    assert "**Cause.**" in SECTIONS[code]
    assert "**Cure.**" in SECTIONS[code]
    assert (example(code) is None) == (DiagnosticCode(code) in WITHOUT_EXAMPLE)
    assert (result(code) is None) == (example(code) is None)


@pytest.mark.anyio
@pytest.mark.parametrize("code", [code for code in DiagnosticCode if code not in WITHOUT_EXAMPLE])
async def test_the_example_of_a_code_comes_to_the_result_that_is_shown(code: DiagnosticCode) -> None:
    ended = await run(code)
    assert ended.error is not None
    assert ended.error.code is code
    assert (ended.error.phase or phase_of(code)) is phase_of(code)
    assert outcome(ended) == result(code), "run python tests/docs/fill_blocks.py"
