"""Policies that ship with the kit: all of them decide at once, from the request alone and from counters of their own.

A policy of the host's own is any async callable of `contracts.ToolPolicy`. Knows nothing of catalogues or runs.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias, cast

from codemodekit._json import ABSENT
from codemodekit.contracts import Allow, Ask, Decision, Deny, PolicyRequest
from codemodekit.errors import ConfigurationError

__all__ = [
    "Explanation",
    "ImmediatePolicy",
    "Rule",
    "RulesPolicy",
    "allow_all_tool_calls",
    "deny_all_tool_calls",
    "policy_rules",
    "read_only_tool_calls",
]

Effect: TypeAlias = Literal["allow", "deny", "ask"]

_ALLOW: Final = Allow()


class ImmediatePolicy:
    """A policy that never waits. It is an ordinary async policy too; callers may skip the waiting and call `decide`."""

    def __init__(self, decide: Callable[[PolicyRequest], Decision], *, always: Decision | None = None) -> None:
        self.decide = decide
        self.always = always
        """The decision on every request, where it does not depend on the request."""

    async def __call__(self, request: PolicyRequest) -> Decision:
        return self.decide(request)


def allow_all_tool_calls() -> ImmediatePolicy:
    """Let every call through. For sources whose every tool may be used by whoever writes programs."""
    return ImmediatePolicy(lambda _request: _ALLOW, always=_ALLOW)


def deny_all_tool_calls() -> ImmediatePolicy:
    """Let no call through; programs can compute and search, nothing else."""
    denied = Deny("the policy of this server allows no tool calls")
    return ImmediatePolicy(lambda _request: denied, always=denied)


def read_only_tool_calls() -> ImmediatePolicy:
    """Let calls of tools through that their source marks as read-only. The mark is the source's word, not a fact."""

    def decide(request: PolicyRequest) -> Decision:
        if request.annotations.read_only:
            return _ALLOW
        return Deny("the policy of this server allows only tools that are marked read-only")

    return ImmediatePolicy(decide)


# --- rules ------------------------------------------------------------------------------------------------------------

_RULE_KEYS: Final = ("match", "when", "effect", "reason", "limit")
_WHEN_KEYS: Final = ("input", "readOnly", "destructive", "principal")
_LIMIT_KEYS: Final = ("perRun", "perMinute")
_TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "equals": lambda value, wanted: value is not ABSENT and type(value) is type(wanted) and value == wanted,
    "in": lambda value, wanted: any(type(value) is type(each) and value == each for each in wanted),
    "glob": lambda value, wanted: isinstance(value, str) and fnmatchcase(value, wanted),
    "exists": lambda value, wanted: (value is not ABSENT) is wanted,
    "atMost": lambda value, wanted: _is_number(value) and value <= wanted,
    "atLeast": lambda value, wanted: _is_number(value) and value >= wanted,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, checked and ready; the first rule that matches a request decides it."""

    match: tuple[str, ...]
    """Globs on `source.tool`."""
    effect: Effect
    inputs: tuple[tuple[str, str, Any], ...] = ()
    """Conditions on the input that must all hold: JSON pointer (RFC 6901), test, wanted value."""
    read_only: bool | None = None
    destructive: bool | None = None
    principal: str | None = None
    """Glob on the principal, as text."""
    reason: str | None = None
    per_run: int | None = None
    per_minute: int | None = None

    def applies(self, request: PolicyRequest) -> bool:
        """Whether this rule is about the request."""
        name = f"{request.source}.{request.tool}"
        annotations = request.annotations
        return (
            any(fnmatchcase(name, pattern) for pattern in self.match)
            and self.read_only in (None, bool(annotations.read_only))
            and self.destructive in (None, annotations.destructive is not False and not annotations.read_only)
            and (self.principal is None or fnmatchcase(str(request.principal), self.principal))
            and all(_TESTS[test](_at(request.input, pointer), wanted) for pointer, test, wanted in self.inputs)
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which rule decides a request and how; `rule` counts from 0, None when no rule matches."""

    decision: Decision
    rule: int | None
    why: str


class RulesPolicy(ImmediatePolicy):
    """Ordered rules with counters; nothing matches: denied. Counts calls it lets through (or asks about)."""

    def __init__(self, rules: Sequence[Rule], *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._decide)
        self.rules = tuple(rules)
        self._clock = clock
        self._runs: OrderedDict[tuple[int, str], int] = OrderedDict()
        self._minutes: dict[int, deque[float]] = {}

    def explain(self, request: PolicyRequest) -> Explanation:
        """What would be decided now; counts nothing."""
        for number, rule in enumerate(self.rules):
            if rule.applies(request):
                used_up = self._used_up(number, rule, request.execution_id)
                if used_up:
                    return Explanation(Deny(used_up), number, f"rule {number + 1} matches, and {used_up}")
                return Explanation(
                    _decision(rule), number, f"rule {number + 1} ({' '.join(rule.match)}) says {rule.effect}"
                )
        why = "no rule of the policy matches this tool, and what no rule allows is denied"
        return Explanation(Deny(why), None, why)

    def _decide(self, request: PolicyRequest) -> Decision:
        found = self.explain(request)
        if found.rule is not None and not isinstance(found.decision, Deny):
            self._count(found.rule, self.rules[found.rule], request.execution_id)
        return found.decision

    def _used_up(self, number: int, rule: Rule, run: str) -> str | None:
        if rule.per_run is not None and self._runs.get((number, run), 0) >= rule.per_run:
            return f"its limit of {rule.per_run} calls a run is used up"
        if rule.per_minute is not None:
            recent = self._minutes.setdefault(number, deque())
            now = self._clock()
            while recent and recent[0] <= now - 60:
                recent.popleft()
            if len(recent) >= rule.per_minute:
                return f"its limit of {rule.per_minute} calls a minute is used up"
        return None

    def _count(self, number: int, rule: Rule, run: str) -> None:
        if rule.per_run is not None:
            self._runs[number, run] = self._runs.get((number, run), 0) + 1
            self._runs.move_to_end((number, run))
            while len(self._runs) > 10_000:  # runs that have long ended
                self._runs.popitem(last=False)
        if rule.per_minute is not None:
            self._minutes.setdefault(number, deque()).append(self._clock())


