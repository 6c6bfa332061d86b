"""Whatever stands in an input, a policy decides, and decides as a plain reading of its rules would."""

from __future__ import annotations

from typing import Any

import pytest
from asking import request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemodekit.policy import policy_rules

pytestmark = pytest.mark.proves("policy.rules", "policy.explain")

keys = st.sampled_from(["a", "b", "0", "1", "", "a/b", "~", "01", "²", "-"]) | st.text(max_size=2)
scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, 1e300]) | st.text(max_size=2)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=10
)
steps = st.lists(keys, max_size=3)
tests = st.one_of(
    st.fixed_dictionaries({"equals": values}),
    st.fixed_dictionaries({"in": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"exists": st.booleans()}),
    st.fixed_dictionaries({"atMost": st.integers(-2, 2)}),
)
ABSENT = object()


def pointer(path: list[str]) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


def place(value: Any, path: list[str]) -> Any:
    """RFC 6901, section 4, step by step."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step in [str(index) for index in range(len(value))]:
            value = value[int(step)]
        else:
            return ABSENT
    return value


def spelled(value: Any) -> Any:
    """A value in which Python's equality is that of JSON."""
    if isinstance(value, bool) or value is None:
        return ("word", value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, list):
        return ("list", [spelled(each) for each in value])
    if isinstance(value, dict):
        return ("object", {key: spelled(each) for key, each in value.items()})
    return ("text", value)


def holds(found: Any, test: str, wanted: Any) -> bool:
    if test == "exists":
        return (found is not ABSENT) is wanted
    if found is ABSENT:
        return False
    if test == "equals":
        return bool(spelled(found) == spelled(wanted))
    if test == "in":
        return spelled(found) in [spelled(each) for each in wanted]
    return spelled(found)[0] == "number" and found <= wanted


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(values, steps, tests)
def test_a_condition_holds_when_a_plain_reading_of_it_does(value: Any, path: list[str], test: dict[str, Any]) -> None:
    policy = policy_rules([{"match": "*", "when": {"input": {pointer(path): test}}, "effect": "allow"}])
    ((word, wanted),) = test.items()
    expected = "Allow" if holds(place(value, path), word, wanted) else "Deny"
    asked = request("s.t", value)
    assert type(policy.decide(asked)).__name__ == expected
    assert type(policy.explain(asked).decision).__name__ == expected
