"""Diagnostics as values: phases, wire form, and the excerpt with its caret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemodekit.diagnostics import (
    Diagnostic,
    DiagnosticCode,
    Location,
    Phase,
    StackFrame,
    ToolReference,
    code_frame,
    phase_of,
    utf16_length,
)


@pytest.mark.proves("error.codes")
@pytest.mark.parametrize("code", DiagnosticCode)
def test_every_code_has_its_phase(code: DiagnosticCode) -> None:
    tool = code.startswith(("TOOL_", "SOURCE_", "BRIDGE_")) and code is not DiagnosticCode.SOURCE_LIMIT_EXCEEDED
    compile_ = code in ("COMPILE_ERROR", "UNSAFE_SYNTAX", "SOURCE_LIMIT_EXCEEDED", "TYPE_ERROR")
    assert phase_of(code) is (Phase.TOOL if tool else Phase.COMPILE if compile_ else Phase.SANDBOX)


@pytest.mark.proves("result.wire-form")
def test_the_smallest_wire_form_has_four_fields() -> None:
    assert Diagnostic(code=DiagnosticCode.NEVER_SETTLED, message="m", correlation_id="diag_1").to_wire() == {
        "code": "NEVER_SETTLED", "phase": "sandbox", "message": "m", "correlationId": "diag_1",
    }  # fmt: skip


@pytest.mark.proves("result.wire-form")
def test_the_wire_form_says_everything_that_is_known() -> None:
    diagnostic = Diagnostic(
        code=DiagnosticCode.TOOL_EXECUTION_FAILED,
        message="m",
        location=Location(1, 2, 3, 4),
        frame="> 1 | x",
        stack=(StackFrame(1, 2, "f"), StackFrame(3, 4)),
        compiler_code="syntax",
        tool=ToolReference("s", "t", 404),
        details={"a": 1},
    )
    assert diagnostic.to_wire() == {
        "code": "TOOL_EXECUTION_FAILED",
        "phase": "tool",
        "message": "m",
        "correlationId": "",
        "location": {"line": 1, "column": 2, "endLine": 3, "endColumn": 4},
        "frame": "> 1 | x",
        "stack": [{"function": "f", "line": 1, "column": 2}, {"line": 3, "column": 4}],
        "compilerCode": "syntax",
        "tool": {"source": "s", "name": "t", "upstreamCode": 404},
        "details": {"a": 1},
    }


@pytest.mark.proves("result.frame")
def test_the_frame_shows_at_most_five_lines_and_a_caret_under_the_place() -> None:
    source = "\n".join(f"line {n}" for n in range(1, 11))
    assert code_frame(source, Location(5, 3)) == ("  3 | line 3\n  4 | line 4\n> 5 | line 5\n    |   ^\n  6 | line 6")


@pytest.mark.proves("result.frame", "result.location")
def test_columns_in_utf16_units_lead_to_the_right_character() -> None:
    row = code_frame("'𝄞𝄞' + x", Location(1, 10)).split("\n")
    assert row[1].index("^") == row[0].index("x")


@pytest.mark.proves("result.frame")
def test_a_long_line_is_cut_around_the_place() -> None:
    frame = code_frame("a" * 5000 + "X" + "b" * 5000, Location(1, 5001)).split("\n")
    assert all(len(row) < 200 for row in frame)
    assert frame[0][frame[1].index("^")] == "X"


@pytest.mark.proves("result.frame")
@given(st.text(max_size=200), st.integers(-5, 300), st.integers(-5, 300))
def test_any_place_in_any_text_has_a_frame(source: str, line: int, column: int) -> None:
    rows = code_frame(source, Location(line, column)).split("\n")
    assert len([row for row in rows if "|" in row]) >= 2
    assert sum("^" in row.partition("|")[2] for row in rows) >= 1


@pytest.mark.proves("result.location")
@given(st.text())
def test_lengths_are_those_of_utf16(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
