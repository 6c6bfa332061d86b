"""Limits as values: defaults, names on the wire, and what is no limit."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from codemodekit.limits import ExecutionLimits, LimitsError


@pytest.mark.proves("limit.host-only")
def test_the_defaults_are_those_that_are_documented() -> None:
    assert ExecutionLimits().to_wire() == {
        "sourceBytes": 131072,
        "computeTimeMs": 5000,
        "wallTimeMs": 60000,
        "toolCallTimeMs": 30000,
        "memoryBytes": 67108864,
        "maxToolCalls": 32,
        "maxConcurrentToolCalls": 8,
        "toolResultBytes": 2097152,
        "totalBridgeBytes": 8388608,
        "finalResultBytes": 262144,
        "logBytes": 65536,
        "logEntries": 100,
        "progressMessageBytes": 1024,
        "maxProgressEvents": 100,
        "progressEventsPerSecond": 10,
    }


@pytest.mark.proves("api.construction-checked")
def test_names_on_the_wire_lead_back_to_the_same_limits() -> None:
    limits = ExecutionLimits(max_tool_calls=7, memory_bytes=1 << 20)
    assert ExecutionLimits.from_wire(limits.to_wire()) == limits


@pytest.mark.proves("api.construction-checked")
def test_what_is_not_given_comes_from_the_base() -> None:
    base = ExecutionLimits(wall_time_ms=120_000)
    assert ExecutionLimits.from_wire({"logEntries": 5}, base) == dataclasses.replace(base, log_entries=5)


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "5", None, float("inf")], ids=repr)
def test_a_limit_is_a_positive_integer(value: Any) -> None:
    with pytest.raises(LimitsError, match=r"wall_time_ms|wallTimeMs"):
        ExecutionLimits(wall_time_ms=value)
    with pytest.raises(LimitsError, match="wallTimeMs"):
        ExecutionLimits.from_wire({"wallTimeMs": value})


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize("name", ["wallTimeMS", "wall_time_ms", "walltimems", "maxToolCall"])
def test_a_slip_in_a_name_is_put_right(name: str) -> None:
    with pytest.raises(LimitsError, match=r"did you mean '(wallTimeMs|maxToolCalls)'"):
        ExecutionLimits.from_wire({name: 1})


@pytest.mark.proves("api.construction-checked")
def test_a_name_like_no_other_gets_the_list() -> None:
    with pytest.raises(LimitsError, match="sourceBytes, computeTimeMs"):
        ExecutionLimits.from_wire({"zzz": 1})


@pytest.mark.proves("api.construction-checked")
def test_limits_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ExecutionLimits().max_tool_calls = 1000  # type: ignore[misc]


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize("name", ["memoryBytes", "logEntries", "wallTimeMs"])
def test_a_limit_that_no_guest_can_be_told_is_refused(name: str) -> None:
    assert ExecutionLimits.from_wire({name: 2**31 - 1}).to_wire()[name] == 2**31 - 1
    with pytest.raises(LimitsError, match=f"limit '{name}' may be at most 2147483647"):
        ExecutionLimits.from_wire({name: 2**31})
