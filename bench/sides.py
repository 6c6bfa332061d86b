"""The processes that do the work: one a side, idle while the other is measured.

Each is a fresh interpreter that prepares one side of one workload and then takes a sample whenever it is asked to. So
neither side's imports, garbage or threads weigh on the other, and what a workload leaves behind ends with it.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Literal, Self, TypeAlias

from bench.workload import Side, Sizes, Workload
from bench.workloads import WORKLOADS

__all__ = ["SideFailed", "SideName", "SideProcess"]

SideName: TypeAlias = Literal["ours", "peer"]

_SPAWN = multiprocessing.get_context("spawn")
_LAST_WORD_S = 10


class SideFailed(Exception):
    """A side could not do its work; the text is what its process said."""


class SideProcess:
    """One side of one workload, prepared, in a process of its own. Use as a context manager.

    Raises:
        SideFailed: it cannot prepare or do the work.
    """

    def __init__(self, workload: Workload, side: SideName, sizes: Sizes) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_live, args=(theirs, workload.name, side, sizes), daemon=True)
        self._process.start()
        theirs.close()

    def sample(self) -> Mapping[str, float]:
        """Let it work once, as soon as it is prepared: figures by name."""
        self._pipe.send("sample")
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._pipe.send("end")
        self._process.join(_LAST_WORD_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()

    def _answer(self) -> Mapping[str, float]:
        try:
            kind, content = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(_LAST_WORD_S)
            raise SideFailed(f"the process ended with code {self._process.exitcode}") from None
        if kind == "failed":
            raise SideFailed(content)
        figures: Mapping[str, float] = content
        return figures


def _live(pipe: Connection, workload: str, side: SideName, sizes: Sizes) -> None:
    """What the process does."""
    try:
        asyncio.run(_serve(pipe, _side(workload, side), sizes))
    except (KeyboardInterrupt, EOFError, BrokenPipeError):
        return  # whoever asked is gone
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))


def _side(workload: str, side: SideName) -> Side:
    chosen = {each.name: each for each in WORKLOADS}[workload]
    prepare = chosen.ours if side == "ours" else chosen.peer
    assert prepare is not None
    return prepare


async def _serve(pipe: Connection, prepare: Side, sizes: Sizes) -> None:
    async with prepare(sizes) as measure:
        while await asyncio.to_thread(pipe.recv) == "sample":
            gc.collect()  # each sample pays for its own garbage only
            pipe.send(("sample", await measure()))
