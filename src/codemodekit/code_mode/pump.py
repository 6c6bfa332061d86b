"""Moves a guest along: steps it, has its calls carried, gives it the answers, until it ends.

Sees the guest and the bridge, and nothing of limits in time or results: run.py stands above.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from codemodekit.bridge.run import BridgeRun
from codemodekit.contracts import Answer, Calls, Guest, GuestCall, GuestError, Returned, Threw
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.errors import SandboxError

__all__ = ["Ending", "Inbox", "Pump"]

Ending: TypeAlias = Returned | Threw | Diagnostic

_GRACE_SECONDS: Final = 0.1
"""How long a tool may take to heed the cancelling of its call before the pump goes on without it."""

_STEPS_A_TURN: Final = 32
"""A step and the call it makes may both be over without the event loop having had a turn; others need theirs."""

_CALLS_A_TURN: Final = 64
"""A program can make tens of thousands of calls in one step; beginning, and mostly refusing, them takes seconds."""

_NEVER_SETTLED: Final = Diagnostic(
    code=DiagnosticCode.NEVER_SETTLED,
    message="the program awaits something that nothing will ever settle; await tool calls and promises that resolve",
)


class Inbox:
    """Answers on their way to the guest; one reader."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []
        self._waiter: asyncio.Future[None] | None = None

    def put(self, answer: Answer) -> None:
        self._answers.append(answer)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __bool__(self) -> bool:
        return bool(self._answers)

    async def take(self) -> Sequence[Answer]:
        """All answers that have come; waits for the first."""
        if not self._answers:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        answers, self._answers = self._answers, []
        return answers

    def rest(self) -> Sequence[Answer]:
        """Answers nobody took."""
        return tuple(self._answers)


class Pump:
    """Runs in a task of its own from the moment it is made; `ended` holds the ending.

    A call that is alone is carried in the pump's own task: a task for each would cost more than the call. If such a
    tool does not heed the cancelling at its limit, its task is left behind and another goes on pumping.
    """

    def __init__(self, guest: Guest, bridge: BridgeRun, inbox: Inbox) -> None:
        self._guest = guest
        self._bridge = bridge
        self._inbox = inbox
        self._loop = asyncio.get_running_loop()
        self._carrying = False
        self._turn = 0
        self._stopped = False
        self.unhandled: Sequence[GuestError] = ()
        """Rejections that nobody had handled when the program last waited."""
        self.ended: asyncio.Future[Ending] = self._loop.create_future()
        bridge.on_cut_off = self._cut_off
        self._task = self._loop.create_task(self._run(start=True))

    def stop(self) -> asyncio.Task[Any]:
        """End the guest and the call that is being carried; the task that ends with them."""
        self._stopped = True
        self._task.cancel()
        return self._task

    async def _run(self, *, start: bool) -> None:
        here = asyncio.current_task()
        try:
            ending = await self._steps(start)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or asyncio.current_task() is not here:
                raise  # whoever runs us wants to end, or the coroutine is thrown away
            if not self._stopped and not self.ended.done():
                self.ended.set_exception(_fault(error))
            return
        if ending is not None and not self.ended.done():
            self.ended.set_result(ending)

    async def _steps(self, start: bool) -> Ending | None:
        """The ending, or None when another task has taken over."""
        turn = self._turn
        answers: Sequence[Answer] = () if start else await self._inbox.take()
        for number in itertools.count(1):
            if number % _STEPS_A_TURN == 0:
                await asyncio.sleep(0)
            step = await self._guest.step(answers)
            calls = step.calls
            if not isinstance(step, Calls):
                await self._begin(calls)
                return step
            self.unhandled = step.unhandled
            if len(calls) == 1 and not self._bridge.busy:
                self._carrying = True
                await self._bridge.carry(calls[0])
                if turn != self._turn:
                    return None
                self._carrying = False
                if self._stopped:  # and the tool kept that to itself
                    raise asyncio.CancelledError
            else:
                await self._begin(calls)
                if not self._bridge.busy and not self._inbox:
                    return _NEVER_SETTLED
            answers = await self._inbox.take()
        raise AssertionError("unreachable: the steps are counted without end")

    async def _begin(self, calls: Sequence[GuestCall]) -> None:
        for number, call in enumerate(calls, 1):
            self._bridge.begin(call)
            if number % _CALLS_A_TURN == 0:
                await asyncio.sleep(0)

    def _cut_off(self) -> None:
        """The call being carried has its answer; its tool has a moment to heed the cancelling."""
        self._loop.call_later(_GRACE_SECONDS, self._take_over, self._turn)

    def _take_over(self, turn: int) -> None:
        if turn == self._turn and self._carrying and not self.ended.done():
            self._turn += 1
            self._carrying = False
            self._task = self._loop.create_task(self._run(start=False))


def _fault(error: BaseException) -> Exception:
    """What a sandbox raised, as what passes through a future; a cancelling that nobody asked for is its own too."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    fault = SandboxError(f"the sandbox raised {type(error).__name__}")
    fault.__cause__ = error
    return fault
