"""A sandbox that runs nothing: it plays the steps a test wrote down, so that the loop above it can be tested alone.

Keeps what the loop gave it (launches, answers), for the test to look at.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from codemodekit.contracts import Answer, Calls, Launch, LogEntry, Program, Step
from codemodekit.errors import ClosedError

__all__ = ["HANG", "Move", "ScriptedGuest", "ScriptedSandbox"]


class Hang(enum.Enum):
    """The type of HANG."""

    HANG = "hang"


HANG: Final = Hang.HANG
"""A step that never comes to an end by itself."""

Move: TypeAlias = Step | BaseException | Hang | Callable[[Sequence[Answer]], Step]
"""One step: what it comes to, an exception of a broken sandbox, HANG, or a function of the answers it was given."""


class ScriptedSandbox:
    """Plays `moves` for every program, or the moves written under the program's source text.

    Raises:
        KeyError: (from launch) no moves are written for the program.
    """

    def __init__(self, moves: Sequence[Move] | Mapping[str, Sequence[Move]], *, logs: Sequence[LogEntry] = ()) -> None:
        self._moves = moves
        self._logs = tuple(logs)
        self._closed = False
        self.guests: list[ScriptedGuest] = []
        """Every guest launched, in order."""

    async def launch(self, program: Program, launch: Launch) -> ScriptedGuest:
        """A guest that will play the moves of this program."""
        if self._closed:
            raise ClosedError("the sandbox has been closed")
        moves = self._moves[program.source] if isinstance(self._moves, Mapping) else self._moves
        guest = ScriptedGuest(moves, logs=self._logs, program=program, launch=launch)
        self.guests.append(guest)
        return guest

    async def aclose(self) -> None:
        """Close all guests."""
        self._closed = True
        for guest in self.guests:
            await guest.close()


class ScriptedGuest:
    """Plays its moves, one a step."""

    def __init__(
        self,
        moves: Sequence[Move],
        *,
        logs: Sequence[LogEntry] = (),
        program: Program | None = None,
        launch: Launch | None = None,
    ) -> None:
        self._moves = list(moves)
        self._logs = tuple(logs)
        self._ended = False
        self._stop = asyncio.Event()
        self.program = program
        self.launch = launch
        self.answers: list[tuple[Answer, ...]] = []
        """What each step was given."""
        self.closed = 0
        """How many times it was closed."""

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        """The entries it was made with."""
        return self._logs

    async def step(self, answers: Sequence[Answer]) -> Step:
        """The next move."""
        if self._ended:
            raise ClosedError("the guest has ended")
        self.answers.append(tuple(answers))
        try:
            step = await self._play(self._moves.pop(0), answers)
        except BaseException:
            self._ended = True
            raise
        self._ended = not isinstance(step, Calls)
        return step

    async def _play(self, move: Move, answers: Sequence[Answer]) -> Step:
        if move is HANG:
            await self._stop.wait()
            raise ClosedError("the guest has ended")
        if isinstance(move, BaseException):
            raise move
        return move(answers) if callable(move) else move

    async def close(self) -> None:
        """End it."""
        self.closed += 1
        self._ended = True
        self._stop.set()
