"""How often the rules of one policy have let calls through: by the run, and by the minute."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

__all__ = ["Minutes", "Runs", "SteadyClock"]

_MINUTE: Final = 60.0

_MOST_RUNS: Final = 65_536
"""Counts of runs whose end nobody tells, as of a policy inside a policy of the host's: the oldest are forgotten."""

_MOST_KEYS: Final = 4096
"""Counts by the minute above which those that are over are swept out."""


class SteadyClock:
    """Seconds that only ever pass. Where the clock below is set back, no time has passed: counts stay exact."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read = clock()
        self._passed = 0.0

    def __call__(self) -> float:
        now = self._clock()
        self._passed += max(0.0, now - self._read)
        self._read = now
        return self._passed


class Runs:
    """Counts by rule and run."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, dict[int, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, rule: int, run: str) -> int:
        """What was let through so far."""
        return self._counts.get(run, {}).get(rule, 0)

    def add(self, rule: int, run: str) -> None:
        """One more."""
        counts = self._counts.setdefault(run, {})
        counts[rule] = counts.get(rule, 0) + 1
        self._counts.move_to_end(run)
        while len(self._counts) > _MOST_RUNS:
            self._counts.popitem(last=False)

    def forget(self, run: str) -> None:
        """The run has ended."""
        self._counts.pop(run, None)


class Minutes:
    """Counts by rule, and by principal where the rule says so, within the last minute at any moment."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times: dict[tuple[int, str], deque[float]] = {}
        self._sweep_at = _MOST_KEYS

    def __len__(self) -> int:
        return len(self._times)

    def count(self, key: tuple[int, str]) -> int:
        """What was let through within the last minute."""
        times = self._times.get(key)
        return 0 if times is None else _recent(times, self._clock())

    def add(self, key: tuple[int, str]) -> None:
        """One more, now."""
        now = self._clock()
        self._times.setdefault(key, deque()).append(now)
        if len(self._times) > self._sweep_at:
            self._times = {each: times for each, times in self._times.items() if _recent(times, now)}
            self._sweep_at = max(_MOST_KEYS, 2 * len(self._times))


def _recent(times: deque[float], now: float) -> int:
    while times and times[0] <= now - _MINUTE:
        times.popleft()
    return len(times)
