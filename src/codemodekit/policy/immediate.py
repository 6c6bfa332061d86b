"""A policy that never waits, and what it can say about a decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codemodekit.contracts import Decision, PolicyRequest

__all__ = ["Explanation", "ImmediatePolicy", "PassedOver"]


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A rule whose `match` fits a call that it is not about all the same."""

    rule: int
    """Counts from 0."""
    why: str
    """The first condition that does not hold."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is decided about a request, and why."""

    decision: Decision
    rule: int | None
    """The rule that decides, counted from 0; None when no rule matches, and for a policy that has no rules."""
    why: str
    passed_over: tuple[PassedOver, ...] = ()
    """Rules before it whose `match` fits, and which condition of each does not hold."""


class ImmediatePolicy:
    """A policy that never waits. It is an ordinary async policy too; callers may skip the waiting and call `decide`."""

    def __init__(
        self,
        decide: Callable[[PolicyRequest], Decision],
        *,
        always: Decision | None = None,
        why: str = "the policy decides by itself",
    ) -> None:
        self.decide = decide
        self.always = always
        """The decision on every request, where it does not depend on the request."""
        self._why = why

    async def __call__(self, request: PolicyRequest) -> Decision:
        return self.decide(request)

    def explain(self, request: PolicyRequest) -> Explanation:
        """What would be decided now, and why; counts nothing."""
        return Explanation(self.decide(request), None, self._why)

    def ended(self, execution_id: str) -> None:
        """A run has ended: what was counted for it can be forgotten. Twice is fine."""
