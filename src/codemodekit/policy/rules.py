"""Rules in order, the first that matches decides; what none matches is denied.

The written form of rules is read by `written`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from codemodekit._json import ABSENT, digest
from codemodekit.contracts import Allow, Ask, Decision, Deny, PolicyRequest, ToolAnnotations
from codemodekit.policy.conditions import Condition, Glob, shown
from codemodekit.policy.counting import Minutes, Runs, SteadyClock
from codemodekit.policy.immediate import Explanation, ImmediatePolicy, PassedOver

__all__ = ["Effect", "Rule", "RulesPolicy"]

Effect: TypeAlias = Literal["allow", "deny", "ask"]

_ALLOW: Final = Allow()
_NO_RULE: Final = "no rule of the policy matches this call, and what no rule allows is denied"
_NAMES: Final = 4096
"""Tools whose rules are remembered: with ten thousand rules, finding them takes milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, checked and ready."""

    match: tuple[Glob, ...]
    """Globs on `source.tool`."""
    effect: Effect
    source: Glob | None = None
    """Glob on the source alone: where names hold dots, `a.b.c` may be a tool of `a` or of `a.b`."""
    inputs: tuple[Condition, ...] = ()
    """Conditions on the input that must all hold."""
    read_only: bool | None = None
    destructive: bool | None = None
    principal: Glob | tuple[Condition, ...] | None = None
    """On who runs the program: a glob where that is text, or conditions that must all hold."""
    reason: str | None = None
    per_run: int | None = None
    per_minute: int | None = None
    each_principal: bool = False
    """Whether `per_minute` counts for each principal apart."""

    def names(self, name: str) -> bool:
        """Whether the rule is about the tool `source.tool`."""
        return any(glob.fits(name) for glob in self.match)

    def holds(self, request: PolicyRequest) -> bool:
        """Whether all conditions hold."""
        hints = request.annotations
        return (
            all(each.holds(request.input) for each in self.inputs)
            and (self.source is None or self.source.fits(request.source))
            and (self.read_only is None or self.read_only is _reads(hints))
            and (self.destructive is None or self.destructive is _may_destroy(hints))
            and (self.principal is None or _is_about(self.principal, request.principal))
        )

    def grounds(self, request: PolicyRequest) -> Iterator[tuple[bool, str]]:
        """Every condition: whether it holds, and in words."""
        hints, who = request.annotations, request.principal
        if self.source is not None:
            yield self.source.fits(request.source), f"the source is {request.source!r} (glob {self.source.text!r})"
        if self.read_only is not None:
            yield self.read_only is _reads(hints), _hint("readOnly", hints.read_only, self.read_only)
        if self.destructive is not None:
            yield self.destructive is _may_destroy(hints), _hint("destructive", hints.destructive, self.destructive)
        if isinstance(self.principal, Glob):
            named = "absent" if who is None else shown(who)
            yield self.principal.fits(who), f"the principal is {named} (glob {self.principal.text!r})"
        elif self.principal is not None:
            for each in self.principal:
                yield each.holds(_present(who)), f"of the principal, {each.said(_present(who))}"
        for each in self.inputs:
            yield each.holds(request.input), each.said(request.input)


def _reads(hints: ToolAnnotations) -> bool:
    return hints.read_only is True


def _may_destroy(hints: ToolAnnotations) -> bool:
    # Silence counts as the worse; of a tool that only reads, the hint means nothing (MCP, ToolAnnotations).
    return hints.destructive is not False and not _reads(hints)


def _is_about(wanted: Glob | tuple[Condition, ...], who: Any) -> bool:
    if isinstance(wanted, Glob):
        return wanted.fits(who)
    return all(each.holds(_present(who)) for each in wanted)


def _present(who: Any) -> Any:
    return ABSENT if who is None else who


def _hint(name: str, said: bool | None, wanted: bool) -> str:
    what = "nothing about" if said is None else f"{shown(said)} for"
    return f"the source says {what} {name} (a hint, not a fact; wanted {shown(wanted)})"


class RulesPolicy(ImmediatePolicy):
    """Ordered rules with counters. Counts calls it lets through or asks about; a rule that is used up denies.

    Safe to share between runs, event loops and threads: a limit is never passed.
    """

    def __init__(self, rules: Sequence[Rule], *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._decide)
        self.rules = tuple(rules)
        self._lock = threading.Lock()
        self._runs = Runs()
        self._minutes = Minutes(SteadyClock(clock))
        self._about = lru_cache(maxsize=_NAMES)(self._rules_about)

    def explain(self, request: PolicyRequest) -> Explanation:
        """What would be decided now, and why; counts nothing."""
        passed: list[PassedOver] = []
        for number in self._about(f"{request.source}.{request.tool}"):
            rule = self.rules[number]
            obstacle = next((words for holds, words in rule.grounds(request) if not holds), None)
            if obstacle is None:
                return self._explanation(number, rule, request, tuple(passed))
            passed.append(PassedOver(number, obstacle))
        return Explanation(Deny(_NO_RULE), None, _NO_RULE, tuple(passed))

    def ended(self, execution_id: str) -> None:
        """A run has ended: its counts are forgotten."""
        with self._lock:
            self._runs.forget(execution_id)

    def matching(self, request: PolicyRequest) -> int | None:
        """The rule that decides, counted from 0, whether it is used up or not; None when no rule matches."""
        for number in self._about(f"{request.source}.{request.tool}"):
            if self.rules[number].holds(request):
                return number
        return None

    def _decide(self, request: PolicyRequest) -> Decision:
        number = self.matching(request)
        return Deny(_NO_RULE) if number is None else self._counted(number, self.rules[number], request)

    def _counted(self, number: int, rule: Rule, request: PolicyRequest) -> Decision:
        if rule.per_run is None and rule.per_minute is None:
            return _decision(rule)
        with self._lock:
            used_up = self._used_up(number, rule, request)
            if used_up is not None:
                return Deny(used_up)
            if rule.per_run is not None:
                self._runs.add(number, request.execution_id)
            if rule.per_minute is not None:
                self._minutes.add(_key(number, rule, request))
        return _decision(rule)

    def _used_up(self, number: int, rule: Rule, request: PolicyRequest) -> str | None:
        if rule.per_run is not None and self._runs.count(number, request.execution_id) >= rule.per_run:
            return f"its limit of {_calls(rule.per_run)} a run is used up"
        if rule.per_minute is not None and self._minutes.count(_key(number, rule, request)) >= rule.per_minute:
            return f"its limit of {_calls(rule.per_minute)} a minute is used up"
        return None

    def _explanation(
        self, number: int, rule: Rule, request: PolicyRequest, passed: tuple[PassedOver, ...]
    ) -> Explanation:
        names = " ".join(glob.text for glob in rule.match)
        with self._lock:
            used_up = self._used_up(number, rule, request)
        if used_up is not None:
            return Explanation(Deny(used_up), number, f"rule {number + 1} ({names}) matches, and {used_up}", passed)
        grounds = (words for _, words in rule.grounds(request))
        why = [f"rule {number + 1} ({names}) says {rule.effect}", *grounds, *_limits(rule)]
        return Explanation(_decision(rule), number, "; ".join(why), passed)

    def _rules_about(self, name: str) -> tuple[int, ...]:
        return tuple(number for number, rule in enumerate(self.rules) if rule.names(name))


def _key(number: int, rule: Rule, request: PolicyRequest) -> tuple[int, str]:
    return number, _identity(request.principal) if rule.each_principal else ""


def _identity(principal: Any) -> str:
    try:
        return digest(principal)
    except (TypeError, ValueError, RecursionError):  # those that cannot be told apart share one count
        return type(principal).__name__


def _limits(rule: Rule) -> Iterator[str]:
    if rule.per_run is not None:
        yield f"it lets {_calls(rule.per_run)} of a run through"
    if rule.per_minute is not None:
        apart = " for each principal" if rule.each_principal else ""
        yield f"it lets {_calls(rule.per_minute)} a minute through{apart}"


def _calls(number: int) -> str:
    return f"{number} call{'' if number == 1 else 's'}"


def _decision(rule: Rule) -> Decision:
    if rule.effect == "allow":
        return _ALLOW
    return Ask(rule.reason) if rule.effect == "ask" else Deny(rule.reason or "a rule of the policy denies this call")
