"""Whether a search finds what is meant, in catalogues of 200 to 47,000 tools of 300 servers, and what that costs.

The queries are made from the tools of the smallest catalogue and put to each of them, so that only what is around a
tool changes. Half of the trades and half of the ways of asking were out of view while the ranking was made: they are
counted apart as held out. What counts as found is said in `bench.recall.queries`.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.ours import value_of
from bench.recall.order import digest_of_answers, digests_elsewhere
from bench.recall.queries import KINDS, Query, queries
from bench.recall.sources import ListedSource, open_world
from bench.recall.world import MadeTool, world
from bench.workload import AsFast, Bound, Figure, Measure, Sizes, Workload, middle, require
from codemodekit import CodeMode
from codemodekit.contracts import ToolDefinition

__all__ = ["WORKLOAD"]

_SEED = 1
_FOUND = 0.95
_KEPT = 0.95
_NOISE = 0.25
_MOST_P95_MS = 60.0
_NAMES = ("name", "words", "typo", "split")


def _figures(sizes: Sizes) -> tuple[Figure, ...]:
    made: list[Figure] = []
    for size in sizes.searched:
        is_last = size == sizes.searched[-1]
        for kind, title in KINDS.items():
            targets = (Bound(_FOUND),) if kind in _NAMES else ()
            made.append(Figure(name=f"{kind}_{size}", title=f"{title}, {size:,}", unit="recall@5", targets=targets))
        made.append(Figure(name=f"held_{size}", title=f"paraphrase held out, {size:,}", unit="recall@5"))
        made.append(Figure(name=f"p50_{size}", title=f"search in {size:,} tools, p50", unit="ms"))
        p95 = (Bound(_MOST_P95_MS),) if is_last else ()
        made.append(Figure(name=f"p95_{size}", title=f"search in {size:,} tools, p95", unit="ms", targets=p95))
        made.append(Figure(name=f"cpu95_{size}", title=f"search in {size:,} tools, p95 of CPU", unit="ms", targets=p95))
    few, many = sizes.kept_between
    return (
        *made,
        Figure(
            name="kept", title=f"paraphrases kept, {few:,} to {many:,}", unit="share", targets=(Bound(_KEPT),)
        ),
        Figure(name="run_few", title=f"trivial run with {few:,} tools, p50", unit="ms"),
        Figure(
            name="run_many", title=f"trivial run with {many:,} tools, p50", unit="ms",
            targets=(AsFast("run_few", f"with {few:,}", _NOISE),),
        ),
        Figure(name="same", title="the same order in other processes", unit="share", targets=(Bound(1.0),)),
        Figure(name="once", title="reached once by paging", unit="share", targets=(Bound(1.0),)),
        Figure(name="refresh", title=f"refresh of one source in {sizes.refreshed:,}", unit="ms"),
        Figure(name="build", title=f"build, {many:,} tools", unit="CPU s"),
        Figure(name="memory", title=f"memory of {many:,} tools", unit="MiB"),
    )  # fmt: skip


@dataclass(slots=True)
class _Seen:
    """What came out at one size."""

    answered: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    times: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def share(self, kind: str) -> float:
        return sum(self.answered[kind]) / max(len(self.answered[kind]), 1)

    def figures(self, size: int) -> dict[str, float]:
        ordered, cpu = sorted(self.times), sorted(self.cpu)
        return {
            **{f"{kind}_{size}": self.share(kind) for kind in KINDS},
            f"held_{size}": self.share("held"),
            f"p50_{size}": ordered[len(ordered) // 2] * 1e3,
            f"p95_{size}": ordered[int(len(ordered) * 0.95)] * 1e3,
            f"cpu95_{size}": cpu[int(len(cpu) * 0.95)] * 1e3,
        }


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    tools = world(sizes.searched[-1], _SEED, sizes.servers)
    asked = queries(tools[: sizes.probes], _SEED)

    async def measure() -> Mapping[str, float]:
        figures: dict[str, float] = {}
        seen: dict[int, _Seen] = {}
        for size in sizes.searched:
            async with _built(tools[:size]) as (code_mode, sources, costs):
                seen[size] = await _searched(code_mode, tools[:size], asked)
                if size == sizes.refreshed:
                    figures["refresh"] = await _refreshed(code_mode, sources[0])
                if size == sizes.kept_between[0]:
                    figures["once"] = await _paged(code_mode, size)
                if size in sizes.kept_between:
                    run = "run_few" if size == sizes.kept_between[0] else "run_many"
                    figures[run] = await _run(code_mode, sizes)
            figures |= seen[size].figures(size)
        few, many = sizes.kept_between
        figures["kept"] = 1 - (seen[few].share("paraphrase") - seen[many].share("paraphrase"))
        return {**figures, **costs, "same": await _same(sizes)}

    yield measure


@asynccontextmanager
async def _built(
    tools: Sequence[MadeTool],
) -> AsyncIterator[tuple[CodeMode, list[ListedSource], dict[str, float]]]:
    gc.collect()
    before, cpu = _resident(), time.process_time()
    async with open_world(tools) as (code_mode, sources):
        await code_mode.search_tools("anything")
        cpu = time.process_time() - cpu
        gc.collect()
        require(sum(each.tools for each in code_mode.health()) == len(tools), "not every tool was listed")
        yield code_mode, sources, {"build": cpu, "memory": max(_resident() - before, 0.1)}


def _resident() -> float:
    """MiB of this process in memory now; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0.0
    return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _searched(code_mode: CodeMode, tools: Sequence[MadeTool], asked: Sequence[Query]) -> _Seen:
    known = {(tool.source, tool.name): tool for tool in tools}
    seen = _Seen()
    for query in asked:
        start, cpu = time.perf_counter(), time.process_time()
        found = await code_mode.search_tools(query.text)
        seen.times.append(time.perf_counter() - start)
        seen.cpu.append(time.process_time() - cpu)
        is_answered = any(query.counts(known[each["source"], each["tool"]]) for each in found["results"])
        seen.answered[query.kind].append(is_answered)
        if query.kind == "paraphrase" and not query.in_view:
            seen.answered["held"].append(is_answered)
    return seen


