"""One program that calls an echo tool in batches: eight calls at one time, 125 times."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from bench.ours import echo, open_code_mode, value_of
from bench.workload import AtLeastPeer, Figure, Measure, Sizes, Workload, middle

__all__ = ["WORKLOAD"]

_OURS = """
let s = 0;
for (let b = 0; b < {batches}; b++) {{
  const batch = Array.from({{ length: {width} }}, (_, i) => tools.app.echo({{ i }}));
  for (const r of await Promise.all(batch)) s += r.structuredContent.i;
}}
return s
"""
_PEER = """
import asyncio
s = 0
for b in range({batches}):
    for r in await asyncio.gather(*[call_tool('echo', {{'i': i}}) for i in range({width})]):
        s += r['i']
return s
"""


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return (Figure(name="rate", title="to an async def function", unit="calls/s", targets=(AtLeastPeer(),)),)


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async with open_code_mode() as code_mode:
        yield _measure(sizes, _OURS, lambda program, expected: value_of(code_mode, program, expected))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from fastmcp.tools import Tool

    from bench.peer import execute, server_of

    server = server_of([Tool.from_function(echo)])
    yield _measure(sizes, _PEER, lambda program, expected: execute(server, program, expected))


def _measure(sizes: Sizes, template: str, run: Callable[[str, int], Awaitable[None]]) -> Measure:
    program = template.format(batches=sizes.batches, width=sizes.width)

    async def measure() -> Mapping[str, float]:
        seconds = await middle(lambda: run(program, sizes.batches * sum(range(sizes.width))), sizes.few)
        return {"rate": sizes.batches * sizes.width / seconds}

    return measure


WORKLOAD = Workload(
    name="parallel_calls", title="Parallel calls, 125 × 8 in one run", figures=_figures, ours=_ours, peer=_peer
)
