"""Asks the policy, and the approver where the policy asks for one. Whatever does not plainly allow, denies.

Both are asked in a task of their own: what they raise, swallow or cancel cannot be taken for the run's own cancelling,
and silence can be left behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from codemodekit.bridge.failures import CallRefused, refused
from codemodekit.bridge.receipts import CallStatus
from codemodekit.cleaning import clean
from codemodekit.contracts import Allow, Ask, Decision, Deny, PolicyRequest, ToolPolicy
from codemodekit.diagnostics import DiagnosticCode
from codemodekit.policy import ImmediatePolicy, RulesPolicy

__all__ = ["ALLOWED", "Approver", "Decisions", "Verdict", "denied"]

Approver: TypeAlias = Callable[[PolicyRequest, str | None], Awaitable[Decision]]
"""Answers an Ask with Allow or Deny; anything else denies. Bounded by the wall limit of the run only."""

POLICY_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Failed:
    """Who was asked raised something instead of answering."""

    error: BaseException
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about a call, and by whom."""

    allowed: bool
    effect: Literal["allow", "deny", "ask"] = "deny"
    """What the policy said; `ask` was put before the approver. A policy that failed has denied."""
    reason: str | None = None
    """For a denial, what the model reads; for an approved call, why the policy asked."""
    rule: int | None = None
    """Which rule of the policy decided, counted from 1; looked for only when somebody wants to know."""
    cause: BaseException | None = field(default=None, repr=False, compare=False)
    """What the policy or the approver raised."""


ALLOWED: Final = Verdict(True, "allow")

_NO_REASON: Final = "the policy did not allow it"
_NOBODY: Final = "it needs an approval, and this host has nobody to give it"
_POLICY_FAILED: Final = "the policy failed, and what it does not allow is denied"
_APPROVER_FAILED: Final = "the approver failed, and what it does not allow is denied"


class Decisions:
    """The policy of a host, and who answers when it asks."""

    def __init__(self, policy: ToolPolicy, approver: Approver | None) -> None:
        self._policy = policy
        self._immediate = policy if isinstance(policy, ImmediatePolicy) else None
        self._rules = policy if isinstance(policy, RulesPolicy) else None
        self._approver = approver
        self.lets_all_through = self._immediate is not None and self._immediate.always == Allow()
        """Nothing needs to be asked."""

    def ended(self, execution_id: str) -> None:
        """A run has ended; nothing more is decided for it."""
        if self._immediate is not None:
            self._immediate.ended(execution_id)

    async def judge(self, request: PolicyRequest, *, name_rule: bool = False) -> Verdict:
        """What is decided about the request. `name_rule`: somebody wants to know which rule it was."""
        rule = self._rule(request) if name_rule else None
        decision = await self._ask_policy(request)
        if isinstance(decision, Ask):
            return await self._ask_approver(request, _words(decision.reason), rule)
        return _verdict(decision, "deny", _POLICY_FAILED, rule)

    def _rule(self, request: PolicyRequest) -> int | None:
        if self._rules is None:
            return None
        try:
            found = self._rules.matching(request)
        except Exception:  # deciding fails then too, and that denies
            return None
        return None if found is None else found + 1

    async def _ask_policy(self, request: PolicyRequest) -> Any:
        if self._immediate is not None:
            try:
                return self._immediate.decide(request)
            except Exception as error:
                return _Failed(error)
        try:
            return await _answer(self._policy, request, within=POLICY_SECONDS)
        except TimeoutError as error:
            return _Failed(error, "the policy gave no answer in time")

    async def _ask_approver(self, request: PolicyRequest, why: str | None, rule: int | None) -> Verdict:
        if self._approver is None:
            return Verdict(False, "ask", why or _NOBODY, rule)
        answer = await _answer(self._approver, request, why, within=None)
        if isinstance(answer, Allow):
            return Verdict(True, "ask", why, rule)
        return _verdict(answer, "ask", _APPROVER_FAILED, rule)


def _verdict(answer: Any, effect: Literal["deny", "ask"], failed: str, rule: int | None) -> Verdict:
    if isinstance(answer, Allow):
        return ALLOWED if rule is None else Verdict(True, "allow", None, rule)
    if isinstance(answer, _Failed):
        return Verdict(False, effect, answer.reason or failed, rule, answer.error)
    reason = _words(answer.reason) if isinstance(answer, Deny) else None
    return Verdict(False, effect, reason or _NO_REASON, rule)


def _words(reason: object) -> str | None:
    return reason if isinstance(reason, str) else None


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


def denied(request: PolicyRequest, verdict: Verdict) -> CallRefused:
    """The refusal of a call that was not let through; nothing reached the source."""
    message = f"{request.source}.{request.tool} was not allowed: {clean(verdict.reason or _NO_REASON, 500)}"
    code = DiagnosticCode.TOOL_APPROVAL_DENIED
    refusal = refused(code, message, request.source, request.tool, status=CallStatus.DENIED)
    refusal.__cause__ = verdict.cause
    return refusal
