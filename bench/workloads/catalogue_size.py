"""Whether a run and a call cost more when there are more tools: the same programs with 1, 1,000 and 10,000 of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bench.catalogues import ToolText, tool_texts
from bench.ours import echo, open_code_mode, value_of
from bench.workload import AsFast, AtLeastPeer, Figure, Measure, Sizes, Workload, middle
from bench.workloads.catalogue import made_up_tool

__all__ = ["WORKLOAD"]

_OURS = """
let s = 0;
for (let i = 0; i < {calls}; i++) s += (await tools.app.echo({{ i }})).structuredContent.i;
return s
"""
_PEER = "s = 0\nfor i in range({calls}):\n    s += (await call_tool('echo', {{'i': i}}))['i']\nreturn s"
_NOISE = 0.25

_Run = Callable[[str, int], Awaitable[None]]
_Open = Callable[[list[Any], AsyncExitStack], Awaitable[_Run]]
"""From the tools besides the echo tool to something that runs a program."""


def _sizes(sizes: Sizes) -> tuple[int, ...]:
    return (1, *sizes.catalogues)


def _figures(sizes: Sizes) -> tuple[Figure, ...]:
    made: list[Figure] = []
    for size in _sizes(sizes):
        tools = f"{size:,} tools" if size > 1 else "1 tool"
        run = (AsFast("run_1", "with 1 tool", _NOISE),) if size > 1 else ()
        call = (AsFast("call_1", "with 1 tool", _NOISE), AtLeastPeer()) if size > 1 else (AtLeastPeer(),)
        made.append(Figure(name=f"run_{size}", title=f"trivial run with {tools}, p50", unit="ms", targets=run))
        made.append(Figure(name=f"call_{size}", title=f"calls with {tools}", unit="calls/s", targets=call))
    return tuple(made)


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async def open_with(others: list[Any], stack: AsyncExitStack) -> _Run:
        code_mode = await stack.enter_async_context(open_code_mode([echo, *others]))
        return lambda program, expected: value_of(code_mode, program, expected)

    others = [made_up_tool(text) for text in _others(sizes)]
    yield _measure(sizes, others, open_with, _OURS, (sizes.calls,) * len(_sizes(sizes)))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from fastmcp.tools import Tool

    from bench.peer import execute, ready_tools, server_of

    async def open_with(others: list[Any], _stack: AsyncExitStack) -> _Run:
        server = server_of([Tool.from_function(echo), *others])
        return lambda program, expected: execute(server, program, expected)

    yield _measure(sizes, ready_tools(_others(sizes)), open_with, _PEER, sizes.peer_calls)


def _others(sizes: Sizes) -> list[ToolText]:
    return tool_texts(max(_sizes(sizes)) - 1)


def _measure(sizes: Sizes, others: list[Any], open_with: _Open, template: str, calls: tuple[int, ...]) -> Measure:
    async def measure() -> Mapping[str, float]:
        figures: dict[str, float] = {}
        for size, count in zip(_sizes(sizes), calls, strict=True):
            async with AsyncExitStack() as stack:
                run = await open_with(others[: size - 1], stack)
                figures[f"run_{size}"] = await _trivial(run, sizes)
                figures[f"call_{size}"] = await _rate(run, template, count, sizes)
        return figures

    return measure


async def _trivial(run: _Run, sizes: Sizes) -> float:
    await run("return 1", 1)  # what is opened at the first run of a process is no cost of the catalogue
    return await middle(lambda: run("return 1", 1), sizes) * 1e3


async def _rate(run: _Run, template: str, calls: int, sizes: Sizes) -> float:
    await run(template.format(calls=1), 0)
    program = template.format(calls=calls)
    return calls / await middle(lambda: run(program, sum(range(calls))), sizes.few)


WORKLOAD = Workload(
    name="catalogue_size",
    title="The same run and calls with more tools in the catalogue",
    figures=_figures,
    ours=_ours,
    peer=_peer,
    most_rounds=5,
)