async def _refreshed(code_mode: CodeMode, source: ListedSource) -> float:
    """Milliseconds from a change of one source to a catalogue that shows it."""
    before = code_mode.snapshot()
    source.tools.append(ToolDefinition(name="fresh_from_the_press", description="Something new."))
    start = time.perf_counter()
    source.changed.set()
    async with asyncio.timeout(60):
        while code_mode.snapshot() is before:  # noqa: ASYNC110 a catalogue has no event of its own
            await asyncio.sleep(0.0005)
    taken = time.perf_counter() - start
    found = await code_mode.search_tools("fresh from the press")
    require(bool(found["results"]) and found["results"][0]["tool"] == "fresh_from_the_press", found)
    return taken * 1e3


async def _paged(code_mode: CodeMode, size: int) -> float:
    """The share of tools that a list and a query of common words reach exactly once."""
    reached: list[float] = []
    for query in ("*", "list comment"):
        seen: list[tuple[str, str]] = []
        answer: dict[str, Any] = {"nextCursor": None}
        while "nextCursor" in answer:
            answer = await code_mode.search_tools(query, limit=8, cursor=answer["nextCursor"])
            seen += [(each["source"], each["tool"]) for each in answer["results"]]
        wanted = size if query == "*" else answer["total"]
        reached.append((2 * len(set(seen)) - len(seen)) / max(wanted, 1))
    return min(reached)


async def _run(code_mode: CodeMode, sizes: Sizes) -> float:
    """Milliseconds of a program that calls nothing."""
    await value_of(code_mode, "return 1", 1)  # what is opened at the first run is no cost of the catalogue
    return await middle(lambda: value_of(code_mode, "return 1", 1), sizes) * 1e3


async def _same(sizes: Sizes) -> float:
    """The share of other processes that answer alike."""
    work = (sizes.kept_between[1], _SEED, sizes.servers, max(sizes.probes // 8, 1))
    here = await digest_of_answers(*work, 0)
    others = await asyncio.to_thread(digests_elsewhere, *work, range(1, sizes.other_processes + 1))
    return sum(each == here for each in others) / len(others)


WORKLOAD = Workload(
    name="search_recall",
    title="Search: what is found, and how long it takes",
    figures=_figures,
    ours=_ours,
    most_rounds=1,
    is_cold=True,
)
