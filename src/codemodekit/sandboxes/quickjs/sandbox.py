"""The sandbox contract over QuickJS in WebAssembly: guests, and who runs them when.

Above stands the run loop, which sees only `launch`, `step` and `close`; below stand worker.py (threads and slices of
time) and instance.py (one WebAssembly instance).

A step begins on the thread of the event loop, since most are over before another thread would have woken. One that is
not over after a slice or two of two milliseconds goes on, from where it is, on a worker, and the program's next steps
begin there for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Sequence
from typing import Final

import wasmtime

from codemodekit.contracts import Answer, Calls, Guest, GuestError, Launch, LogEntry, Program, Step, Threw
from codemodekit.errors import ClosedError, ConfigurationError, SandboxError
from codemodekit.sandboxes.quickjs import module_cache
from codemodekit.sandboxes.quickjs.engine import GUESTS_PER_ENGINE
from codemodekit.sandboxes.quickjs.instance import Instance, Interrupted, Linked
from codemodekit.sandboxes.quickjs.texts import read_step
from codemodekit.sandboxes.quickjs.worker import Delivery, Watch, Workers

__all__ = ["QuickJsSandbox"]

_ENGINES: Final = 8
_CLOSE_SECONDS: Final = 2.0

_PROBATION: Final = 32
"""Steps that a program spends on workers after one that was not over in its first slice: a program that computes a lot
between its calls holds up the event loop for one step in so many."""

_PATIENCE: Final = 0.001
"""Seconds after which a step moves when next its slice is over."""

_MUCH_MEMORY: Final = 16 << 20
"""Giving back more than this takes so long that a worker does it."""

_WALL_IS_CPU: Final = 0.0001
"""Seconds up to which elapsed time is taken for CPU time, which costs ten times as much to ask for."""

_ENDED: Final = GuestError(kind="internal", message="the guest was ended by its host")


class QuickJsSandbox:
    """Runs each program in a fresh instance of a JavaScript engine that reaches nothing of the host.

    Up to 512 programs may wait for tools at one time; beyond that a launch waits for room.

    Args:
        workers: threads at most for programs that compute for long; they share them in slices of two milliseconds.
            None: one a processor, and at least two.

    Raises:
        ConfigurationError: not a positive number of workers.
    """

    def __init__(self, *, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or workers < 1):
            raise ConfigurationError(f"workers must be a positive integer, not {workers!r}")
        self.workers = Workers(workers or max(2, os.cpu_count() or 1))
        self.watch = Watch(self._interrupt)
        self._wasm: bytes | None = None
        self._engines: list[Linked] = []
        self._opening: asyncio.Task[None] | None = None
        self._delivery: tuple[asyncio.AbstractEventLoop, Delivery] | None = None
        self._guests: set[QuickJsGuest] = set()
        self._room = asyncio.Semaphore(_ENGINES * GUESTS_PER_ENGINE)
        self._closed = False

    async def launch(self, program: Program, launch: Launch) -> Guest:
        """A fresh guest; the first step starts the program. See `contracts.CodeSandbox`."""
        if self._closed:
            raise ClosedError("the sandbox has been closed")
        await self._room.acquire()
        try:
            linked = await self._engine()
        except BaseException:
            self._room.release()
            raise
        linked.live += 1
        guest = QuickJsGuest(self, linked, program, launch)
        self._guests.add(guest)
        return guest

    async def aclose(self) -> None:
        """End all guests and threads. Twice is fine."""
        self._closed = True
        if self._opening is not None:
            await asyncio.wait([self._opening])
        for guest in list(self._guests):
            await guest.close()
        self.workers.close()
        await asyncio.to_thread(self.workers.join, _CLOSE_SECONDS)
        self.watch.close()
        engines, self._engines = self._engines, []
        for linked in engines:
            linked.close()

    async def _engine(self) -> Linked:
        while (linked := self._with_room()) is None:
            if self._closed:
                raise ClosedError("the sandbox has been closed")
            if self._opening is None:
                self._opening = asyncio.create_task(self._open_another())
            # Shielded: an engine that is being made must not be lost with the one who asked for it.
            await asyncio.shield(self._opening)
        return linked

    def _with_room(self) -> Linked | None:
        return next((each for each in self._engines if each.live < GUESTS_PER_ENGINE), None)

    async def _open_another(self) -> None:
        try:
            linked = await asyncio.to_thread(self._open)
            self._engines = [*self._engines, linked]  # a new list: the watch may be going through the old one
            self.watch.start()
        finally:
            self._opening = None

    def _open(self) -> Linked:
        if self._wasm is None:
            self._wasm = module_cache.guest_bytes()
        try:
            return Linked(module_cache.load(self._wasm))
        except wasmtime.WasmtimeError as error:
            raise SandboxError(f"the WebAssembly engine cannot start: {str(error).splitlines()[0]}") from error

    def _interrupt(self) -> None:
        for linked in self._engines:
            linked.bump()

    def deliver(self) -> Delivery:
        """The way back to the running event loop."""
        loop = asyncio.get_running_loop()
        if self._delivery is None or self._delivery[0] is not loop:
            self._delivery = (loop, Delivery(loop))
        return self._delivery[1]

    def forget(self, guest: QuickJsGuest) -> None:
        """The guest has been freed."""
        self._guests.discard(guest)
        self._room.release()


class QuickJsGuest:
    """One program. Its slices are strictly one after another, on whatever thread."""

    def __init__(self, sandbox: QuickJsSandbox, linked: Linked, program: Program, launch: Launch) -> None:
        self._sandbox = sandbox
        self._linked = linked
        self._program = program
        self._launch = launch
        self._compute_left = launch.limits.compute_time_ms / 1000
        self._instance: Instance | None = None
        self._answers: Sequence[Answer] = ()
        self._begun = False
        """Whether the engine is in the middle of a step."""
        self._probation = 0
        self._stepping = False
        self._moved: asyncio.Future[Step] | None = None
        """The outcome of the step, when a worker has it."""
        self._delivery: Delivery | None = None
        self._killed: GuestError | None = None
        self._ended = False
        self._left = False
        self._logs: tuple[LogEntry, ...] = ()

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        # While a worker has the step the memory is in motion; then these are those of the last time.
        if self._instance is not None and self._moved is None:
            self._logs = self._instance.logs()
        return self._logs

    async def step(self, answers: Sequence[Answer]) -> Step:
        """See `contracts.Guest.step`."""
        if self._stepping or self._ended or self._killed is not None:
            raise ClosedError("the guest is busy with a step" if self._stepping else "the guest has ended")
        self._stepping, self._answers = True, answers
        try:
            if self._probation:
                self._probation -= 1
            elif (outcome := self._at_once()) is not None:
                return outcome
            return await self._on_a_worker()
        finally:
            self._stepping = False

    def _at_once(self) -> Step | None:
        began = time.perf_counter()
        while (outcome := self._slice()) is None:
            # The watch does not know when we began: a slice that it ends may have been a short one.
            if time.perf_counter() - began >= _PATIENCE:
                self._probation = _PROBATION
                break
        return outcome

    async def _on_a_worker(self) -> Step:
        self._delivery = self._sandbox.deliver()
        self._moved = moved = asyncio.get_running_loop().create_future()
        self._sandbox.workers.submit(self)
        try:
            return await asyncio.shield(moved)
        except asyncio.CancelledError:
            self._kill()
            # It ends at once, but its thread must leave it before what it printed can be read.
            await self._settled(moved)
            raise
        finally:
            self._moved = None

    async def _settled(self, moved: asyncio.Future[Step]) -> None:
        while not moved.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(moved)

    def _kill(self) -> None:
        self._killed = self._killed or _ENDED
        self._linked.bump()  # after the mark, which is looked for at the end of every slice

    async def close(self) -> None:
        """End the program wherever it is, and free it. Twice is fine."""
        self._kill()
        if self._moved is not None:
            await self._settled(self._moved)
        elif self._instance is not None and self._instance.memory_bytes() > _MUCH_MEMORY:
            self._logs = self.logs
            await self._on_a_worker()
        else:
            self._slice()
        self._leave()

    def _leave(self) -> None:
        if not self._left:
            self._left = True
            self._linked.live -= 1
            self._sandbox.forget(self)

    # --- on the event loop's thread or a worker's -----------------------------------------------------------------

    def run(self) -> bool:
        """A slice of the step on a worker; whether the step is over. Never raises."""
        outcome = self._slice()
        if outcome is None:
            return False
        assert self._delivery is not None
        assert self._moved is not None
        self._delivery.give(self._moved, outcome)
        return True

    def _slice(self) -> Step | None:
        """The step, or None: the slice is over and the step is not. What has ended has been freed. Never raises."""
        try:
            instance = self._instance
            if not self._begun:
                instance = self._begin()
            assert instance is not None
            if not self._advance(instance):
                return None
            self._begun = False
            text = instance.text()
        except Interrupted as interrupted:
            outcome: Step = Threw(self._killed or interrupted.error)
        except Exception as error:
            outcome = Threw(GuestError(kind="internal", message=f"{type(error).__name__}: {error}"))
        else:
            outcome = read_step(text, self._program)
        if not isinstance(outcome, Calls):
            self._free()
        return outcome

    def _begin(self) -> Instance:
        if self._killed is not None or self._ended:
            raise Interrupted(_ENDED)
        if self._compute_left <= 0:
            raise Interrupted(GuestError(kind="compute"))
        instance = self._instance
        if instance is None:
            self._instance = instance = Instance(self._linked, self._launch.limits.memory_bytes, self._launch.names)
            instance.start(self._program, self._launch)
        else:
            instance.step(self._answers)
        self._begun = True
        return instance

    def _advance(self, instance: Instance) -> bool:
        watch = self._sandbox.watch
        began, clock = time.thread_time(), time.perf_counter()
        watch.running.add(self)
        if watch.asleep:
            watch.wake()
        try:
            instance.rearm()
            over = self._killed is None and instance.advance()
        finally:
            watch.running.discard(self)
            elapsed = time.perf_counter() - clock
            self._compute_left -= elapsed if elapsed < _WALL_IS_CPU else time.thread_time() - began
        if not over:
            if self._killed is not None:
                raise Interrupted(self._killed)
            if self._compute_left <= 0:
                raise Interrupted(GuestError(kind="compute"))
        return over

    def _free(self) -> None:
        self._ended = True
        instance = self._instance
        if instance is not None:
            instance.stop()
            self._logs = instance.logs()
            self._instance = None
            instance.close()
