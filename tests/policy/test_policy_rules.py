"""The policies that ship: names, rules in order, hints, principals, and why it was decided so."""

from __future__ import annotations

from typing import Any

import pytest
from asking import about, request, says

from codemodekit.contracts import Allow, Ask, Deny
from codemodekit.policy import allow_all_tool_calls, deny_all_tool_calls, policy_rules, read_only_tool_calls

pytestmark = pytest.mark.anyio


@pytest.mark.proves("policy.decides")
async def test_the_simple_policies_say_what_their_names_say() -> None:
    assert await allow_all_tool_calls()(request()) == Allow()
    assert isinstance(await deny_all_tool_calls()(request()), Deny)
    assert await read_only_tool_calls()(request(read_only=True)) == Allow()
    assert isinstance(await read_only_tool_calls()(request()), Deny)
    assert isinstance(await read_only_tool_calls()(request(read_only=False)), Deny)


@pytest.mark.proves("policy.decides")
@pytest.mark.parametrize("claim", ["false", "no", 1, [True], {}], ids=repr)
async def test_a_hint_that_is_not_true_itself_makes_no_reader(claim: Any) -> None:
    assert isinstance(await read_only_tool_calls()(request(read_only=claim)), Deny)
    assert says(about(readOnly=True), read_only=claim) == "deny"
    assert request(read_only=claim, idempotent=claim).annotations.may_write


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
    ("glob", "fits", "others"),
    [
        ("crm.contacts.*", ["crm.contacts.find", "crm.contacts.", "crm.contacts.a.b"], ["crm.contacts", "crm.x"]),
        ("crm.*", ["crm.a.b", "crm.", "crm.a\nb"], ["CRM.a", "xcrm.a", "crm2.a"]),
        ("*.delete*", ["a.delete", "a.b.delete_all"], ["a.DELETE", "a.undelete"]),
        ("a.[bc]", ["a.b", "a.c"], ["a.[bc]", "a.d", "a.bc"]),
        ("a.[[]x]", ["a.[x]"], ["a.x"]),
        ("a.[x", ["a.[x"], ["a.x"]),
        ("a.é", ["a.é"], ["a.e\u0301"]),
        ("a.?", ["a.😀", "a.\n"], ["a.", "a.ab"]),
        (r"a.\d", [r"a.\d"], ["a.1"]),
        ("a.(x|y)$", ["a.(x|y)$"], ["a.x"]),
    ],
)
def test_globs_are_on_the_whole_name_exactly_as_it_is(glob: str, fits: list[str], others: list[str]) -> None:
    policy = policy_rules([{"match": glob, "effect": "allow"}])
    assert {name for name in (*fits, *others) if says(policy, name) == "allow"} == set(fits)


@pytest.mark.proves("policy.rules")
def test_a_glob_full_of_stars_costs_no_time() -> None:
    policy = policy_rules([{"match": "a." + "*a" * 200 + "b", "effect": "allow"}])
    assert says(policy, "a." + "a" * 500) == "deny"


@pytest.mark.proves("policy.rules")
def test_the_source_alone_can_be_asked_for_where_names_hold_dots() -> None:
    both = policy_rules([{"match": "a.b.c", "effect": "allow"}])
    assert (says(both, "a/b.c"), says(both, "a.b/c")) == ("allow", "allow")
    one = policy_rules([{"match": "a.b.c", "when": {"source": "a.b"}, "effect": "allow"}])
    assert (says(one, "a/b.c"), says(one, "a.b/c")) == ("deny", "allow")


@pytest.mark.proves("policy.rules")
def test_annotations_are_taken_at_their_word_and_silence_as_the_worse() -> None:
    reads, tame = about(readOnly=True), about(destructive=False)
    assert (says(reads, read_only=True), says(reads)) == ("allow", "deny")
    assert (says(tame, destructive=False), says(tame, read_only=True), says(tame)) == ("allow", "allow", "deny")


