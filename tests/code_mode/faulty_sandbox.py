"""The real sandbox with faults put in at a step, at launch or at closing, as a broken machine would have them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from codemodekit.contracts import Answer, Guest, Launch, LogEntry, Program, Step
from codemodekit.sandboxes.quickjs import QuickJsSandbox

__all__ = ["Fault", "FaultySandbox"]

Fault: TypeAlias = BaseException | Callable[[], Awaitable[Any]]
"""Raised, or awaited in place of the real thing."""


class FaultySandbox:
    """`step` counts from 1: that step comes to `fault`; `launch` and `close` are their own faults."""

    def __init__(
        self,
        step: int | None = None,
        fault: Fault | None = None,
        *,
        launch: Fault | None = None,
        close: Fault | None = None,
        logs: Exception | None = None,
    ) -> None:
        self._real = QuickJsSandbox(workers=1)
        self.step, self.fault = step, fault
        self.launch_fault, self.close_fault, self.logs_fault = launch, close, logs
        self.guests: list[FaultyGuest] = []
        self._begun = self._over = 0
        self._moved = asyncio.Condition()

    async def stepping(self, number: int) -> None:
        """Wait until so many steps have begun, of all guests."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._begun >= number)

    async def stepped(self, number: int) -> None:
        """Wait until so many steps are over."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._over >= number)

    async def note(self, *, begun: bool) -> None:
        """A step begins, or is over."""
        self._begun, self._over = self._begun + begun, self._over + (not begun)
        async with self._moved:
            self._moved.notify_all()

    async def launch(self, program: Program, launch: Launch) -> Guest:
        if self.launch_fault is not None:
            await _happen(self.launch_fault)
        guest = FaultyGuest(self, await self._real.launch(program, launch))
        self.guests.append(guest)
        return guest

    async def aclose(self) -> None:
        await self._real.aclose()


class FaultyGuest:
    def __init__(self, sandbox: FaultySandbox, real: Guest) -> None:
        self._sandbox, self._real = sandbox, real
        self._steps = 0
        self.closed = asyncio.Event()
        """Set once the real guest has been closed."""

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        if self._sandbox.logs_fault is not None:
            raise self._sandbox.logs_fault
        return self._real.logs

    async def step(self, answers: Sequence[Answer]) -> Step:
        self._steps += 1
        await self._sandbox.note(begun=True)
        if self._steps == self._sandbox.step and self._sandbox.fault is not None:
            return await _happen(self._sandbox.fault)  # type: ignore[no-any-return]
        step = await self._real.step(answers)
        await self._sandbox.note(begun=False)
        return step

    async def close(self) -> None:
        await self._real.close()
        if self._sandbox.close_fault is not None:
            await _happen(self._sandbox.close_fault)
        self.closed.set()


async def _happen(fault: Fault) -> Any:
    if isinstance(fault, BaseException):
        raise fault
    return await fault()
