"""One program that calls an echo tool again and again, each call awaited: an `async def` function, and a sync one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from bench.ours import echo, echo_in_thread, open_code_mode, value_of
from bench.workload import AtLeastPeer, Bound, Figure, Measure, Sizes, Workload, middle

__all__ = ["WORKLOAD"]

_OURS = """
let s = 0;
for (let i = 0; i < {calls}; i++) s += (await tools.app.{tool}({{ i }})).structuredContent.i;
return s
"""
_PEER = "s = 0\nfor i in range({calls}):\n    s += (await call_tool('{tool}', {{'i': i}}))['i']\nreturn s"


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return (
        Figure(
            name="async_def",
            title="to an async def function",
            unit="calls/s",
            targets=(Bound(12_000), AtLeastPeer(), Bound(20_000, is_aim=True)),
        ),
        Figure(name="sync", title="to a sync function, in its thread", unit="calls/s", targets=(AtLeastPeer(),)),
    )


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async with open_code_mode([echo, echo_in_thread]) as code_mode:
        yield _measure(sizes, _OURS, lambda program, expected: value_of(code_mode, program, expected))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from fastmcp.tools import Tool

    from bench.peer import execute, server_of

    server = server_of([Tool.from_function(echo), Tool.from_function(echo_in_thread)])
    yield _measure(sizes, _PEER, lambda program, expected: execute(server, program, expected))


def _measure(sizes: Sizes, template: str, run: Callable[[str, int], Awaitable[None]]) -> Measure:
    async def rate(tool: str) -> float:
        program = template.format(calls=sizes.calls, tool=tool)
        return sizes.calls / await middle(lambda: run(program, sum(range(sizes.calls))), sizes.few)

    async def measure() -> Mapping[str, float]:
        return {"async_def": await rate("echo"), "sync": await rate("echo_in_thread")}

    return measure


WORKLOAD = Workload(
    name="sequential_calls", title="Sequential calls, 1,000 in one run", figures=_figures, ours=_ours, peer=_peer
)
