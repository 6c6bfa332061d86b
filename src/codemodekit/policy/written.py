"""Rules in their written form, as in the config file, to rules that are checked and ready.

What cannot mean anything is refused with the rule's number and the key: a rule that never matches is a hole that nobody
sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, cast

from codemodekit._json import dumps
from codemodekit.errors import ConfigurationError
from codemodekit.policy.conditions import TESTS, Condition, Glob, is_number, path_of, shown
from codemodekit.policy.rules import Effect, Rule, RulesPolicy

__all__ = ["policy_rules"]

_RULE_KEYS: Final = ("match", "when", "effect", "reason", "limit")
_WHEN_KEYS: Final = ("source", "input", "readOnly", "destructive", "principal")
_LIMIT_KEYS: Final = ("perRun", "perMinute", "eachPrincipal")
_EFFECTS: Final = ("allow", "deny", "ask")
_KINDS: Final[Mapping[type, str]] = {bool: "true or false", str: "text"}


def policy_rules(rules: Sequence[Mapping[str, Any]]) -> RulesPolicy:
    """A policy from rules in their written form, as in the configuration file.

    Each rule: `match` (a glob on `source.tool`, or several), `effect` (allow, deny, ask), and optionally `when`
    (`source`: a glob on the source alone; `input`: JSON pointer → value or {equals | in | glob | exists | atMost |
    atLeast}; `readOnly`; `destructive`; `principal`: a glob, or pointers as for `input`), `limit` (`perRun`,
    `perMinute`, `eachPrincipal`) and `reason`. The first that matches decides; none matches: denied.

    Raises:
        ConfigurationError: a rule that is not of this form, by its number and key.
    """
    if isinstance(rules, str | bytes | Mapping) or not isinstance(rules, Sequence):
        raise ConfigurationError("policy rules must be a list")
    return RulesPolicy([_rule(f"policy rule {number}", rule) for number, rule in enumerate(rules, start=1)])


def _rule(where: str, rule: Any) -> Rule:
    _known(where, rule, _RULE_KEYS)
    match, effect = _match(where, rule.get("match")), rule.get("effect")
    if effect not in _EFFECTS:
        near = _near(effect, _EFFECTS)
        raise ConfigurationError(f"{where}: 'effect' must be 'allow', 'deny' or 'ask', not {shown(effect)}{near}")
    when, limit = rule.get("when", {}), rule.get("limit", {})
    _known(f"{where}, 'when'", when, _WHEN_KEYS)
    _known(f"{where}, 'limit'", limit, _LIMIT_KEYS)
    source = _typed(f"{where}, 'when'", when, "source", str)
    return Rule(
        match=match,
        effect=cast(Effect, effect),
        source=None if source is None else Glob(source),
        inputs=_conditions(f"{where}, 'input'", when.get("input", {})),
        read_only=_typed(f"{where}, 'when'", when, "readOnly", bool),
        destructive=_typed(f"{where}, 'when'", when, "destructive", bool),
        principal=_principal(where, when),
        reason=_typed(where, rule, "reason", str),
        **_limit(f"{where}, 'limit'", limit, effect),
    )


def _match(where: str, match: Any) -> tuple[Glob, ...]:
    patterns = [match] if isinstance(match, str) else match
    if not isinstance(patterns, list | tuple) or not patterns or not all(isinstance(each, str) for each in patterns):
        raise ConfigurationError(f"{where}: 'match' must be a glob on 'source.tool' such as 'git.*', or a list of them")
    for pattern in patterns:
        if not any(character in pattern for character in ".*?["):
            hint = f"; '{pattern}.*' is every tool of {pattern!r}" if pattern else ""
            raise ConfigurationError(f"{where}: 'match' {shown(pattern)} fits no 'source.tool'{hint}")
    return tuple(Glob(pattern) for pattern in patterns)


def _limit(where: str, limit: Mapping[str, Any], effect: str) -> dict[str, Any]:
    if limit and effect == "deny":
        raise ConfigurationError(f"{where}: a rule that denies lets nothing through that could be counted")
    each = _typed(where, limit, "eachPrincipal", bool)
    if each is not None and "perMinute" not in limit:
        raise ConfigurationError(f"{where}: 'eachPrincipal' is about 'perMinute'; a run has one principal anyway")
    return {
        "per_run": _positive(where, limit, "perRun"),
        "per_minute": _positive(where, limit, "perMinute"),
        "each_principal": bool(each),
    }


def _principal(where: str, when: Mapping[str, Any]) -> Glob | tuple[Condition, ...] | None:
    if "principal" not in when:
        return None
    wanted = when["principal"]
    if isinstance(wanted, str):
        return Glob(wanted)
    if not isinstance(wanted, Mapping) or not wanted:
        raise ConfigurationError(
            f"{where}, 'when': 'principal' must be a glob or map JSON pointers to conditions, not {shown(wanted)}"
        )
    return _conditions(f"{where}, 'principal'", wanted)


def _conditions(where: str, conditions: Any) -> tuple[Condition, ...]:
    if not isinstance(conditions, Mapping):
        raise ConfigurationError(f"{where} must map JSON pointers to conditions, not {shown(conditions)}")
    return tuple(made for pointer, condition in conditions.items() for made in _tests(where, pointer, condition))


def _tests(where: str, pointer: Any, condition: Any) -> list[Condition]:
    try:
        path = path_of(pointer)
    except (ValueError, TypeError, AttributeError) as fault:
        raise ConfigurationError(f"{where}: {shown(pointer)} is not a JSON pointer; {fault}") from None
    place = f"{where}, {shown(pointer)}"
    tests = condition if isinstance(condition, Mapping) else {"equals": condition}
    if not tests:
        raise ConfigurationError(f"{place}: there is no test; known: {', '.join(TESTS)}")
    _known(place, tests, tuple(TESTS))
    return [Condition(pointer, path, test, _operand(place, test, wanted)) for test, wanted in tests.items()]


def _operand(where: str, test: str, wanted: Any) -> Any:
    fits = {
        "equals": True,
        "in": isinstance(wanted, list | tuple),
        "glob": isinstance(wanted, str),
        "exists": isinstance(wanted, bool),
        "atMost": is_number(wanted) and math.isfinite(wanted),
        "atLeast": is_number(wanted) and math.isfinite(wanted),
    }[test]
    if not fits or not _is_json(wanted):
        raise ConfigurationError(f"{where}: {shown(wanted)} does not fit the test {test!r}")
    return Glob(wanted) if test == "glob" else wanted


def _is_json(value: Any) -> bool:
    try:
        dumps(value)
    except (TypeError, ValueError, RecursionError):  # a date of TOML, NaN, a cycle
        return False
    return True


def _known(where: str, value: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where} must be an object, not {shown(value)}")
    for key in value:
        if key not in keys:
            hint = _near(key, keys) or f"; known: {', '.join(keys)}"
            raise ConfigurationError(f"{where}: there is no key {shown(key)}{hint}")


def _near(word: Any, keys: tuple[str, ...]) -> str:
    lower = {key.lower(): key for key in keys}
    near = get_close_matches(str(word)[:80].lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def _typed(where: str, holder: Mapping[str, Any], key: str, kind: type) -> Any:
    if key not in holder:
        return None
    value = holder[key]
    if not isinstance(value, kind):
        raise ConfigurationError(f"{where}: {key!r} must be {_KINDS[kind]}, not {shown(value)}")
    return value


def _positive(where: str, holder: Mapping[str, Any], key: str) -> int | None:
    if key not in holder:
        return None
    value = holder[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{where}: {key!r} must be a positive integer, not {shown(value)}")
    return value
