"""One run, from a program to exactly one ending with its receipt.

Knows the sandbox and the compiler by their contracts only. Cancelling the task that awaits `execute` ends the program,
its queued calls and the calls in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

import anyio

from codemodekit._json import ABSENT, Absent, JsonValue, loads
from codemodekit.bridge.receipts import rerun_verdict
from codemodekit.bridge.run import BridgeRun
from codemodekit.code_mode.endings import describe, unhandled_note
from codemodekit.code_mode.pump import Ending, Inbox, Pump
from codemodekit.code_mode.result import RunResult
from codemodekit.contracts import CodeSandbox, Guest, GuestError, Launch, LogEntry, Program, Returned, Threw
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.errors import SandboxError
from codemodekit.limits import ExecutionLimits

__all__ = ["HOST_CLOSING", "Run"]

_log = logging.getLogger(__name__)

_LET_GO_SECONDS: Final = 0.5
"""How long calls that were cancelled may take to end before they are left to themselves."""

_MOST_LATE_FAILURES: Final = 8
"""Failures of calls nobody awaited that are told one by one; a program can make tens of thousands."""

_CLOSE_SECONDS: Final = 5.0
"""How long a guest may take to let go before it is left to itself."""

HOST_CLOSING: Final = Diagnostic(
    code=DiagnosticCode.EXECUTION_CANCELLED, message="the run was cancelled because its host is closing"
)
_SANDBOX_BROKEN: Final = Diagnostic(
    code=DiagnosticCode.INTERNAL_ERROR,
    message="the sandbox failed; this is not the program's fault, and running it again may not help",
)


_NOTHING_RETURNED: Final = (
    "the program called tools and returned undefined; if that was not meant: await each call, and return what you need "
    "of its structuredContent or content"
)


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
    guest: Guest | None = None
    pump: Pump | None = None
    ended: Ending | None = None
    """How the program ended, while calls it did not await may still run."""
    committed: Ending | None = None
    """How the run ended: the first of all that might have ended it."""
    fault: BaseException | None = None
    """What broke the sandbox, if it did."""
    result_bytes: int | None = None
    """Size of the returned value as JSON, once there is one."""
    cut_short: RunResult | None = None
    """How far the run had come when it was cancelled: what `execute` cannot return then."""

    async def execute(self) -> RunResult:
        """Run to the end; never raises for what program, tools, sources or the sandbox do."""
        try:
            await self._to_its_end()
            await self._leave()
        except asyncio.CancelledError:
            self._commit(HOST_CLOSING)
            await self._end_cancelled()
            raise
        return self._result()

    async def _end_cancelled(self) -> None:
        """Let go of everything, also when a second cancelling comes meanwhile."""
        try:
            await self._abandon(DiagnosticCode.EXECUTION_CANCELLED, self.pump)
        finally:
            try:
                await self._leave()
            finally:
                self.cut_short = self._result()

    def _commit(self, ending: Ending) -> None:
        """This is how the run ended, unless it has ended already: what comes later changes nothing."""
        if self.committed is None:
            self.committed = ending

    async def _to_its_end(self) -> None:
        wall = asyncio.timeout(self.limits.wall_time_ms / 1000)
        asked = _cancellings()
        try:
            async with wall:
                self._commit(await self._play())
        except asyncio.CancelledError as error:
            if _cancellings() != asked:
                raise
            await self._break(error)  # nobody asked for it: the sandbox did it to itself
        except Exception as error:
            await (self._run_out() if wall.expired() else self._break(error))
        finally:
            self.bridge.close()

    async def _play(self) -> Ending:
        self.guest = await self._launched()
        self.pump = pump = Pump(self.guest, self.bridge, self.inbox)
        self.ended = ended = await pump.ended
        await self._finish_calls(ended)
        return ended

    async def _run_out(self) -> None:
        """The time is over; a program that has ended by then has ended well, whatever it left running."""
        self._commit(self.ended if self.ended is not None else self._timed_out())
        await self._abandon(DiagnosticCode.EXECUTION_TIMEOUT, self.pump)

    async def _break(self, error: BaseException) -> None:
        """The sandbox is broken: what was called until then is in the receipt all the same."""
        self.fault = error
        self._commit(_SANDBOX_BROKEN)
        await self._abandon(DiagnosticCode.INTERNAL_ERROR, self.pump)

    async def _leave(self) -> None:
        """Close the guest. One that does not let itself be closed is left to itself: the run has its ending."""
        if self.guest is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.guest.close()
        except asyncio.CancelledError:  # again, or still: in a scope that was cancelled every wait is
            closing = asyncio.ensure_future(self._close_again(self.guest))
            with anyio.CancelScope(shield=True):
                await asyncio.wait({closing}, timeout=_CLOSE_SECONDS)
            raise
        except Exception as error:
            _log.warning("a guest of the sandbox could not be closed: %s", type(error).__name__)

    async def _close_again(self, guest: Guest) -> None:
        with contextlib.suppress(Exception):
            await guest.close()

    async def _launched(self) -> Guest:
        launch = Launch(limits=self.limits, context=self.context, names=self.bridge.names, seed=self.seed)
        try:
            return await self.sandbox.launch(self.program, launch)
        except SystemExit as error:
            raise SandboxError("the sandbox wanted to end the process") from error

    async def _finish_calls(self, ending: Ending) -> None:
        """Calls nobody awaits may still end, within the wall limit; after a failure they are not waited for."""
        if self.bridge.busy:
            if isinstance(ending, Returned):
                await self.bridge.drain()
            else:
                self._commit(ending)
                await self._abandon(DiagnosticCode.EXECUTION_CANCELLED, None)

    async def _abandon(self, reason: DiagnosticCode, pump: Pump | None) -> None:
        ending = set(self.bridge.abandon(reason))
        if pump is not None:
            ending.add(pump.stop())
        if ending:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(ending, timeout=_LET_GO_SECONDS)

    def _timed_out(self) -> Diagnostic:
        message = f"the run took longer than {self.limits.wall_time_ms} ms"
        return Diagnostic(code=DiagnosticCode.EXECUTION_TIMEOUT, message=message)

    # --- the result ---------------------------------------------------------------------------------------------

    def _result(self) -> RunResult:
        assert self.committed is not None
        ending = self.committed
        value, error = self._outcome(ending)
        calls = self.bridge.receipts()
        return RunResult(
            ok=error is None,
            execution_id=self.execution_id,
            value=value,
            error=error,
            logs=self._logs(),
            calls=calls,
            rerun=rerun_verdict(calls),
            notes=self._notes(ending),
        )

    def _logs(self) -> tuple[LogEntry, ...]:
        try:
            return self.guest.logs if self.guest is not None else ()
        except Exception as error:  # a broken sandbox may not even know what was written
            self.fault = self.fault or error
            return ()

    def _outcome(self, ending: Ending) -> tuple[JsonValue | Absent, Diagnostic | None]:
        if isinstance(ending, Diagnostic):
            return ABSENT, ending
        if isinstance(ending, Threw):
            return ABSENT, self._describe(ending.error)
        if ending.json is None:
            return ABSENT, None
        self.result_bytes = len(ending.json.encode("utf-8", "replace"))
        if self.result_bytes > self.limits.final_result_bytes:
            return ABSENT, self._describe(GuestError(kind="output_limit"))
        try:
            return loads(ending.json), None
        except (ValueError, RecursionError):  # the program rewrote the engine's own JSON writer
            return ABSENT, self._describe(GuestError(kind="exception", message="the returned value is not JSON"))

    def _describe(self, error: GuestError) -> Diagnostic:
        return describe(error, self.program, self.limits, self.bridge.failures)

    def _notes(self, ending: Ending) -> tuple[str, ...]:
        notes = [*self.program.notes]
        if isinstance(ending, Returned) and ending.json is None:
            notes += self._about_nothing()
        unhandled = self._unhandled(ending)
        notes += [unhandled_note(each, self.program, self.bridge.failures) for each in unhandled]
        told = {each.call_id for each in unhandled}
        if isinstance(ending, Threw):
            told.add(ending.error.call_id)
        return (*notes, *self._late_failures(told), *self.bridge.notes())

    def _about_nothing(self) -> list[str]:
        """Why a program may have given back `undefined` without meaning to."""
        if self.program.discarded is not None:
            return [self.program.discarded]
        return [_NOTHING_RETURNED] if self.bridge.has_called else []

    def _unhandled(self, ending: Ending) -> Sequence[GuestError]:
        """Rejections nobody handled; where the guest did not live to say, those of the last time it waited."""
        if not isinstance(ending, Diagnostic):
            return ending.unhandled
        return self.pump.unhandled if self.pump is not None else ()

    def _late_failures(self, told: Set[int | None]) -> list[str]:
        """Calls that failed after the program had ended: it could not have seen them."""
        late = [
            failure
            for answer in self.inbox.rest()
            if not answer.ok and answer.id not in told and (failure := self.bridge.failures.get(answer.id)) is not None
        ]
        notes = [
            f"a call nobody awaited failed: {failure.code}: {failure.message}" for failure in late[:_MOST_LATE_FAILURES]
        ]
        if len(late) > _MOST_LATE_FAILURES:
            notes.append(f"{len(late) - _MOST_LATE_FAILURES} more calls nobody awaited failed")
        return notes


def _cancellings() -> int:
    """How many times somebody has asked for the end of this task."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
