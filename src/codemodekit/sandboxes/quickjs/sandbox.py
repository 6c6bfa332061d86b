"""The sandbox contract over QuickJS in WebAssembly: a pool of workers, and guests that live on one of them.

Above stands the run loop, which sees only `launch`, `step` and `close`; below stand worker.py (threads and limits in
time) and instance.py (one WebAssembly instance).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Sequence
from typing import Any, Final

import wasmtime

from codemodekit.contracts import Answer, Calls, Guest, GuestError, Launch, LogEntry, Program, Step, Threw
from codemodekit.errors import ClosedError, ConfigurationError, SandboxError
from codemodekit.sandboxes.quickjs import module_cache
from codemodekit.sandboxes.quickjs.engine import GUESTS_PER_ENGINE
from codemodekit.sandboxes.quickjs.instance import Instance, Interrupted
from codemodekit.sandboxes.quickjs.texts import read_step
from codemodekit.sandboxes.quickjs.worker import Delivery, Signal, Watch, Worker

__all__ = ["QuickJsSandbox"]

_CLOSE_SECONDS: Final = 2.0
_SHORT_STEP: Final = 0.0001
_PATIENCE_MS: Final = 1
"""The event loop waits a millisecond on the spot for a step of the only guest there is. Most steps are shorter than the
switches of threads and the turns of the loop that awaiting costs. After a step of more than _SHORT_STEP seconds the
next is awaited; and with several guests nothing is waited for on the spot, for the loop has others to serve."""

_ENDED: Final = GuestError(kind="internal", message="the guest was ended by its host")


class QuickJsSandbox:
    """Runs each program in a fresh instance of a JavaScript engine that reaches nothing of the host.

    Args:
        workers: threads at most; each runs one step at a time. None: eight, or two a processor where that is more.
            A worker holds up to 64 programs that wait for tools; beyond that a launch waits for room.

    Raises:
        ConfigurationError: not a positive number of workers.
    """

    def __init__(self, *, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or workers < 1):
            raise ConfigurationError(f"workers must be a positive integer, not {workers!r}")
        self._most = workers or max(8, 2 * (os.cpu_count() or 1))
        self._wasm: bytes | None = None
        self._workers: list[Worker] = []
        self._watch = Watch()
        self._delivery: tuple[asyncio.AbstractEventLoop, Delivery] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._room = asyncio.Semaphore(self._most * GUESTS_PER_ENGINE)
        self._guests: set[QuickJsGuest] = set()
        self._closed = False

    async def launch(self, program: Program, launch: Launch) -> Guest:
        """A fresh guest; the first step starts the program. See `contracts.CodeSandbox`."""
        if self._closed:
            raise ClosedError("the sandbox has been closed")
        await self._room.acquire()
        try:
            worker = await self._worker()
        except BaseException:
            self._room.release()
            raise
        worker.live += 1
        guest = QuickJsGuest(self, worker, self._deliver(), program, launch)
        self._guests.add(guest)
        return guest

    async def aclose(self) -> None:
        """End all guests and threads. Twice is fine."""
        self._closed = True
        if self._opening is not None:
            await asyncio.wait([self._opening])
        for guest in list(self._guests):
            guest.kill(_ENDED)
        for worker in self._workers:
            worker.stop()
        workers, self._workers = self._workers, []
        if workers:
            await asyncio.to_thread(lambda: [worker.join(_CLOSE_SECONDS) for worker in workers])
        self._watch.close()

    async def _worker(self) -> Worker:
        while self._is_short_of_workers():
            if self._opening is None:
                self._opening = asyncio.create_task(self._open_another())
            # Shielded: a thread that has been started must not be lost with the one who asked for it.
            await asyncio.shield(self._opening)
        return min(self._workers, key=lambda each: each.live)

    def _is_short_of_workers(self) -> bool:
        if self._closed:
            raise ClosedError("the sandbox has been closed")
        return not self._workers or (len(self._workers) < self._most and all(each.live for each in self._workers))

    async def _open_another(self) -> None:
        try:
            worker = await asyncio.to_thread(self._open)
            self._workers.append(worker)
            self._watch.add(worker)
        finally:
            self._opening = None

    def _open(self) -> Worker:
        if self._wasm is None:
            self._wasm = module_cache.guest_bytes()
        try:
            return Worker(module_cache.load(self._wasm), self._watch, len(self._workers) + 1)
        except wasmtime.WasmtimeError as error:
            raise SandboxError(f"the WebAssembly engine cannot start: {str(error).splitlines()[0]}") from error

    def _deliver(self) -> Delivery:
        loop = asyncio.get_running_loop()
        if self._delivery is None or self._delivery[0] is not loop:
            self._delivery = (loop, Delivery(loop))
        return self._delivery[1]

    @property
    def has_one_guest(self) -> bool:
        """Whether there is no more than one program."""
        return len(self._guests) < 2

    def forget(self, guest: QuickJsGuest) -> None:
        """The guest has ended and been freed, or will be before another can be on its worker."""
        self._guests.discard(guest)
        self._room.release()


class QuickJsGuest:
    """One program on one worker. Steps are strictly one after another."""

    def __init__(
        self, sandbox: QuickJsSandbox, worker: Worker, delivery: Delivery, program: Program, launch: Launch
    ) -> None:
        self.compute_left = launch.limits.compute_time_ms / 1000
        self._sandbox = sandbox
        self._worker = worker
        self._delivery = delivery
        self._program = program
        self._launch = launch
        self._instance: Instance | None = None
        self._answers: Sequence[Answer] = ()
        self._future: asyncio.Future[Step] | None = None
        self._is_quick = True
        self._signal: Signal | None = None
        self._outcome: Step | None = None
        self._begun = False
        """Whether the worker is at a step."""
        self._handing = threading.Lock()
        self._killed: GuestError | None = None
        self._ended = False
        self._left = False
        self._logs: tuple[LogEntry, ...] = ()

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        # Between steps the worker does not touch the instance; once killed, it frees it at a time of its own.
        if self._instance is not None and self._future is None and self._killed is None and not self._ended:
            self._logs = self._instance.logs()
        return self._logs

    async def step(self, answers: Sequence[Answer]) -> Step:
        """See `contracts.Guest.step`."""
        if self._ended or self._left or self._future is not None:
            raise ClosedError("the guest is busy with a step" if self._future is not None else "the guest has ended")
        self._answers, self._outcome = answers, None
        signal = self._delivery.signal
        if signal is not None and self._is_quick and self._sandbox.has_one_guest:
            outcome = self._comes_soon(signal)
            if outcome is not None:
                return outcome
        else:
            self._future = asyncio.get_running_loop().create_future()
            self._worker.submit(self)
        try:
            assert self._future is not None
            return await self._future
        except asyncio.CancelledError:
            await self._let_go()
            raise
        finally:
            self._future = None

    def _comes_soon(self, signal: Signal) -> Step | None:
        """The outcome, if it comes in a moment; if not, `_future` will have it."""
        self._signal = signal
        if self._answers:  # a program that has called tools once may well go on so
            self._delivery.seat.share(self._worker.thread_id)
        self._worker.submit(self)
        if signal.take(_PATIENCE_MS):
            return self._outcome
        with self._handing:
            self._signal = None
            outcome = self._outcome
            if outcome is None:
                self._future = asyncio.get_running_loop().create_future()
        if outcome is not None:
            signal.take(None)
        return outcome

    async def _let_go(self) -> None:
        # The program ends at once, but its thread must leave it before what it printed can be read. Where the step
        # still waits for its turn, or is over already, nobody is there to wait for.
        left = asyncio.get_running_loop().create_future()
        with self._handing:
            self._killed = self._killed or _ENDED
            # From here on a step that begins only frees the guest, and for that it needs the lock.
            begun = self._begun
            if begun:
                self._future = left
        self.kill(_ENDED)
        while begun and not left.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(left)
        with self._handing:
            self._keep_logs()  # the step may have left the engine before it could be ended there

    def kill(self, error: GuestError) -> bool:
        """End the program wherever it is; whether it was running at that moment."""
        if self._killed is None:
            self._killed = error
        running = self._worker.interrupt(self)
        if not running and not self._ended and self._future is None:
            self._worker.submit(self)
        return running

    async def close(self) -> None:
        """Free the guest. Twice is fine."""
        if not self._ended:
            self._logs = self.logs
            self.kill(_ENDED)
        self._leave()

    def _leave(self) -> None:
        if not self._left:
            self._left = True
            self._worker.live -= 1
            self._sandbox.forget(self)

    # --- on the worker's thread ---------------------------------------------------------------------------------

    def run(self, worker: Worker) -> None:
        """Carry out the step that waits, or free the guest if it was killed meanwhile. Never raises."""
        if self._ended:
            return
        self._begun = True
        outcome = self._advance(worker)
        if not isinstance(outcome, Calls):
            self._ended = True
            with self._handing:
                self._free()
        with self._handing:
            self._begun = False
            self._outcome = outcome
            signal, future = self._signal, self._future
            self._signal = None
        if signal is not None:
            signal.give()
        elif future is not None:
            self._delivery.give(future, outcome)

    def _free(self) -> None:
        self._keep_logs()
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def _keep_logs(self) -> None:
        if self._instance is not None:
            self._logs = self._instance.logs()

    def _advance(self, worker: Worker) -> Step:
        if self._killed is not None:
            return Threw(self._killed)
        try:
            text = self._enter(worker)
        except Interrupted as interrupted:
            return Threw(self._why(interrupted))
        except Exception as error:
            return Threw(GuestError(kind="internal", message=f"{type(error).__name__}: {error}"))
        return read_step(text, self._program.javascript)

    def _why(self, interrupted: Interrupted) -> GuestError:
        return self._killed or interrupted.error

    def _enter(self, worker: Worker) -> str:
        if self._instance is not None:
            return self._run(
                worker, lambda instance: instance.step(self._answers, self._launch.limits.total_bridge_bytes)
            )
        self._instance = Instance(worker.linked, self._launch.limits.memory_bytes)
        return self._run(worker, lambda instance: instance.start(self._program, self._launch))

    def _run(self, worker: Worker, move: Any) -> str:
        instance = self._instance
        assert instance is not None
        if self.compute_left <= 0:
            raise Interrupted(GuestError(kind="compute"))
        worker.linked.serve(self._launch.names)
        worker.enter(self, instance.arm)
        try:
            if self._killed is not None:
                raise Interrupted(self._killed)
            text: str = move(instance)
            return text
        finally:
            self._is_quick = worker.leave(self) < _SHORT_STEP
