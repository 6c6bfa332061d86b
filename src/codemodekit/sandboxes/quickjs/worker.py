"""Threads that carry on with steps that take long, and the watch that divides their time into slices.

A step begins on the thread of the event loop and comes here only when its first slice was not enough, or when the
program is known for long steps. Knows nothing of tools, catalogues or results.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, Protocol

__all__ = ["Delivery", "Job", "Watch", "Workers"]

_SLICE: Final = 0.002
"""Seconds after which whatever runs is interrupted: the longest the event loop waits for a program."""

_IDLE_TICKS: Final = 500

_STACK: Final = 1 << 20
"""Programs run on stacks that the engine makes; a thread only needs one for the way there."""

_starting = threading.Lock()


class Job(Protocol):
    """Work that is done in slices."""

    def run(self) -> bool:
        """Work until it is done, which is True, or the slice is over. Never raises."""


class Workers:
    """Threads with one queue. What is not done within its slice goes behind the others that wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._counting = threading.Lock()
        self._closing = False

    def submit(self, job: Job) -> None:
        """Have it done when its turn comes."""
        with self._counting:
            short = self._idle <= self._queue.qsize() and len(self._threads) < self._most
        if short:
            self._start()
        self._queue.put(job)

    def close(self) -> None:
        """End the threads after what has been submitted, which must be done at its next slice."""
        self._closing = True
        for _ in self._threads:
            self._queue.put(None)

    def join(self, seconds: float) -> None:
        """Wait for the threads, at most so long for each."""
        for thread in self._threads:
            thread.join(seconds)

    def _start(self) -> None:
        number = len(self._threads) + 1
        thread = threading.Thread(target=self._work, name=f"codemodekit-sandbox-{number}", daemon=True)
        with _starting:
            before = threading.stack_size(_STACK)
            try:
                thread.start()
            finally:
                threading.stack_size(before)
        self._threads.append(thread)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            while not job.run():
                if not self._closing and not self._queue.empty():
                    self._queue.put(job)
                    break

    def _next(self) -> Job | None:
        with self._counting:
            self._idle += 1
        job = self._queue.get()
        with self._counting:
            self._idle -= 1
        return job


class Watch:
    """One thread that ends the slices of whatever runs, while anything does."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self.running: set[Any] = set()
        """What runs now; each adds and removes itself, on its own thread."""
        self.asleep = False
        self._interrupt = interrupt
        self._event = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch. Twice is fine."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="codemodekit-sandbox-watch", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Something runs; needed only while `asleep`."""
        self._event.set()

    def close(self) -> None:
        self._closed = True
        self._event.set()
        if self._thread is not None:
            self._thread.join(1)

    def _loop(self) -> None:
        quiet = 0
        while not self._closed:
            if self.running:
                self._interrupt()
                quiet = 0
            else:
                quiet += 1
            if quiet < _IDLE_TICKS:
                time.sleep(_SLICE)
                continue
            self._event.clear()
            self.asleep = True
            # Whatever began before it could see us asleep is found here.
            if not self.running:
                self._event.wait()
            self.asleep = False
            quiet = 0


class Delivery:
    """Hands results to one event loop; results that gather before it wakes share one wake-up."""

    __slots__ = ("_due", "_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[asyncio.Future[Any], Any]] = deque()
        self._due = False

    def give(self, future: asyncio.Future[Any], value: Any) -> None:
        """From any thread: settle `future` with `value`."""
        self._waiting.append((future, value))
        if not self._due:
            self._due = True
            try:
                self._loop.call_soon_threadsafe(self._settle)
            except RuntimeError:  # the loop has been closed: nobody waits any more
                self._waiting.clear()

    def _settle(self) -> None:
        self._due = False
        waiting = self._waiting
        while waiting:
            future, value = waiting.popleft()
            if not future.done():
                future.set_result(value)
