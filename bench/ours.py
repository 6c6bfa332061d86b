"""Our side of the workloads: a Code Mode over local functions, with limits that let the work through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bench.workload import require
from codemodekit import CodeMode, ExecutionLimits, allow_all_tool_calls, local
from codemodekit.contracts import ToolProvider

__all__ = ["LIMITS", "SOURCE", "echo", "echo_in_thread", "open_code_mode", "value_of"]

SOURCE = "app"
LIMITS = ExecutionLimits(max_tool_calls=100_000, wall_time_ms=600_000, compute_time_ms=60_000)
"""Sizes, memory and the number of calls at one time stay as they are by default."""


async def echo(i: int) -> dict[str, int]:
    """Answer what was given."""
    return {"i": i}


def echo_in_thread(i: int) -> dict[str, int]:
    """Answer what was given, as a function that blocks."""
    return {"i": i}


@asynccontextmanager
async def open_code_mode(tools: Sequence[Any] = (echo,), **options: Any) -> AsyncIterator[CodeMode]:
    """A Code Mode over one local source whose catalogue is built."""
    provider: ToolProvider = local(SOURCE, tools)
    async with CodeMode(
        providers=[provider], tool_policy=allow_all_tool_calls(), limits=LIMITS, **options
    ) as code_mode:
        await code_mode.settled(60)
        require(code_mode.health()[0].tools == len(tools), code_mode.health())
        yield code_mode


async def value_of(code_mode: CodeMode, program: str, expected: Any) -> None:
    """Run a program that must return this value."""
    result = await code_mode.run(program)
    require(result.ok and result.value == expected, result)
