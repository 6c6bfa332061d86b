"""The policies that ship: rules in order, conditions, counters, and what is no rule."""

from __future__ import annotations

from typing import Any

import pytest

from codemodekit.contracts import Allow, Ask, Deny, PolicyRequest, ToolAnnotations
from codemodekit.errors import ConfigurationError
from codemodekit.policy import (
    RulesPolicy,
    allow_all_tool_calls,
    deny_all_tool_calls,
    policy_rules,
    read_only_tool_calls,
)

pytestmark = pytest.mark.anyio


def request(
    name: str = "git.log", value: Any = None, *, run: str = "run_1", principal: Any = None, **hints: bool
) -> Any:
    source, _, tool = name.partition(".")
    return PolicyRequest(
        execution_id=run, call_id="call_1", source=source, tool=tool, input={} if value is None else value,
        annotations=ToolAnnotations(**hints), principal=principal,
    )  # fmt: skip


def says(policy: Any, *args: Any, **more: Any) -> str:
    return {Allow: "allow", Deny: "deny", Ask: "ask"}[type(policy.decide(request(*args, **more)))]


@pytest.mark.proves("policy.decides")
async def test_the_simple_policies_say_what_their_names_say() -> None:
    assert await allow_all_tool_calls()(request()) == Allow()
    assert isinstance(await deny_all_tool_calls()(request()), Deny)
    assert await read_only_tool_calls()(request(read_only=True)) == Allow()
    assert isinstance(await read_only_tool_calls()(request()), Deny)
    assert isinstance(await read_only_tool_calls()(request(read_only=False)), Deny)


@pytest.mark.proves("policy.rules")
def test_without_a_rule_that_matches_a_call_is_denied() -> None:
    assert says(policy_rules([])) == "deny"
    assert says(policy_rules([{"match": "fs.*", "effect": "allow"}])) == "deny"


@pytest.mark.proves("policy.rules")
def test_the_first_rule_that_matches_decides() -> None:
    policy = policy_rules(
        [
            {"match": "git.push", "effect": "deny"},
            {"match": ["git.*", "fs.read?"], "effect": "allow"},
            {"match": "*", "effect": "ask", "reason": "anything else"},
        ]
    )
    assert [says(policy, name) for name in ("git.push", "git.log", "fs.readx", "fs.read", "GIT.log")] == [
        "deny", "allow", "allow", "ask", "ask",
    ]  # fmt: skip
    assert policy.decide(request("x.y")) == Ask("anything else")


@pytest.mark.proves("policy.rules")
@pytest.mark.parametrize(
    ("condition", "passes", "fails"),
    [
        ("main", ["main"], ["other", None, 1]),
        ({"equals": 1}, [1], [1.0, True, "1", None]),
        ({"in": ["a", 1]}, ["a", 1], ["b", True, None]),
        ({"glob": "/tmp/*"}, ["/tmp/x", "/tmp/a/b"], ["/etc", 1, ["/tmp/x"]]),
        ({"exists": True}, [0, None, ""], []),
        ({"atMost": 5}, [5, -1, 4.5], [6, True, "3"]),
        ({"atLeast": 5}, [5, 5.5], [4, "9"]),
        ({"atLeast": 1, "atMost": 3}, [1, 3], [0, 4]),
    ],
    ids=repr,
)
def test_conditions_on_the_input(condition: Any, passes: list[Any], fails: list[Any]) -> None:
    policy = policy_rules([{"match": "*", "when": {"input": {"/a/0/b": condition}}, "effect": "allow"}])
    for value in passes:
        assert says(policy, "s.t", {"a": [{"b": value}]}) == "allow"
    for value in fails:
        assert says(policy, "s.t", {"a": [{"b": value}]}) == "deny"
    for elsewhere in ({}, {"a": []}, {"a": {"0": 1}}, [], "text", {"a": [{"c": 1}]}):
        assert says(policy, "s.t", elsewhere) == "deny"


@pytest.mark.proves("policy.rules")
def test_a_place_that_must_not_exist() -> None:
    policy = policy_rules([{"match": "*", "when": {"input": {"/force": {"exists": False}}}, "effect": "allow"}])
    assert (says(policy, "s.t", {}), says(policy, "s.t", {"force": None})) == ("allow", "deny")


@pytest.mark.proves("policy.rules")
def test_pointers_with_escapes_and_the_whole_input() -> None:
    policy = policy_rules([{"match": "*", "when": {"input": {"/a~1b/c~0d": 1}}, "effect": "allow"}])
    assert says(policy, "s.t", {"a/b": {"c~d": 1}}) == "allow"
    policy = policy_rules([{"match": "*", "when": {"input": {"": {"equals": {"a": 1}}}}, "effect": "allow"}])
    assert says(policy, "s.t", {"a": 1}) == "allow"