def policy_rules(rules: Sequence[Mapping[str, Any]]) -> RulesPolicy:
    """A policy from rules in their written form, as in the configuration file.

    Each rule: `match` (a glob on `source.tool`, or several), `effect` (allow, deny, ask), and optionally `when`
    (`input`: JSON pointer → value or {equals | in | glob | exists | atMost | atLeast}; `readOnly`; `destructive`;
    `principal`), `limit` (`perRun`, `perMinute`) and `reason`. The first that matches decides; none matches: denied.

    Raises:
        ConfigurationError: a rule that is not of this form, by its number and key.
    """
    if isinstance(rules, str | bytes | Mapping) or not isinstance(rules, Sequence):
        raise ConfigurationError("policy rules must be a list")
    return RulesPolicy([_rule(number, rule) for number, rule in enumerate(rules, start=1)])


def _rule(number: int, rule: Any) -> Rule:
    where = f"policy rule {number}"
    _known(where, rule, _RULE_KEYS)
    match = rule.get("match")
    patterns = [match] if isinstance(match, str) else match
    if not isinstance(patterns, list | tuple) or not patterns or not all(isinstance(each, str) for each in patterns):
        raise ConfigurationError(f"{where}: 'match' must be a glob on 'source.tool' such as 'git.*', or a list of them")
    effect = rule.get("effect")
    if effect not in ("allow", "deny", "ask"):
        raise ConfigurationError(f"{where}: 'effect' must be 'allow', 'deny' or 'ask', not {effect!r}")
    when, limit = rule.get("when", {}), rule.get("limit", {})
    _known(f"{where}, 'when'", when, _WHEN_KEYS)
    _known(f"{where}, 'limit'", limit, _LIMIT_KEYS)
    return Rule(
        match=tuple(patterns),
        effect=cast(Effect, effect),
        inputs=_inputs(where, when.get("input", {})),
        read_only=_typed(where, when, "readOnly", bool),
        destructive=_typed(where, when, "destructive", bool),
        principal=_typed(where, when, "principal", str),
        reason=_typed(where, rule, "reason", str),
        per_run=_positive(where, limit, "perRun"),
        per_minute=_positive(where, limit, "perMinute"),
    )


def _inputs(where: str, conditions: Any) -> tuple[tuple[str, str, Any], ...]:
    if not isinstance(conditions, Mapping):
        raise ConfigurationError(f"{where}: 'input' must map JSON pointers to conditions")
    found: list[tuple[str, str, Any]] = []
    for pointer, condition in conditions.items():
        if pointer and not pointer.startswith("/"):
            raise ConfigurationError(f"{where}: {pointer!r} is not a JSON pointer; it begins with '/', as in '/path'")
        if not isinstance(condition, Mapping):
            found.append((pointer, "equals", condition))
            continue
        _known(f"{where}, {pointer!r}", condition, tuple(_TESTS))
        for test, wanted in condition.items():
            _operand(f"{where}, {pointer!r}", test, wanted)
            found.append((pointer, test, wanted))
    return tuple(found)


def _operand(where: str, test: str, wanted: Any) -> None:
    fits = {
        "equals": True,
        "in": isinstance(wanted, list | tuple),
        "glob": isinstance(wanted, str),
        "exists": isinstance(wanted, bool),
        "atMost": _is_number(wanted),
        "atLeast": _is_number(wanted),
    }[test]
    if not fits:
        raise ConfigurationError(f"{where}: {wanted!r} does not fit the test {test!r}")


def _known(where: str, value: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where} must be an object, not {value!r}")
    for key in value:
        if key not in keys:
            near = get_close_matches(str(key), keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(keys)}"
            raise ConfigurationError(f"{where}: there is no key {key!r}; {hint}")


def _typed(where: str, holder: Mapping[str, Any], key: str, kind: type) -> Any:
    value = holder.get(key)
    if value is not None and not isinstance(value, kind):
        wanted = {bool: "true or false", str: "text"}[kind]
        raise ConfigurationError(f"{where}: {key!r} must be {wanted}, not {value!r}")
    return value


def _positive(where: str, holder: Mapping[str, Any], key: str) -> int | None:
    value = holder.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ConfigurationError(f"{where}: {key!r} must be a positive integer, not {value!r}")
    return value


def _decision(rule: Rule) -> Decision:
    if rule.effect == "allow":
        return _ALLOW
    return Ask(rule.reason) if rule.effect == "ask" else Deny(rule.reason or "a rule of the policy denies this call")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return ABSENT
    return value
