"""Lets the event loop's thread and a worker's take turns on one processor while they only wait for each other.

Left to itself the system wakes the other thread on a processor that sleeps, and waking that costs more than a step.
Linux only; elsewhere, and where the system does not allow it, nothing changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from collections.abc import Callable

__all__ = ["Seat"]


def _finder() -> Callable[[], int] | None:
    """What says which processor this thread is on."""
    if sys.platform != "linux":
        return None
    try:
        found = ctypes.PyDLL(None).sched_getcpu
    except (OSError, AttributeError):
        return None
    found.argtypes, found.restype = (), ctypes.c_int
    return found


_this_processor = _finder()


class Seat:
    """Where one loop's thread sits. What is shared is given back at the loop's next turn."""

    __slots__ = ("_all", "_loop", "_shared_with")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._shared_with: int | None = None
        self._all: set[int] = set()

    def share(self, thread: int | None) -> None:
        """Have the worker with this native thread id run where this thread is, and stay here, until the next turn."""
        if _this_processor is None or thread is None or self._shared_with is not None:
            return
        with contextlib.suppress(OSError):  # a thread that has ended, or a container that forbids it
            self._all = os.sched_getaffinity(0)
            if len(self._all) < 2:
                return
            here = {_this_processor()}
            os.sched_setaffinity(thread, here)
            self._shared_with = thread
            self._loop.call_soon(self._give_back)
            os.sched_setaffinity(0, here)

    def _give_back(self) -> None:
        thread, self._shared_with = self._shared_with, None
        for each in (0, thread or 0):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(each, self._all)
