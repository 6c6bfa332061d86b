"""Conditions on the input: JSON pointers, and values compared as JSON has them."""

from __future__ import annotations

from typing import Any

import pytest
from asking import about, says

from codemodekit.errors import ConfigurationError

pytestmark = pytest.mark.proves("policy.rules")


@pytest.mark.parametrize(
    ("condition", "passes", "fails"),
    [
        ("main", ["main"], ["other", None, 1]),
        (None, [None], [0, False, "", []]),
        (True, [True], [1, 1.0, "true"]),
        (False, [False], [0, None]),
        ({"equals": 1}, [1, 1.0], [True, "1", None, 1.5]),
        ({"equals": 1.0}, [1, 1.0], [True]),
        ({"equals": 2**53 + 1}, [2**53 + 1], [2**53, float(2**53), 2**53 + 2]),
        ({"equals": 0.0}, [0, -0.0], [False, None]),
        ({"equals": {"a": [1, {"b": True}]}}, [{"a": [1.0, {"b": True}]}], [{"a": [True, {"b": True}]},
            {"a": [1, {"b": 1}]}, {"a": [1, {"b": True}], "c": 0}, {"a": [1]}, {}]),
        ({"equals": []}, [[]], [{}, "", None, [None]]),
        ({"equals": "é"}, ["é"], ["e\u0301", "É"]),
        ({"equals": "\u212b"}, ["\u212b"], ["\u00c5"]),
        ({"equals": "\ud800"}, ["\ud800"], ["\ufffd", "?"]),
        ({"in": ["a", 1, None, [2]]}, ["a", 1, 1.0, None, [2]], ["b", True, 2, [True]]),
        ({"in": []}, [], [None, "", []]),
        ({"glob": "/tmp/*"}, ["/tmp/x", "/tmp/a/b", "/tmp/"], ["/etc", 1, ["/tmp/x"], None, "/TMP/x", " /tmp/x"]),
        ({"exists": True}, [0, None, "", {}], []),
        ({"atMost": 5}, [5, -1, 4.5, -(10**400)], [6, True, "3", None, 10**400, [1]]),
        ({"atLeast": 5}, [5, 5.5], [4, "9", True]),
        ({"atLeast": 1, "atMost": 3}, [1, 3], [0, 4]),
    ],
    ids=repr,
)  # fmt: skip
def test_conditions_on_a_value(condition: Any, passes: list[Any], fails: list[Any]) -> None:
    policy = about(input={"/a/0/b": condition})
    told = [value for value in (*passes, *fails) if says(policy, "s.t", {"a": [{"b": value}]}) == "allow"]
    assert [*map(repr, told)] == [*map(repr, passes)]
    for elsewhere in ({}, {"a": []}, {"a": {"0": 1}}, [], "text", None, {"a": [{"c": 1}]}, {"a": [[1]]}):
        assert says(policy, "s.t", elsewhere) == "deny"


def test_a_place_that_must_not_exist() -> None:
    policy = about(input={"/force": {"exists": False}})
    assert (says(policy, "s.t", {}), says(policy, "s.t", {"force": None})) == ("allow", "deny")


@pytest.mark.parametrize(
    ("pointer", "found", "not_found"),
    [
        ("", [1], [{}, [1], {"": 1}]),
        ("/", [{"": 1}], [1, {"/": 1}]),
        ("//", [{"": {"": 1}}], [{"": 1}]),
        ("/a~1b/c~0d", [{"a/b": {"c~d": 1}}], [{"a~1b": {"c~0d": 1}}, {"a": {"b": 1}}]),
        ("/~01", [{"~1": 1}], [{"/": 1}]),
        ("/~10", [{"/0": 1}], [{"~10": 1}]),
        ("/0", [[1], {"0": 1}], [[], 1, ["1"]]),
        ("/00", [{"00": 1}], [[1]]),
        ("/01", [{"01": 1}], [[0, 1]]),
        ("/-", [{"-": 1}], [[1], []]),
        ("/-1", [{"-1": 1}], [[1]]),
        ("/+0", [{"+0": 1}], [[1]]),
        ("/1_0", [{"1_0": 1}], [[0] * 10 + [1]]),
        ("/ 0", [{" 0": 1}], [[1]]),
        ("/²", [{"²": 1}], [[1, 1, 1]]),
        ("/٠", [{"٠": 1}], [[1]]),
        ("/" + "9" * 5000, [{"9" * 5000: 1}], [[1]]),
        ("/__class__", [{"__class__": 1}], [{}, "text", []]),
        ("/length", [{"length": 1}], [[0], "x"]),
        ("/0/0/0", [[[[1]]]], ["111", [["1"]], [[1]]]),
        ("/caf\u00e9", [{"caf\u00e9": 1}], [{"cafe\u0301": 1}]),
        ("/" + "/".join("a" * 100), [], [{"a": {"a": 1}}]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_pointer_leads_to_one_place_and_nowhere_else(pointer: str, found: list[Any], not_found: list[Any]) -> None:
    policy = about(input={pointer: {"equals": 1}})
    assert [value for value in (*found, *not_found) if says(policy, "s.t", value) == "allow"] == found


@pytest.mark.parametrize("pointer", ["a", "#/a", "~", " /a", "/~", "/a~", "/~2", "/a/~x", "$.a", 5])
def test_what_is_no_pointer_is_refused(pointer: Any) -> None:
    with pytest.raises(ConfigurationError, match="JSON pointer"):
        about(input={pointer: 1})
