"""How much the random tests try: the same few cases in the whole check, many other ones in `make fuzz`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["TIMES", "fuzzed"]

TIMES: Final = int(os.environ.get("CODEMODEKIT_FUZZ", "0"))
"""How many times as many cases as in the whole check, and chosen anew each time; 0 is the whole check."""

_Test = TypeVar("_Test", bound=Callable[..., Any])


def fuzzed(examples: int) -> Callable[[_Test], _Test]:
    """Marks a test of hypothesis as one that `make fuzz` runs longer."""
    rules = settings(
        max_examples=examples * max(TIMES, 1),
        derandomize=TIMES == 0,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

    def marked(test: _Test) -> _Test:
        return pytest.mark.fuzz(pytest.mark.timeout(120 + 60 * TIMES)(rules(test)))  # type: ignore[no-any-return]

    return marked
