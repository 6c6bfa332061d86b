"""Tells host code what happens, beside the runs: in order, bounded, and never in their way.

A coroutine function is awaited on the event loop, in a task of its own. Any other function is called in a thread: it
may take its time, wait for a lock or never come back, and the event loop goes on. What a listener raises, whatever it
is, ends nothing. Knows nothing of what is told.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from codemodekit.providers.threads import start_in_thread

__all__ = ["HostCode", "Outbox", "Teller"]

_log = logging.getLogger("codemodekit")

HostCode: TypeAlias = Callable[..., Any]
"""A plain function, or a coroutine function. What it returns is not looked at."""

_MOST_THREADS: Final = 32
"""Threads that plain listeners may sit in at one time; those that wait for one beyond that miss what happens."""

_TOLD_A_TURN: Final = 32
"""A coroutine that never waits would keep the event loop until the box is empty."""

_MOST_WEIGHT: Final = 64 * 1024 * 1024
"""Bytes that may wait for one listener, as whoever tells them counts."""


class Teller:
    """What all listeners of one Code Mode share: how many threads they hold, what was lost, and their end."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
        self.failed = 0
        """Times that a listener raised."""
        self.lost = 0
        """What was not told to a listener that did not keep up."""
        self.tasks: set[asyncio.Task[None]] = set()
        self.closed = False

    async def aclose(self) -> None:
        """Nothing more is told; coroutines that have not ended are cancelled. Twice is fine."""
        self.closed = True
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=0.5)


class Outbox:
    """What one listener is still to be told. `put` and `caught_up` are for the event loop only."""

    def __init__(self, listener: HostCode, teller: Teller, *, what: str, most: int = 10_000) -> None:
        self._listener = listener
        self._teller = teller
        self._what = what
        self._most = most
        self._awaits = _is_coroutine_function(listener)
        self._at_once = bool(getattr(listener, "at_once", False))
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self._items: deque[tuple[tuple[Any, ...], int]] = deque()
        self._weight = 0
        self._busy = False
        self._taken = self._told = 0
        """How much was put into the box, and how much of it has left it again."""
        self._late_until = 0
        """Until so much has been told, it is not waited for."""
        self._since = 0.0
        self._complained = False
        self._waiters: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self.on_failure: Callable[[BaseException, tuple[Any, ...]], None] | None = None
        """Called on the event loop with what the listener raised and with what it had been told."""

    def put(self, *told: Any, weight: int = 0, last: bool = False) -> None:
        """Tell the listener this, after what it is still to be told. The last word finds a place in a full box too."""
        if self._teller.closed:
            return
        if self._at_once:
            self._call(told)
            return
        with self._teller.lock:
            if not self._has_room(weight, last) or not (self._busy or self._may_begin()):
                self._teller.lost += 1
                return
            self._items.append((told, weight))
            self._weight += weight
            self._taken += 1
            begins, self._busy = not self._busy, True
            if begins:
                self._since = time.monotonic()
        if begins:
            self._begin()

    async def caught_up(self, seconds: float) -> None:
        """Return when the listener has been told all there is by now, if it keeps up: one that was waited for in vain,
        or has already been busy for so long with one thing, is not waited for."""
        with self._teller.lock:
            taken = self._taken
            if self._told >= taken or self._told < self._late_until:
                return
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((taken, waiter))
        left = seconds - (time.monotonic() - self._since)
        if left > 0:
            await asyncio.wait([waiter], timeout=left)
        if not waiter.done():
            self._late_until = taken

    def cut_off(self, seconds: float) -> None:
        """A coroutine that has not come back after so long is cancelled."""
        if self._task is not None and not self._task.done():
            self._loop.call_later(seconds, self._task.cancel)

    # --- telling ------------------------------------------------------------------------------------------------

    def _has_room(self, weight: int, last: bool) -> bool:
        most = 2 * self._most if last else self._most
        return len(self._items) < most and (not self._items or self._weight + weight <= _MOST_WEIGHT)

    def _may_begin(self) -> bool:
        if self._awaits:
            return True
        if self._teller.threads >= _MOST_THREADS:
            return False
        self._teller.threads += 1
        return True

    def _begin(self) -> None:
        if not self._awaits:
            self._begin_thread()
            return
        self._task = task = self._loop.create_task(self._await_all(), context=self._context)
        self._teller.tasks.add(task)
        task.add_done_callback(self._left)

    def _begin_thread(self) -> None:
        try:
            start_in_thread(lambda: self._context.run(self._tell_all))
        except RuntimeError:  # the system gives no more threads
            with self._teller.lock:
                self._rest()

    def _tell_all(self) -> None:
        told = self._next(0)
        while told is not None:
            self._call(told)
            told = self._next(1)

    async def _await_all(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        told = self._next(0)
        while told is not None:
            try:
                await self._listener(*told)
            except GeneratorExit:
                raise
            except BaseException as error:
                if task.cancelling():
                    raise
                self._failed(error, told)
            told = self._next(1)
            if self._told % _TOLD_A_TURN == 0:
                await asyncio.sleep(0)

    def _next(self, done: int) -> tuple[Any, ...] | None:
        """What is to be told next, after so much has been; None when there is nothing more."""
        with self._teller.lock:
            self._told += done
            self._free_waiters()
            if self._items and not self._teller.closed:
                told, weight = self._items.popleft()
                self._weight -= weight
                self._since = time.monotonic()
                return told
            self._rest()
        return None

    def _rest(self) -> None:
        """Nothing is left to tell, or may be. The lock is held."""
        self._teller.lost += len(self._items)
        self._items.clear()
        self._weight = 0
        self._busy = False
        self._told = self._taken
        if not self._awaits:
            self._teller.threads -= 1
        self._free_waiters()
        # also without waiters: a function that sets an event of the loop's from its thread does not wake the loop
        self._on_loop(_nothing)

    def _free_waiters(self) -> None:
        while self._waiters and self._waiters[0][0] <= self._told:
            waiter = self._waiters.popleft()[1]
            self._on_loop(partial(_release, waiter))

    def _left(self, task: asyncio.Task[None]) -> None:
        self._teller.tasks.discard(task)
        if task.cancelled() or task.exception() is not None:  # it did not come to rest by itself
            with self._teller.lock:
                self._rest()

    def _call(self, told: tuple[Any, ...]) -> None:
        try:
            given = self._listener(*told)
        except BaseException as error:  # whatever it is, it is the listener's
            self._failed(error, told)
            return
        if inspect.iscoroutine(given):
            given.close()
            self._failed(TypeError("it returned a coroutine; give the coroutine function itself"), told)

    def _failed(self, error: BaseException, told: tuple[Any, ...]) -> None:
        with self._teller.lock:
            self._teller.failed += 1
        if not self._complained:
            self._complained = True  # a listener that always fails would fill the log
            _log.warning("%s failed with %s; what it is told changes nothing", self._what, type(error).__name__)
        report = self.on_failure
        if report is not None:
            self._on_loop(lambda: report(error, told))

    def _on_loop(self, action: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            return


def _release(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _nothing() -> None:
    """The loop is woken, and that is all."""


def _is_coroutine_function(function: HostCode) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
