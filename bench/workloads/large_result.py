"""One program that calls a tool whose answer is as large as the default limit allows, and counts its rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from bench.ours import open_code_mode, value_of
from bench.workload import Figure, Measure, Sizes, Workload, middle
from codemodekit import ToolResult
from codemodekit._json import encode

__all__ = ["WORKLOAD"]

_OURS = "return (await tools.app.rows({})).structuredContent.rows.length"
_PEER = "return len((await call_tool('rows', {}))['rows'])"


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return (Figure(name="p50", title="run that reads it, p50", unit="ms"),)


def _answer(size: int) -> dict[str, Any]:
    """An object whose JSON is a little smaller than `size`."""
    row = {"id": 10_000, "name": "a name of some length", "tags": ["one", "two"], "open": True, "text": "x" * 80}
    return {"rows": [row | {"id": 10_000 + n} for n in range((size - 200) // (len(encode(row)) + 1))]}


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    answer = _answer(sizes.result_bytes)

    async def rows() -> ToolResult:
        # not as a plain value: that would be sent a second time as a text block, and so be over the limit
        return ToolResult(structured_content=answer)

    async with open_code_mode([rows]) as code_mode:
        yield _measure(sizes, lambda: value_of(code_mode, _OURS, len(answer["rows"])))


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from bench.peer import ReadyTool, execute, server_of

    answer = _answer(sizes.result_bytes)
    server = server_of([ReadyTool(name="rows", parameters={"type": "object"}, answer=answer)])
    yield _measure(sizes, lambda: execute(server, _PEER, len(answer["rows"])))


def _measure(sizes: Sizes, run: Callable[[], Awaitable[None]]) -> Measure:
    async def measure() -> Mapping[str, float]:
        return {"p50": await middle(run, sizes) * 1e3}

    return measure


WORKLOAD = Workload(name="large_result", title="Tool result of 2 MiB", figures=_figures, ours=_ours, peer=_peer)
