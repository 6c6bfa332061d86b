"""One run: steps of the guest and answers of the bridge in turn, until exactly one ending is committed.

Knows the sandbox and the compiler by their contracts only. Cancelling the task that awaits `execute` ends the program,
its queued calls and the calls in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from codemodekit._json import ABSENT, Absent, JsonValue, loads
from codemodekit.bridge.bridge import BridgeRun
from codemodekit.bridge.receipts import rerun_verdict
from codemodekit.code_mode.endings import describe, unhandled_note
from codemodekit.code_mode.events import EventStream
from codemodekit.code_mode.result import RunResult
from codemodekit.contracts import Answer, Calls, CodeSandbox, Guest, GuestError, Launch, Program, Returned, Threw
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.limits import ExecutionLimits

__all__ = ["Inbox", "Run"]

_LET_GO_SECONDS: Final = 1.0
"""How long calls that were cancelled may take to end before they are left to themselves."""


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


@dataclass(slots=True)
class Run:
    """Everything one run is made of."""

    execution_id: str
    program: Program
    context: JsonValue
    limits: ExecutionLimits
    seed: int
    sandbox: CodeSandbox
    bridge: BridgeRun
    inbox: Inbox
    events: EventStream | None = None

    async def execute(self) -> RunResult:
        """Run to the end; never raises for what program, tools or sources do."""
        guest: Guest | None = None
        ended: Returned | Threw | Diagnostic | None = None
        try:
            async with asyncio.timeout(self.limits.wall_time_ms / 1000):
                guest = await self.sandbox.launch(self.program, self._launch())
                ending = ended = await self._steps(guest)
                await self._finish_calls(ended)
        except TimeoutError:
            ending = ended if ended is not None else self._timed_out()
            await self._abandon(DiagnosticCode.EXECUTION_TIMEOUT)
        except asyncio.CancelledError:
            await self._abandon(DiagnosticCode.EXECUTION_CANCELLED)
            raise
        finally:
            if guest is not None:
                await guest.close()
        return self._result(ending, guest)

    def _launch(self) -> Launch:
        return Launch(limits=self.limits, context=self.context, names=self.bridge.names, seed=self.seed)

    async def _steps(self, guest: Guest) -> Returned | Threw | Diagnostic:
        answers: Sequence[Answer] = ()
        while True:
            step = await guest.step(answers)
            for call in step.calls:
                self.bridge.begin(call)
            if not isinstance(step, Calls):
                return step
            if not self.bridge.busy and not self.inbox:
                return _NEVER_SETTLED
            answers = await self.inbox.take()

    async def _finish_calls(self, ending: Returned | Threw | Diagnostic) -> None:
        """Calls nobody awaits may still end, within the wall limit; after a failure they are not waited for."""
        if not self.bridge.busy:
            return
        if not isinstance(ending, Returned):
            await self._abandon(DiagnosticCode.EXECUTION_CANCELLED)
            return
        await self.bridge.drain()

    async def _abandon(self, reason: DiagnosticCode) -> None:
        ending = self.bridge.abandon(reason)
        if ending:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(ending, timeout=_LET_GO_SECONDS)

    def _timed_out(self) -> Diagnostic:
        message = f"the run took longer than {self.limits.wall_time_ms} ms"
        return Diagnostic(code=DiagnosticCode.EXECUTION_TIMEOUT, message=message)

    # --- the result ---------------------------------------------------------------------------------------------

    def _result(self, ending: Returned | Threw | Diagnostic, guest: Guest | None) -> RunResult:
        value, error = self._outcome(ending)
        calls = self.bridge.receipts()
        return RunResult(
            ok=error is None,
            execution_id=self.execution_id,
            value=value,
            error=error,
            logs=guest.logs if guest is not None else (),
            calls=calls,
            rerun=rerun_verdict(calls),
            notes=self._notes(ending),
        )

    def _outcome(self, ending: Returned | Threw | Diagnostic) -> tuple[JsonValue | Absent, Diagnostic | None]:
        if isinstance(ending, Diagnostic):
            return ABSENT, ending
        if isinstance(ending, Threw):
            return ABSENT, self._describe(ending.error)
        if ending.json is None:
            return ABSENT, None
        if len(ending.json.encode("utf-8", "replace")) > self.limits.final_result_bytes:
            return ABSENT, self._describe(GuestError(kind="output_limit"))
        try:
            return loads(ending.json), None
        except (ValueError, RecursionError):  # the program rewrote the engine's own JSON writer
            return ABSENT, self._describe(GuestError(kind="exception", message="the returned value is not JSON"))

    def _describe(self, error: GuestError) -> Diagnostic:
        return describe(error, self.program, self.limits, self.bridge.failures)

    def _notes(self, ending: Returned | Threw | Diagnostic) -> tuple[str, ...]:
        notes = [*self.program.notes]
        if not isinstance(ending, Diagnostic):
            notes += [unhandled_note(each, self.program, self.bridge.failures) for each in ending.unhandled]
            notes += self._late_failures(ending)
        return (*notes, *self.bridge.notes)

    def _late_failures(self, ending: Returned | Threw) -> list[str]:
        """Calls that failed after the program had ended: it could not have seen them."""
        told = {each.call_id for each in ending.unhandled} | {
            ending.error.call_id if isinstance(ending, Threw) else None
        }
        late = [answer.id for answer in self.inbox.rest() if not answer.ok and answer.id not in told]
        return [
            f"a call nobody awaited failed: {failure.code}: {failure.message}"
            for number in late
            if (failure := self.bridge.failures.get(number)) is not None
        ]


_NEVER_SETTLED: Final = Diagnostic(
    code=DiagnosticCode.NEVER_SETTLED,
    message="the program awaits something that nothing will ever settle; await tool calls and promises that resolve",
)
