"""Whatever text a guest leaves behind, the host reads a step from it and the run ends with an honest result."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemodekit import CodeMode, ExecutionLimits, RunResult, allow_all_tool_calls
from codemodekit._json import encode, loads
from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Calls, Program, Returned, Step, Threw
from codemodekit.mcp_adapter.definitions import surface_tools
from codemodekit.sandboxes.quickjs.texts import BROKEN, read_step
from codemodekit.testing import InMemoryProvider, ScriptedSandbox
from fuzzing import fuzzed

_COMPILED = TypeScriptCompiler().compile("return await tools.memory.echo({})")
assert isinstance(_COMPILED, Program)
PROGRAM = _COMPILED

RESULT = jsonschema_rs.validator_for(surface_tools(search=False)[0]["outputSchema"], offline=True)

NUMBERS = st.sampled_from([0, -1, 1, 2, 3, 2**31, 2**32, 2**64, 1.5, True, None, "1"]) | st.integers()
ODD = st.sampled_from(
    ["NaN", "1e999", "-Infinity", "[" * 2_000, "{", '"\\ud800"', "9" * 5_000, '{"a":1,"a":2}', "\x1f", "\n", "[]"]
)
TEXTS = st.sampled_from(["", "memory", "echo", "nope", "\ud800", "\0", "__proto__", "a\x1fb", "x" * 300])
SCALARS = NUMBERS | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(TEXTS, SCALARS, max_size=2)
BODIES = VALUES.map(json.dumps) | ODD | st.sampled_from(["!size", "!value$.a", "!", ""])
HEADS = st.tuples(NUMBERS, TEXTS, TEXTS).map(json.dumps) | VALUES.map(json.dumps) | ODD
CALLS = st.lists(st.tuples(HEADS, BODIES).map("\x1f".join), max_size=3).map("\x1f".join)
ERRORS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["exception", "tool", "syntax", "stack", "internal", "not_serializable"]) | VALUES,
        "name": VALUES,
        "message": VALUES,
        "call": VALUES | st.just(float("inf")),
        "path": VALUES,
        "behind": VALUES,
        "derived": VALUES,
        "stack": VALUES
        | st.builds(
            "    at {} (program.ts:{}:{})\n".format,
            st.sampled_from(["f", "async", "<anonymous>", "Object.x"]),
            st.integers(0, 10**9),
            st.integers(0, 10**9),
        ),
    },
).map(lambda fields: json.dumps(fields).replace("Infinity", "1e999"))
UNHANDLED = st.lists(ERRORS, max_size=2).map(lambda told: f"[{len(told)}{''.join(',' + each for each in told)}]") | ODD
STEPS = (
    st.builds("C{}".format, CALLS)
    | st.builds("C{}\n{}".format, CALLS, UNHANDLED)
    | st.builds("R{}\n{}\n{}".format, CALLS, UNHANDLED, BODIES)
    | st.builds("T{}\n{}\n{}".format, CALLS, UNHANDLED, ERRORS | ODD)
    | st.text(max_size=30)
    | ODD
)


def checked(result: RunResult) -> dict[str, Any]:
    """The result on the wire, if it is one: JSON, and as the tool's schema has it."""
    wire = loads(encode(result.to_wire()))
    RESULT.validate(wire)
    assert isinstance(wire, dict)
    return wire


@pytest.mark.proves("sandbox.no-host")
@fuzzed(200)
@given(STEPS)
def test_any_text_is_a_step(text: str) -> None:
    step = read_step(text, PROGRAM)

    assert isinstance(step, Calls | Returned | Threw)
    for call in step.calls:
        assert type(call.id) is int
        assert 0 < call.id < 2**32


@pytest.mark.proves("sandbox.no-host")
@pytest.mark.parametrize(
    "text",
    [
        'T\n[0]\n{"kind":"tool","message":"","call":1e999}',
        'C[0,"memory","echo"]\x1f{}',
        'C[4294967296,"memory","echo"]\x1f{}',
        'C[1,"memory","echo"]\x1f',
    ],
)
def test_a_number_no_prelude_would_write_is_a_broken_bridge(text: str) -> None:
    assert read_step(text, PROGRAM) == Threw(BROKEN)


@pytest.mark.proves("sandbox.no-host", "result.wire-form", "error.host-codes")
@fuzzed(80)
@given(st.lists(STEPS, min_size=1, max_size=4))
def test_any_texts_of_a_guest_make_a_result(texts: list[str]) -> None:
    moves: list[Step] = [read_step(text, PROGRAM) for text in texts]

    async def run() -> RunResult:
        provider = InMemoryProvider("memory", ["echo"])
        async with CodeMode(
            providers=[provider],
            tool_policy=allow_all_tool_calls(),
            sandbox=ScriptedSandbox([*moves, Threw(BROKEN)]),
            limits=ExecutionLimits(wall_time_ms=300),
        ) as code_mode:
            await code_mode.settled(5)
            return await code_mode.run(PROGRAM.source)

    wire = checked(asyncio.run(run()))
    assert wire["ok"] or wire["error"]["code"] != "INTERNAL_ERROR", texts
