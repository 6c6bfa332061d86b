"""The least a program can do, in a fresh guest each time: through `CodeMode.run`, and through the peer's `execute`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count

from bench.ours import open_code_mode, value_of
from bench.workload import Bound, Figure, Measure, Sizes, Workload, middle, times

__all__ = ["WORKLOAD"]


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return (
        Figure(name="p50", title="fresh run, p50", unit="ms", targets=(Bound(0.8),)),
        Figure(name="p95", title="fresh run, p95", unit="ms"),
        Figure(name="new_text_p50", title="fresh run of a new text, p50", unit="ms"),
    )


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async with open_code_mode() as code_mode:
        yield _measure(sizes, lambda number: value_of(code_mode, f"return {number}", number))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from fastmcp.tools import Tool

    from bench.ours import echo
    from bench.peer import execute, server_of

    server = server_of([Tool.from_function(echo)])
    yield _measure(sizes, lambda number: execute(server, f"return {number}", number))


def _measure(sizes: Sizes, run: Callable[[int], Awaitable[None]]) -> Measure:
    numbers = count(1)

    async def measure() -> Mapping[str, float]:
        same = await times(lambda: run(0), sizes)
        return {
            "p50": same[len(same) // 2] * 1e3,
            "p95": same[len(same) * 95 // 100] * 1e3,
            "new_text_p50": await middle(lambda: run(next(numbers)), sizes) * 1e3,
        }

    return measure


WORKLOAD = Workload(name="trivial_run", title="Trivial run (`return 1`)", figures=_figures, ours=_ours, peer=_peer)