@pytest.mark.proves("policy.rules")
def test_annotations_are_taken_at_their_word_and_silence_as_the_worse() -> None:
    reads = policy_rules([{"match": "*", "when": {"readOnly": True}, "effect": "allow"}])
    assert (says(reads, read_only=True), says(reads)) == ("allow", "deny")
    tame = policy_rules([{"match": "*", "when": {"destructive": False}, "effect": "allow"}])
    assert (says(tame, destructive=False), says(tame, read_only=True), says(tame)) == ("allow", "allow", "deny")


@pytest.mark.proves("policy.rules")
def test_conditions_on_who_runs_it() -> None:
    policy = policy_rules([{"match": "*", "when": {"principal": "*@example.com"}, "effect": "allow"}])
    assert says(policy, principal="ada@example.com") == "allow"
    assert says(policy, principal="eve@example.org") == "deny"
    assert says(policy) == "deny"


@pytest.mark.proves("policy.rate")
def test_a_run_has_its_own_count_and_a_used_up_rule_denies() -> None:
    policy = policy_rules(
        [{"match": "git.*", "effect": "allow", "limit": {"perRun": 2}}, {"match": "*", "effect": "allow"}]
    )
    assert [says(policy) for _ in range(3)] == ["allow", "allow", "deny"]
    assert says(policy, run="run_2") == "allow"
    denied = policy.decide(request())
    assert isinstance(denied, Deny)
    assert denied.reason is not None
    assert "2 calls a run" in denied.reason


@pytest.mark.proves("policy.rate")
def test_a_count_by_the_minute_spans_runs_and_forgets() -> None:
    now = [0.0]
    rules = policy_rules([{"match": "*", "effect": "ask", "limit": {"perMinute": 2}}]).rules
    policy = RulesPolicy(rules, clock=lambda: now[0])
    assert [says(policy, run=f"run_{n}") for n in range(3)] == ["ask", "ask", "deny"]
    now[0] = 59.9
    assert says(policy) == "deny"
    now[0] = 60.1
    assert says(policy) == "ask"


@pytest.mark.proves("policy.rate")
def test_the_memory_of_counts_is_bounded() -> None:
    policy = policy_rules([{"match": "*", "effect": "allow", "limit": {"perRun": 1}}])
    for number in range(11_000):
        assert says(policy, run=f"run_{number}") == "allow"
    assert says(policy, run="run_10999") == "deny"
    assert len(policy._runs) <= 10_000


@pytest.mark.proves("policy.explain")
def test_an_explanation_names_the_rule_and_counts_nothing() -> None:
    policy = policy_rules(
        [{"match": "x", "effect": "allow"}, {"match": "git.*", "effect": "allow", "limit": {"perRun": 1}}]
    )
    for _ in range(5):
        found = policy.explain(request())
        assert (found.rule, found.decision) == (1, Allow())
        assert "rule 2" in found.why
    nothing = policy.explain(request("fs.read"))
    assert nothing.rule is None
    assert isinstance(nothing.decision, Deny)


@pytest.mark.proves("policy.rules")
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, "match"),
        ({"match": "", "effects": "allow"}, "did you mean 'effect'"),
        ({"match": "*"}, "effect"),
        ({"match": "*", "effect": "permit"}, "permit"),
        ({"match": 1, "effect": "allow"}, "match"),
        ({"match": [], "effect": "allow"}, "match"),
        ({"match": ["*", 1], "effect": "allow"}, "match"),
        ({"match": "*", "effect": "allow", "when": {"readonly": True}}, "did you mean 'readOnly'"),
        ({"match": "*", "effect": "allow", "when": {"readOnly": "yes"}}, "true or false"),
        ({"match": "*", "effect": "allow", "when": {"input": {"path": 1}}}, "JSON pointer"),
        ({"match": "*", "effect": "allow", "when": {"input": {"/p": {"regex": "x"}}}}, "regex"),
        ({"match": "*", "effect": "allow", "when": {"input": {"/p": {"in": "text"}}}}, "in"),
        ({"match": "*", "effect": "allow", "when": {"input": {"/p": {"atMost": True}}}}, "atMost"),
        ({"match": "*", "effect": "allow", "when": {"input": []}}, "input"),
        ({"match": "*", "effect": "allow", "limit": {"perRun": 0}}, "perRun"),
        ({"match": "*", "effect": "allow", "limit": {"perHour": 1}}, "perHour"),
        ({"match": "*", "effect": "allow", "limit": 5}, "limit"),
        ({"match": "*", "effect": "allow", "reason": 5}, "reason"),
        ("allow", "rule 1"),
    ],
    ids=repr,
)
def test_what_is_no_rule_is_refused_with_its_number_and_key(rule: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match="policy rule 1") as refusal:
        policy_rules([rule])
    assert said in str(refusal.value)


@pytest.mark.proves("policy.rules")
@pytest.mark.parametrize("rules", ["text", {"match": "*", "effect": "allow"}, None, 5], ids=repr)
def test_rules_come_in_a_list(rules: Any) -> None:
    with pytest.raises(ConfigurationError, match="list"):
        policy_rules(rules)
