"""A catalogue from ready definitions to the first answered search, and searches in it. Cold: a process builds it once.

Ours validates and compiles every schema and builds its index as the source lists. The peer is given ready tools and
reads them at the first search; it renders results alike (names and descriptions, five at most).
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bench.catalogues import QUERIES, ToolText, tool_texts
from bench.ours import open_code_mode
from bench.workload import Bound, Figure, Measure, Sizes, Workload, middle, require
from codemodekit import define_tool

__all__ = ["WORKLOAD", "made_up_tool"]

_Search = Callable[[str], Awaitable[str]]
_Build = Callable[[list[Any], AsyncExitStack], Awaitable[_Search]]
"""From ready tools to something that searches them."""


def _figures(sizes: Sizes) -> tuple[Figure, ...]:
    made: list[Figure] = []
    for size in sizes.catalogues:
        is_last = size == sizes.catalogues[-1]
        built, found = ((Bound(1.5),), (Bound(5.0),)) if is_last else ((), ())
        made += [
            Figure(name=f"build_{size}", title=f"build, {size:,} tools", unit="CPU s", targets=built),
            Figure(name=f"build_wall_{size}", title=f"build, {size:,} tools, on the clock", unit="s"),
            Figure(name=f"search_p50_{size}", title=f"search in {size:,} tools, p50", unit="ms", targets=found),
            Figure(name=f"search_most_{size}", title=f"search in {size:,} tools, slowest query", unit="ms"),
        ]
    return tuple(made)


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async def build(tools: list[Any], stack: AsyncExitStack) -> _Search:
        code_mode = await stack.enter_async_context(open_code_mode(tools))

        async def search(query: str) -> str:
            return str(await code_mode.search_tools(query))

        return search

    yield _measure(sizes, lambda texts: [made_up_tool(text) for text in texts], build)


async def _nothing(given: Any) -> None:
    """Made-up tools are not called."""


def made_up_tool(text: ToolText) -> Any:
    return define_tool(
        _nothing, name=text.name, description=text.description, input_schema=text.input, output_schema=text.output
    )


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from bench.peer import ready_tools, search, server_of

    async def build(tools: list[Any], _stack: AsyncExitStack) -> _Search:
        server = server_of(tools)
        return lambda query: search(server, query)

    yield _measure(sizes, ready_tools, build)


def _measure(sizes: Sizes, prepare: Callable[[list[ToolText]], list[Any]], build: _Build) -> Measure:
    async def one(size: int) -> Mapping[str, float]:
        tools = prepare(tool_texts(size, salt=f" {size}"))  # the smaller catalogue must not profit from the larger one
        async with AsyncExitStack() as stack:
            wall, cpu = time.perf_counter(), time.process_time()
            search = await build(tools, stack)
            found = await search(QUERIES[0])
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            require("create_invoice_billing" in found, found)
            middles = [await _seconds_of(search, query, sizes) for query in QUERIES]
        ordered = sorted(middles)
        return {
            f"build_{size}": cpu,
            f"build_wall_{size}": wall,
            f"search_p50_{size}": ordered[len(ordered) // 2] * 1e3,
            f"search_most_{size}": ordered[-1] * 1e3,
        }

    async def measure() -> Mapping[str, float]:
        figures: dict[str, float] = {}
        for size in sorted(sizes.catalogues, reverse=True):
            figures |= await one(size)
        return figures

    return measure


async def _seconds_of(search: _Search, query: str, sizes: Sizes) -> float:
    async def once() -> None:
        await search(query)

    return await middle(once, sizes.with_repetitions(runs=9, seconds=0.1))


WORKLOAD = Workload(
    name="catalogue",
    title="Catalogue, from definitions to the first search",
    figures=_figures,
    ours=_ours,
    peer=_peer,
    most_rounds=5,
    is_cold=True,
)
