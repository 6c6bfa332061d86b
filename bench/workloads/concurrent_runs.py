"""Many trivial programs at one time on one event loop: the rate at which they are all done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from bench.ours import echo, open_code_mode, value_of
from bench.workload import AtLeastPeer, Bound, Figure, Measure, Sizes, Workload, middle

__all__ = ["WORKLOAD"]


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    targets = (Bound(2_500), AtLeastPeer())
    return (Figure(name="rate", title="all started at once", unit="runs/s", targets=targets),)


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async with open_code_mode() as code_mode:
        yield _measure(sizes, lambda: value_of(code_mode, "return 1", 1))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from fastmcp.tools import Tool

    from bench.peer import execute, server_of

    server = server_of([Tool.from_function(echo)])
    yield _measure(sizes, lambda: execute(server, "return 1", 1))


def _measure(sizes: Sizes, run: Callable[[], Awaitable[None]]) -> Measure:
    async def all_at_once() -> None:
        await asyncio.gather(*[run() for _ in range(sizes.concurrent)])

    async def measure() -> Mapping[str, float]:
        return {"rate": sizes.concurrent / await middle(all_at_once, sizes.few)}

    return measure


WORKLOAD = Workload(
    name="concurrent_runs", title="Concurrent trivial runs, 300", figures=_figures, ours=_ours, peer=_peer
)
