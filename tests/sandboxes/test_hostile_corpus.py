"""Programs that want to take the host down, or get out, through the whole of CodeMode.

Bombs run in a process of their own, which measures itself; see hostile_child.py for how.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from codemodekit.code_mode import CodeMode
from codemodekit.contracts import Program
from codemodekit.diagnostics import Location
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.testing import JAVASCRIPT_GLOBALS, InMemoryProvider

CORPUS = Path(__file__).parents[1] / "corpus" / "hostile.json"
CHILD = Path(__file__).with_name("hostile_child.py")
HOSTILE = json.loads(CORPUS.read_text(encoding="utf-8"))
MEMORY_BYTES = 64 << 20
BOUND_S = 0.5 + 0.6
BOMBS = [(group, name) for group in ("memory", "cpu") for name in HOSTILE[group]]

ENDINGS = {
    "memory": {"MEMORY_LIMIT_EXCEEDED", "STACK_LIMIT_EXCEEDED", "COMPUTE_LIMIT_EXCEEDED", "SANDBOX_EXCEPTION", None},
    "cpu": {"COMPUTE_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED", "STACK_LIMIT_EXCEEDED", "SANDBOX_EXCEPTION"},
}
CERTAIN = {
    "deep_recursion": "STACK_LIMIT_EXCEEDED",
    **dict.fromkeys(
        ["while_true", "for_empty", "catch_loop", "async_loop", "async_loop_catch", "regex_backtrack", "gen_loop"],
        "COMPUTE_LIMIT_EXCEEDED",
    ),
}

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of a process's memory is measured through /proc"
)


@cache
def outcomes(group: str) -> dict[str, dict[str, Any]]:
    """What each program of the group came to, from one child process for the group."""
    child = subprocess.run(
        [sys.executable, str(CHILD), str(CORPUS), group],
        capture_output=True, encoding="utf-8", timeout=110, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr[-2000:]
    return {line["name"]: line for line in map(json.loads, child.stdout.splitlines())}


@pytest.mark.proves("limit.compute", "limit.memory")
@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(("group", "name"), BOMBS, ids=[f"{group}-{name}" for group, name in BOMBS])
def test_a_bomb_ends_within_its_limits_and_harms_nobody(group: str, name: str) -> None:
    outcome = outcomes(group)[name]
    assert outcome["code"] in ENDINGS[group]
    assert outcome["code"] == CERTAIN.get(name, outcome["code"])
    assert outcome["growth"] <= 1.5 * MEMORY_BYTES
    assert outcome["beside"] == [380, 20]
    assert outcome["after"] == 42
    # The limit, and six tenths of a second to end: of this process's own time, for others share the processors.
    assert outcome["processorSeconds"] <= BOUND_S
    assert outcome["seconds"] <= 20 * BOUND_S


@pytest.mark.proves("limit.memory")
@pytest.mark.anyio
@pytest.mark.parametrize("name", ["array_push", "json_bomb_big", "oom_catch_loop", "symbols"])
async def test_a_bomb_that_has_time_ends_at_the_memory_limit(name: str) -> None:
    # Within half a second it depends on the processor which limit such a program meets first.
    async with code_mode(limits=ExecutionLimits(compute_time_ms=20_000, memory_bytes=MEMORY_BYTES)) as kit:
        result = await kit.run(HOSTILE["memory"][name])
    assert result.error is not None
    assert result.error.code == "MEMORY_LIMIT_EXCEEDED"


class Unchecked:
    """Lets everything through: what stands between a program and the host is then the sandbox alone."""

    def compile(self, source: str) -> Program:
        return Program(
            source=source, javascript=f"async () => {{\n{source}\n}}", locate=lambda line, at: Location(line - 1, at)
        )


def code_mode(**more: Any) -> CodeMode:
    provider = InMemoryProvider("source", ["tool"])
    return CodeMode(providers=[provider], tool_policy=allow_all_tool_calls(), **more)


@pytest.mark.proves("compile.unsafe")
@pytest.mark.anyio
async def test_the_compiler_refuses_the_escape_probe() -> None:
    async with code_mode() as kit:
        result = await kit.run(HOSTILE["escape_probe"])
    assert result.error is not None
    assert result.error.code == "UNSAFE_SYNTAX"


@pytest.mark.proves("sandbox.no-host", "sandbox.no-text-to-code", "sandbox.globals")
@pytest.mark.anyio
async def test_no_route_of_the_escape_probe_leads_out_of_the_sandbox() -> None:
    async with code_mode(compiler=Unchecked()) as kit:
        await kit.settled(5)
        result = await kit.run(HOSTILE["escape_probe"])
    assert result.ok, result.to_wire()
    found = dict(result.value)
    assert set(found.pop("globals").split()) == JAVASCRIPT_GLOBALS
    present = {name: kind for name, kind in found.items() if name.startswith("global ") and kind != "undefined"}
    assert present == {"global console": "object", "global Iterator": "function"}
    routes = {name: said for name, said in found.items() if not name.startswith("global ")}
    assert len(routes) > 15
    assert {name: said for name, said in routes.items() if not said.startswith("THROWS")} == {}


@pytest.mark.proves("sandbox.fresh")
@pytest.mark.anyio
async def test_honest_work_comes_to_the_right_values() -> None:
    rows = [
        {"id": i, "name": f"user{i}", "score": i * 7919 % 1000, "tags": ["a", "b", str(i % 7)]} for i in range(10_000)
    ]
    kept = sum(row["score"] > 500 for row in rows)
    wanted = {
        "fib27": 196418,
        "json10k": kept + len(json.dumps(rows, separators=(",", ":"))),
        "string": len("".join(f"line {i}\n" for i in range(200_000))),
        "regex": (1 + 22 + 333) * 2000,
    }
    async with code_mode(limits=ExecutionLimits(compute_time_ms=60_000)) as kit:
        values = {name: (await kit.run(program)).value for name, program in HOSTILE["benchmarks"].items()}
    assert values == wanted
