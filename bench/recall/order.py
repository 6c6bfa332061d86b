"""`python -m bench.recall.order TOOLS SEED SERVERS PROBES ORDER`: a digest of all answers, to compare processes by."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable

from bench.recall.queries import queries
from bench.recall.sources import open_world
from bench.recall.world import world
from codemodekit._json import digest

__all__ = ["digest_of_answers", "digests_elsewhere"]


async def digest_of_answers(tools: int, seed: int, servers: int, probes: int, order: int) -> str:
    """All results of the first probes' queries, two pages of each."""
    made = world(tools, seed, servers)
    answers: list[object] = []
    async with open_world(made, order) as (code_mode, _):
        for query in queries(made[:probes], seed):
            first = await code_mode.search_tools(query.text)
            answers.append(first)
            if cursor := first.get("nextCursor"):
                answers.append(await code_mode.search_tools(query.text, cursor=cursor))
    return digest(answers)  # type: ignore[arg-type]


def digests_elsewhere(tools: int, seed: int, servers: int, probes: int, orders: Iterable[int]) -> list[str]:
    """The same in processes of their own, each with its own hash seed and order of sources."""
    return [
        subprocess.run(
            [sys.executable, "-m", "bench.recall.order", *map(str, (tools, seed, servers, probes, order))],
            env={**os.environ, "PYTHONHASHSEED": str(order)},
            check=True, capture_output=True, text=True,
        ).stdout.strip()
        for order in orders
    ]  # fmt: skip


if __name__ == "__main__":
    print(asyncio.run(digest_of_answers(*map(int, sys.argv[1:]))))