@pytest.mark.proves("policy.rules")
@pytest.mark.parametrize(
    ("condition", "passes", "fails"),
    [
        ("*@example.com", ["ada@example.com"], ["eve@example.org", "ADA@EXAMPLE.COM", None, 7, ["ada@example.com"]]),
        ("*", ["", "anyone"], [None, 7, {"name": "ada"}]),
        ("None", ["None"], [None]),
        ({"/role": "admin"}, [{"role": "admin", "id": 7}], [{"role": "user"}, {}, None, "admin", {"role": ["admin"]}]),
        ({"": {"in": ["ada", 7]}}, ["ada", 7], ["eve", None, True]),
        ({"": {"exists": False}}, [None], ["ada", {}, 0]),
    ],
    ids=repr,
)
def test_conditions_on_who_runs_it(condition: Any, passes: list[Any], fails: list[Any]) -> None:
    policy = about(principal=condition)
    assert [who for who in (*passes, *fails) if says(policy, principal=who) == "allow"] == passes


@pytest.mark.proves("policy.rules")
def test_ten_thousand_rules_are_still_rules() -> None:
    rules = [{"match": f"s{number}.*", "effect": "allow"} for number in range(9_999)]
    policy = policy_rules([*rules, {"match": "*", "effect": "ask"}])
    assert [says(policy, name) for name in ("s0.x", "s9998.x", "s9999.x")] == ["allow", "allow", "ask"]
    assert policy.explain(request("s9998.x")).rule == 9_998


# --- why --------------------------------------------------------------------------------------------------------------


@pytest.mark.proves("policy.explain")
def test_an_explanation_names_the_rule_and_counts_nothing() -> None:
    policy = policy_rules(
        [{"match": "x.*", "effect": "allow"}, {"match": "git.*", "effect": "allow", "limit": {"perRun": 1}}]
    )
    for _ in range(5):
        found = policy.explain(request())
        assert (found.rule, found.decision, found.passed_over) == (1, Allow(), ())
        assert "rule 2" in found.why
    nothing = policy.explain(request("fs.read"))
    assert nothing.rule is None
    assert isinstance(nothing.decision, Deny)
    assert says(policy) == "allow"
    assert isinstance(policy.explain(request()).decision, Deny)
    assert "used up" in policy.explain(request()).why


@pytest.mark.proves("policy.explain")
def test_an_explanation_says_which_condition_of_the_rules_before_did_not_hold() -> None:
    policy = policy_rules(
        [
            {"match": "git.*", "when": {"readOnly": True}, "effect": "allow"},
            {"match": "fs.*", "effect": "allow"},
            {"match": "git.*", "when": {"principal": "ada"}, "effect": "allow"},
            {"match": "git.*", "when": {"input": {"/force": {"equals": False}}}, "effect": "allow"},
            {"match": "git.*", "when": {"input": {"/n": {"atMost": 5}}}, "effect": "ask"},
        ]
    )
    found = policy.explain(request("git.push", {"force": True, "n": 3}))
    assert (found.rule, found.decision) == (4, Ask())
    assert found.why == "rule 5 (git.*) says ask; /n is 3 (atMost 5)"
    assert [(each.rule, each.why) for each in found.passed_over] == [
        (0, "the source says nothing about readOnly (a hint, not a fact; wanted true)"),
        (2, "the principal is absent (glob 'ada')"),
        (3, "/force is true (equals false)"),
    ]


@pytest.mark.proves("policy.explain")
def test_an_explanation_of_a_huge_input_is_short() -> None:
    policy = about(input={"/a": {"glob": "y*"}})
    found = policy.explain(request("s.t", {"a": "x" * 100_000}))
    assert len(found.passed_over[0].why) < 300


@pytest.mark.proves("policy.explain")
@pytest.mark.parametrize(
    ("policy", "decision"),
    [(allow_all_tool_calls(), Allow), (deny_all_tool_calls(), Deny), (read_only_tool_calls(), Deny)],
)
def test_policies_with_names_explain_themselves(policy: Any, decision: type) -> None:
    found = policy.explain(request())
    assert (type(found.decision), found.rule) == (decision, None)
    assert found.why.startswith("the policy ")
