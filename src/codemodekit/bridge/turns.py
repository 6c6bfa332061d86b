"""Who may be dispatched now, and who has waited too long: the two clocks every call of a run is under."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from codemodekit.bridge.rows import CallRow

__all__ = ["Deadlines", "Turns"]


class Turns:
    """So many calls at one time; the rest wait, first come first served."""

    __slots__ = ("_active", "_most", "_waiting")

    def __init__(self, most: int) -> None:
        self._most = most
        self._active = 0
        self._waiting: deque[tuple[asyncio.Future[None], CallRow]] = deque()

    def take(self, row: CallRow) -> bool:
        """Whether it is this call's turn at once; if not, it has to wait for it."""
        if self._active >= self._most:
            return False
        self._active += 1
        row.has_turn = True
        return True

    async def wait(self, row: CallRow) -> None:
        """Return when it is this call's turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, row))
        await turn

    def give_back(self, row: CallRow) -> None:
        """The call has ended, or has been given up; twice is fine."""
        if not row.has_turn:
            return
        row.has_turn = False
        self._active -= 1
        while self._waiting and self._active < self._most:
            turn, waiting = self._waiting.popleft()
            if not turn.done() and not waiting.settled:
                self._active += 1
                waiting.has_turn = True
                turn.set_result(None)


class Deadlines:
    """Calls that have been dispatched, and when they fall due.

    All calls of a run have the same limit, so they fall due in the order of dispatch and one timer serves them all.
    """

    __slots__ = ("_due", "_loop", "_on_due", "_seconds", "_timer")

    def __init__(self, seconds: float, on_due: Callable[[CallRow], None]) -> None:
        self._seconds = seconds
        self._on_due = on_due
        self._loop = asyncio.get_running_loop()
        self._due: deque[tuple[float, CallRow]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, row: CallRow) -> None:
        """This call is dispatched now."""
        due = self._loop.time() + self._seconds
        self._due.append((due, row))
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._look)

    def close(self) -> None:
        """Nothing falls due any more."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._due:
            due, row = self._due[0]
            if not row.settled and due > now:
                self._timer = self._loop.call_at(due, self._look)
                return
            self._due.popleft()
            if not row.settled:
                self._on_due(row)
