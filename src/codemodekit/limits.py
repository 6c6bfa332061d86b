"""The limits of one run, as a value. Nothing here enforces them; each is checked in one place above."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

__all__ = ["ExecutionLimits", "LimitsError"]

_MOST = 2**31 - 1
"""Two gigabytes, or three weeks: what a 32-bit guest can be told. A larger number would fail in every run instead."""


class LimitsError(ValueError):
    """A limit that does not exist or is not a positive integer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLimits:
    """What one run may use. Times in milliseconds, sizes in bytes of UTF-8. The program cannot raise any of them.

    Raises:
        LimitsError: a value that is not a positive integer, or above 2147483647.
    """

    source_bytes: int = 128 * 1024
    """Size of the program text."""
    compute_time_ms: int = 5_000
    """CPU time inside the guest; waiting for tools is free."""
    wall_time_ms: int = 60_000
    """The whole run, from compile to result."""
    tool_call_time_ms: int = 30_000
    """One call, from dispatch to answer."""
    memory_bytes: int = 64 * 1024 * 1024
    """Memory of the guest."""
    max_tool_calls: int = 32
    """Calls of one run; every attempt counts."""
    max_concurrent_tool_calls: int = 8
    """Calls dispatched at one time; the rest queue in order."""
    tool_result_bytes: int = 2 * 1024 * 1024
    """One tool result as JSON."""
    total_bridge_bytes: int = 8 * 1024 * 1024
    """All inputs and results of a run together."""
    final_result_bytes: int = 256 * 1024
    """The value the program returns, as JSON."""
    log_bytes: int = 64 * 1024
    """Console output that is kept; head and tail of it."""
    log_entries: int = 100
    """Console entries that are kept; head and tail of them."""
    progress_message_bytes: int = 1024
    """One progress message."""
    max_progress_events: int = 100
    """Progress events of a run."""
    progress_events_per_second: int = 10
    """Progress events in any one second."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))

    @classmethod
    def from_wire(cls, values: Mapping[str, Any], base: ExecutionLimits | None = None) -> ExecutionLimits:
        """Limits from camelCase names, the rest from `base`.

        Raises:
            LimitsError: an unknown name (the nearest known one is named), or a value that is not a positive integer.
        """
        changes: dict[str, int] = {}
        for key, value in values.items():
            name = _snake(key)
            if name not in _NAMES or key != _camel(name):
                near = get_close_matches(_snake(key), _NAMES, n=1, cutoff=0.5)
                hint = f"; did you mean {_camel(near[0])!r}?" if near else f"; known: {', '.join(map(_camel, _NAMES))}"
                raise LimitsError(f"there is no limit {key!r}{hint}")
            _check(key, value)
            changes[name] = value
        return replace(base or cls(), **changes)

    def to_wire(self) -> dict[str, int]:
        """The same limits under their camelCase names."""
        return {_camel(name): getattr(self, name) for name in _NAMES}


def _check(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise LimitsError(f"limit {name!r} must be a positive integer, not {value!r}")
    if value > _MOST:
        raise LimitsError(f"limit {name!r} may be at most {_MOST}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda m: m[1].upper(), name)


_NAMES = tuple(field.name for field in fields(ExecutionLimits))
