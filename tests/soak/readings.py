"""What a process holds at one moment, and whether it holds more than it did: the judge of the soak."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, Final

__all__ = ["MEMORY", "Reading", "Verdict", "children", "judge", "memory_mib", "read"]

MEMORY: Final = "memory_mib"
_MOST_GROWTH: Final = 1.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Counts of what can leak; `pending` is what the sources themselves still carry out."""

    memory_mib: float
    threads: int
    children: int
    handles: int
    tasks: int
    pending: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the judgement."""

    what: str
    before: float
    after: float
    leaks: bool

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)


def read(pending: int = 0) -> Reading:
    """The reading of now, when everything that could be given back has been. On Linux; elsewhere what can be known."""
    gc.collect()
    _trim()
    return Reading(
        memory_mib=memory_mib(),
        threads=threading.active_count(),
        children=len(children()),
        handles=_entries("/proc/self/fd"),
        tasks=len(asyncio.all_tasks()),
        pending=pending,
    )


def judge(plateau: Sequence[Reading], end: Sequence[Reading]) -> list[Verdict]:
    """Whether the readings of the end are above those of the plateau, by the middle of each.

    Memory may be a tenth above, for allocators keep what they were given; of the rest there may be nothing more.
    """
    verdicts = []
    for field in fields(Reading):
        before, after = (median(getattr(reading, field.name) for reading in some) for some in (plateau, end))
        most = before * _MOST_GROWTH if field.name == MEMORY else before
        verdicts.append(Verdict(field.name, round(before, 1), round(after, 1), after > most))
    return verdicts


def memory_mib() -> float:
    """Resident memory of this process."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _trim() -> None:
    """The C allocator keeps freed memory in a way that depends on luck; what it keeps is not ours."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return


def children() -> list[int]:
    """The processes that this one has started and that are not gone."""
    found: list[int] = []
    for task in Path("/proc/self/task").glob("*"):
        try:
            found += map(int, (task / "children").read_text(encoding="ascii").split())
        except OSError:
            continue
    return found


def _entries(folder: str) -> int:
    try:
        return len(list(Path(folder).iterdir()))
    except OSError:
        return 0
