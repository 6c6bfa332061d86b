"""Asks the policy, and the approver where the policy asks for one. Whatever does not plainly allow, denies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
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

_NOT_AN_ANSWER: Final = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""What ends the asking from outside; everything else a policy raises, an Exception or not, denies."""


class Decisions:
    """The policy of a host, and who answers when it asks."""

    def __init__(self, policy: ToolPolicy, approver: Approver | None) -> None:
        self._policy = policy
        self._immediate = policy if isinstance(policy, ImmediatePolicy) else None
        self._approver = approver
        self.lets_all_through = self._immediate is not None and self._immediate.always == Allow()
        """Nothing needs to be asked."""

    async def decide(self, request: PolicyRequest) -> None:
        """Return if the call is let through.

        Raises:
            CallRefused: it is not; nothing reached the source.
        """
        immediate = self._immediate
        decision: Any = immediate.decide(request) if immediate is not None else await self._ask_policy(request)
        if isinstance(decision, Ask):
            decision = await self._ask_approver(request, decision)
        if not isinstance(decision, Allow):
            reason = decision.reason if isinstance(decision, Deny) else None
            raise _denied(request, reason or "the policy did not allow it")

    async def _ask_policy(self, request: PolicyRequest) -> Any:
        try:
            async with asyncio.timeout(POLICY_SECONDS):
                return await self._policy(request)
        except TimeoutError as error:
            raise _denied(request, "the policy gave no answer in time") from error
        except _NOT_AN_ANSWER:
            raise
        except BaseException as error:
            raise _denied(request, "the policy failed, and what it does not allow is denied") from error

    async def _ask_approver(self, request: PolicyRequest, ask: Ask) -> Any:
        if self._approver is None:
            raise _denied(request, ask.reason or "it needs an approval, and this host has nobody to give it")
        try:
            return await self._approver(request, ask.reason)
        except _NOT_AN_ANSWER:
            raise
        except BaseException as error:
            raise _denied(request, "the approver failed, and what it does not allow is denied") from error


def _denied(request: PolicyRequest, reason: str) -> CallRefused:
    message = f"{request.source}.{request.tool} was not allowed: {clean(reason, 500)}"
    code = DiagnosticCode.TOOL_APPROVAL_DENIED
    return refused(code, message, request.source, request.tool, status=CallStatus.DENIED)
