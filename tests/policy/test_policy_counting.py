"""Limits of rules: by the run and by the minute, exact whatever happens beside, bounded in memory."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from asking import request, says

from codemodekit.contracts import Deny
from codemodekit.policy import RulesPolicy, policy_rules
from codemodekit.policy.counting import Minutes, Runs

pytestmark = pytest.mark.proves("policy.rate")


class Clock:
    """A clock that stands still until it is set, also back."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limited(clock: Clock | None = None, effect: str = "allow", **limit: Any) -> RulesPolicy:
    rules = policy_rules([{"match": "*", "effect": effect, "limit": limit}]).rules
    return RulesPolicy(rules, clock=clock or Clock())


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


def test_each_rule_counts_for_itself() -> None:
    policy = policy_rules(
        [{"match": f"{name}.*", "effect": "allow", "limit": {"perRun": 1, "perMinute": 2}} for name in "ab"]
    )
    assert [says(policy, name) for name in ("a.x", "b.x", "a.y", "b.y")] == ["allow", "allow", "deny", "deny"]
    assert [says(policy, name, run="run_2") for name in ("a.x", "a.x")] == ["allow", "deny"]
    assert says(policy, "a.x", run="run_3") == "deny"


def test_a_question_counts_as_a_call_let_through() -> None:
    policy = limited(effect="ask", perRun=1)
    assert [says(policy) for _ in range(2)] == ["ask", "deny"]


def test_what_one_limit_refuses_does_not_use_up_the_other() -> None:
    clock = Clock()
    policy = limited(clock, perRun=1, perMinute=2)
    assert [says(policy), says(policy), says(policy)] == ["allow", "deny", "deny"]
    assert [says(policy, run="run_2"), says(policy, run="run_3")] == ["allow", "deny"]
    clock.now += 60
    assert says(policy, run="run_3") == "allow"


def test_a_count_by_the_minute_spans_runs_and_forgets() -> None:
    clock = Clock()
    policy = limited(clock, perMinute=2)
    assert [says(policy, run=f"run_{n}") for n in range(3)] == ["allow", "allow", "deny"]
    clock.now += 59.9
    assert says(policy) == "deny"
    clock.now += 0.1
    assert says(policy) == "allow"


def test_no_minute_at_all_holds_more_than_the_limit() -> None:
    """A window that slides: not two full ones back to back at the turn of a minute."""
    clock = Clock()
    policy = limited(clock, perMinute=3)
    through = []
    for step in range(400):
        clock.now = 1000 + step * 1.7
        if says(policy, run=f"run_{step}") == "allow":
            through.append(clock.now)
    assert len(through) > 20
    assert all(later - earlier >= 60 for earlier, later in zip(through, through[3:], strict=False))


def test_a_clock_that_is_set_back_neither_lets_more_through_nor_locks_for_longer() -> None:
    clock = Clock()
    policy = limited(clock, perMinute=2)
    assert [says(policy), says(policy)] == ["allow", "allow"]
    clock.now -= 3600
    assert says(policy) == "deny"
    clock.now += 59
    assert says(policy) == "deny"
    clock.now += 1
    assert says(policy) == "allow"


def test_the_count_by_the_minute_is_everybodys_unless_the_rule_says_each_principals() -> None:
    shared, apart = limited(perMinute=1), limited(perMinute=1, eachPrincipal=True)
    whoever = ["ada", "ada", "eve", None, None, {"id": 1, "of": "x"}, {"of": "x", "id": 1}, {"id": 2, "of": "x"}]
    assert [says(shared, principal=who) for who in whoever] == ["allow", *["deny"] * 7]
    assert [says(apart, principal=who) for who in whoever] == [
        "allow", "deny", "allow", "allow", "deny", "allow", "deny", "allow",
    ]  # fmt: skip


def test_principals_that_are_no_json_share_one_count() -> None:
    class Token: ...

    policy = limited(perMinute=1, eachPrincipal=True)
    assert [says(policy, principal=Token()), says(policy, principal=Token())] == ["allow", "deny"]


def test_a_limit_holds_when_many_threads_decide_at_once() -> None:
    policy = limited(perRun=500, perMinute=700)
    said: list[str] = []

    def decide(run: str) -> None:
        said.extend(says(policy, run=run) for _ in range(200))

    threads = [threading.Thread(target=decide, args=(f"run_{number % 2}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (len(said), said.count("allow")) == (1600, 700)


def test_counts_of_a_run_go_with_the_run_and_with_no_other() -> None:
    policy = limited(perRun=1)
    assert [says(policy, run="run_1"), says(policy, run="run_2")] == ["allow", "allow"]
    policy.ended("run_1")
    policy.ended("run_1")
    assert [says(policy, run="run_1"), says(policy, run="run_2")] == ["allow", "deny"]


def test_runs_whose_end_nobody_tells_are_forgotten_oldest_first() -> None:
    runs = Runs()
    for number in range(70_000):
        runs.add(0, f"run_{number}")
    assert len(runs) == 65_536
    assert (runs.count(0, "run_69999"), runs.count(0, "run_0")) == (1, 0)


def test_principals_that_come_once_are_forgotten_after_a_minute() -> None:
    clock = Clock()
    minutes = Minutes(clock)
    for number in range(20_000):
        clock.now += 1
        minutes.add((0, str(number)))
    assert len(minutes) <= 4096 + 60
    assert (minutes.count((0, "19999")), minutes.count((0, "19930"))) == (1, 0)
