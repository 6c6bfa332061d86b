"""JSON at the borders: one set of rules for what crosses them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemodekit._json import ABSENT, canonical, digest, dumps, encode, loads, plain
from fuzzing import fuzzed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.proves("value.wire")
@given(VALUES)
def test_every_value_survives_the_way_through_text_and_bytes(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert loads(encode(value)) == value


@pytest.mark.proves("catalog.revision")
@given(st.dictionaries(st.text(), VALUES, min_size=2, max_size=5))
def test_the_order_of_keys_does_not_matter_to_the_canonical_form(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical(value) == canonical(turned)
    assert digest(value) == digest(turned)


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan], {1, 2}, b"bytes", object()], ids=repr)
def test_what_json_has_no_form_for_is_refused(value: Any) -> None:
    for write in (dumps, encode, canonical):
        with pytest.raises((TypeError, ValueError)):
            write(value)


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "[NaN]", "", "{", "[1,]", "'a'", "1 2", "\ufeff1", b"\xff"], ids=repr
)
def test_what_is_not_json_is_not_read(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        loads(text)


TOKENS = st.sampled_from([
    "{", "}", "[", "]", ",", ":", '"a"', '"', "1e999", "-1e400", "NaN", "9" * 400, "9" * 5_000, "0.1", "-0", "1E5",
    "01", "true", "nul", '"\\ud800"', '"\\u00e9"', "\ud800", "\0", " ", "\n", "\ufeff",
    "[" * 500, "]" * 500, '{"a":1,"a":2}',
])  # fmt: skip


@pytest.mark.proves("value.wire")
@fuzzed(300)
@given(st.lists(TOKENS, max_size=8).map("".join) | st.text(max_size=20))
def test_what_is_read_can_be_written_and_read_again(text: str) -> None:
    for given_text in (text, text.encode("utf-8", "surrogatepass")):
        try:
            value = loads(given_text)
        except (ValueError, RecursionError):
            continue
        assert loads(encode(value)) == value
        assert canonical(value)


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("text", ["1e999", "-1e999", "[1, 2e400]", '{"a": 1e309}'])
def test_a_number_beyond_all_others_is_not_read_as_infinity(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


@pytest.mark.proves("value.wire")
def test_of_two_values_under_one_key_the_last_counts() -> None:
    assert loads('{"a": 1, "b": 0, "a": 2}') == {"a": 2, "b": 0}


@pytest.mark.proves("value.wire")
def test_a_cycle_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        dumps(value)


@pytest.mark.proves("value.wire")
def test_nesting_without_end_is_a_recursion_error_and_no_crash() -> None:
    with pytest.raises(RecursionError):
        loads("[" * 1_000_000)


@pytest.mark.proves("value.wire")
def test_a_lone_surrogate_is_escaped_and_other_text_is_not() -> None:
    assert encode("\ud800") == b'"\\ud800"'
    assert encode("é𝄞") == '"é𝄞"'.encode()


@pytest.mark.proves("value.wire")
def test_plain_makes_a_copy_of_lists_and_dicts() -> None:
    value = {"a": (1, 2)}
    assert plain(value) == {"a": [1, 2]}


@pytest.mark.proves("value.wire")
def test_absent_is_false_and_there_is_only_one() -> None:
    assert not ABSENT
    assert type(ABSENT)("absent") is ABSENT
    assert repr(ABSENT) == "ABSENT"
