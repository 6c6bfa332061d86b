"""Asks the policy, and the approver where the policy asks for one. Whatever does not plainly allow, denies.

Both are asked in a task of their own: what they raise, swallow or cancel cannot be taken for the run's own cancelling,
and silence can be left behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from codemodekit.bridge.cleaning import clean
from codemodekit.bridge.failures import CallRefused, refused
from codemodekit.bridge.receipts import CallStatus
from codemodekit.contracts import Allow, Ask, Decision, Deny, PolicyRequest, ToolPolicy
from codemodekit.diagnostics import DiagnosticCode
from codemodekit.policy import ImmediatePolicy

__all__ = ["Approver", "Decisions"]

Approver: TypeAlias = Callable[[PolicyRequest, str | None], Awaitable[Decision]]
"""Answers an Ask with Allow or Deny; anything else denies. Bounded by the wall limit of the run only."""

POLICY_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Failed:
    """Who was asked raised something instead of answering."""

    error: BaseException


class Decisions:
    """The policy of a host, and who answers when it asks."""

    def __init__(self, policy: ToolPolicy, approver: Approver | None) -> None:
        self._policy = policy
        self._immediate = policy if isinstance(policy, ImmediatePolicy) else None
        self._approver = approver
        self.lets_all_through = self._immediate is not None and self._immediate.always == Allow()
        """Nothing needs to be asked."""

    def ended(self, execution_id: str) -> None:
        """A run has ended; nothing more is decided for it."""
        if self._immediate is not None:
            self._immediate.ended(execution_id)

    async def decide(self, request: PolicyRequest) -> None:
        """Return if the call is let through.

        Raises:
            CallRefused: it is not; nothing reached the source.
        """
        decision = await self._ask_policy(request)
        if isinstance(decision, Ask):
            decision = await self._ask_approver(request, decision)
        if not isinstance(decision, Allow):
            reason = decision.reason if isinstance(decision, Deny) else None
            raise _denied(request, reason or "the policy did not allow it")

    async def _ask_policy(self, request: PolicyRequest) -> Any:
        failed = "the policy failed, and what it does not allow is denied"
        if self._immediate is not None:
            try:
                return self._immediate.decide(request)
            except Exception as error:
                raise _denied(request, failed) from error
        try:
            answer = await _answer(self._policy, request, within=POLICY_SECONDS)
        except TimeoutError as error:
            raise _denied(request, "the policy gave no answer in time") from error
        return _unless_failed(answer, request, failed)

    async def _ask_approver(self, request: PolicyRequest, ask: Ask) -> Any:
        if self._approver is None:
            raise _denied(request, ask.reason or "it needs an approval, and this host has nobody to give it")
        answer = await _answer(self._approver, request, ask.reason, within=None)
        return _unless_failed(answer, request, "the approver failed, and what it does not allow is denied")


async def _answer(asked: Callable[..., Awaitable[Any]], *question: Any, within: float | None) -> Any:
    """What is answered, or that asking failed.

    Raises:
        TimeoutError: there is no answer within the time.
    """
    task = asyncio.get_running_loop().create_task(_asking(asked, question))
    try:
        done, _ = await asyncio.wait({task}, timeout=within)
    finally:
        task.cancel()
    if not done:
        raise TimeoutError
    return _Failed(asyncio.CancelledError()) if task.cancelled() else task.result()


async def _asking(asked: Callable[..., Awaitable[Any]], question: tuple[Any, ...]) -> Any:
    try:
        return await asked(*question)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:  # SystemExit too: it would end the event loop
        return _Failed(error)


def _unless_failed(answer: Any, request: PolicyRequest, reason: str) -> Any:
    if isinstance(answer, _Failed):
        raise _denied(request, reason) from answer.error
    return answer


def _denied(request: PolicyRequest, reason: Any) -> CallRefused:
    words = clean(reason, 500) if isinstance(reason, str) else "the policy did not allow it"
    message = f"{request.source}.{request.tool} was not allowed: {words}"
    code = DiagnosticCode.TOOL_APPROVAL_DENIED
    return refused(code, message, request.source, request.tool, status=CallStatus.DENIED)
