"""Threads that run guests, and the watch that ends a guest at its compute limit.

A worker is one thread with one engine: bumping that engine's epoch ends exactly the guest that runs there, also inside
a native loop, and nothing else. Steps arrive by a queue and answers leave by one wake-up of the event loop for as many
as have gathered. Knows nothing of tools, catalogues or results.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

from codemodekit.sandboxes.quickjs.instance import Linked
from codemodekit.sandboxes.quickjs.module_cache import GuestModule
from codemodekit.sandboxes.quickjs.seat import Seat

__all__ = ["Delivery", "Running", "Signal", "Watch", "Worker"]

_TICK: Final = 0.005
_IDLE_TICKS: Final = 200
_THREAD_STACK: Final = 8 << 20
"""The engine runs guests on the thread's own stack and needs more than some systems give a thread."""

_starting = threading.Lock()


class Running(Protocol):
    """What a worker and the watch need to know of a guest."""

    compute_left: float
    """Seconds of CPU time it may still use."""

    def run(self, worker: Worker) -> None:
        """Carry out the work that waits; on the worker's thread; never raises."""


class Mailslot:
    """A queue with one reader. It wakes its reader through a pipe, not through a lock as queue.SimpleQueue does: the
    system then runs the reader where the writer was; a lock wakes another processor, which costs twice the time."""

    __slots__ = ("_asleep", "_read", "_waiting", "_write")

    def __init__(self) -> None:
        self._waiting: deque[Running | None] = deque()
        self._asleep = False
        self._read, self._write = os.pipe()

    def put(self, item: Running | None) -> None:
        """From any thread."""
        self._waiting.append(item)
        if self._asleep:
            self._asleep = False
            os.write(self._write, b"x")

    def take(self) -> Running | None:
        """The next item; waits for it."""
        while not self._waiting:
            self._asleep = True
            # An item that came before the reader could be seen asleep is found here.
            if not self._waiting:
                os.read(self._read, 4096)
            self._asleep = False
        return self._waiting.popleft()

    def close(self) -> None:
        """By the reader, when nobody writes any more."""
        os.close(self._read)
        os.close(self._write)


class Signal:
    """Tells one thread that something is done; like Mailslot through a pipe, for the same reason."""

    __slots__ = ("_poll", "_read", "_write")

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)

    def give(self) -> None:
        os.write(self._write, b"x")

    def take(self, milliseconds: int | None) -> bool:
        """Wait for it, at most so long; whether it came."""
        if not self._poll.poll(milliseconds):
            return False
        os.read(self._read, 1)
        return True

    def __del__(self) -> None:
        os.close(self._read)
        os.close(self._write)


class Worker:
    """One thread, one engine."""

    __slots__ = (
        "_clock",
        "_inbox",
        "_lock",
        "_started_cpu",
        "_thread",
        "_watch",
        "linked",
        "live",
        "running",
        "started",
        "thread_id",
    )

    def __init__(self, module: GuestModule, watch: Watch, number: int) -> None:
        self.linked = Linked(module)
        self.live = 0
        """Guests that belong here; counted by the event loop's thread."""
        self.running: Running | None = None
        self.started = 0.0
        self._started_cpu = 0.0
        self._lock = threading.Lock()
        self._watch = watch
        self._inbox = Mailslot()
        self._thread = threading.Thread(target=self._loop, name=f"codemodekit-sandbox-{number}", daemon=True)
        self._clock: int | None = None
        self.thread_id: int | None = None
        """The system's number of the thread, once it runs."""
        with _starting:
            before = threading.stack_size(_THREAD_STACK)
            try:
                self._thread.start()
            finally:
                threading.stack_size(before)

    def submit(self, guest: Running) -> None:
        """Let `guest` run on this thread when its turn comes."""
        self._inbox.put(guest)

    def stop(self) -> None:
        """End the thread after what has been submitted."""
        self._inbox.put(None)

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _loop(self) -> None:
        self.thread_id = threading.get_native_id()
        if hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(threading.get_ident())
        while (guest := self._inbox.take()) is not None:
            guest.run(self)
        self._inbox.close()
        self.linked.close()

    def enter(self, guest: Running, arm: Callable[[], None]) -> None:
        """`guest` is about to run engine code; from here on `interrupt` reaches it."""
        with self._lock:
            arm()
            self._started_cpu = time.thread_time()
            self.started = time.perf_counter()
            self.running = guest
        if self._watch.asleep:
            self._watch.wake()

    def leave(self, guest: Running) -> float:
        """It no longer does; its compute time is charged. Seconds of it this time."""
        with self._lock:
            self.running = None
            used = time.thread_time() - self._started_cpu
            guest.compute_left -= used
            return used

    def interrupt(self, guest: Running) -> bool:
        """End `guest` if it is what runs here; whether it was."""
        with self._lock:
            if self.running is not guest:
                return False
            self.linked.engine.increment_epoch()
            return True

    def check(self, now: float) -> bool:
        """End the running guest if its compute time is used up; whether anything ran. On the watch's thread."""
        with self._lock:
            guest = self.running
            if guest is None:
                return False
            if now - self.started >= guest.compute_left and self._used() >= guest.compute_left:
                self.linked.engine.increment_epoch()
        return True

    def _used(self) -> float:
        # Waiting for a processor is not computing; where the system cannot tell them apart, elapsed time counts.
        if self._clock is None:
            return time.perf_counter() - self.started
        return time.clock_gettime(self._clock) - self._started_cpu


class Watch:
    """One thread that looks at all workers every few milliseconds while any of them is busy."""

    def __init__(self) -> None:
        self.asleep = False
        self._workers: list[Worker] = []
        self._event = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, worker: Worker) -> None:
        self._workers = [*self._workers, worker]
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="codemodekit-sandbox-watch", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        self._event.set()

    def close(self) -> None:
        self._closed = True
        self._event.set()
        if self._thread is not None:
            self._thread.join(1)

    def _loop(self) -> None:
        quiet = 0
        while not self._closed:
            now = time.perf_counter()
            busy = [worker.check(now) for worker in self._workers]
            quiet = 0 if any(busy) else quiet + 1
            if quiet < _IDLE_TICKS:
                time.sleep(_TICK)
                continue
            self._event.clear()
            self.asleep = True
            # A worker that entered before it could see us asleep is found here.
            if not any(worker.running is not None for worker in self._workers):
                self._event.wait()
            self.asleep = False
            quiet = 0


class Delivery:
    """Hands results to one event loop; results that gather before it wakes share one wake-up."""

    __slots__ = ("_due", "_loop", "_waiting", "seat", "signal")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[asyncio.Future[Any], Any]] = deque()
        self._due = False
        self.signal = Signal() if hasattr(select, "poll") else None
        """For the loop's thread to wait on the spot, where the system has a cheap way to."""
        self.seat = Seat(loop)

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
