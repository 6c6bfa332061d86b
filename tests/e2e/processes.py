"""Which processes a process has started, as the kernel tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio
import pytest

__all__ = ["GONE_WITHIN_S", "alive", "descendants", "gone", "needs_proc"]

GONE_WITHIN_S: Final = 10.0
"""What ends a child waits for it to leave by itself first, so a bound has to be longer than that."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here to see processes in")


def descendants(root: int) -> dict[int, str]:
    """Process ids below `root`, with their command lines."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    return {pid: _command_line(pid) for pid in parents if _is_below(pid, root, parents)}


def alive(pid: int) -> bool:
    """Whether the process exists and has not ended; one that waits to be reaped has ended."""
    fields = _stat(pid)
    return bool(fields) and fields[0] != "Z"


async def gone(pids: list[int]) -> None:
    """Returns when none of them is alive."""
    with anyio.fail_after(GONE_WITHIN_S):
        while any(alive(pid) for pid in pids):  # noqa: ASYNC110 -- they are nobody's children here, so nothing tells us
            await anyio.sleep(0.02)


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == root:
            return True
    return False


def _stat(pid: int) -> list[str]:
    """State, parent and so on: what follows the name, which may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
