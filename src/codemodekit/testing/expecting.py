"""How a conformance check says that something is not as the contract wants it: one exception, one sentence.

The checks are plain async functions and need no test framework; any runner that understands AssertionError and
`unittest.SkipTest` (pytest and unittest do) reports them well.
"""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Awaitable
from typing import Any, Final, NoReturn, TypeVar

__all__ = ["PATIENCE_SECONDS", "ConformanceError", "expect", "expect_equal", "in_time", "not_applicable", "raises"]

PATIENCE_SECONDS: Final = 10.0
"""How long a check waits for something that ought to happen."""

_T = TypeVar("_T")


class ConformanceError(AssertionError):
    """What was tested does not do what its contract says."""


def expect(holds: object, said: str) -> None:
    """Raise ConformanceError with the sentence unless `holds`."""
    if not holds:
        raise ConformanceError(said)


def expect_equal(given: Any, wanted: Any, what: str) -> None:
    """Raise ConformanceError unless both are equal and of one type."""
    expect(type(given) is type(wanted) and given == wanted, f"{what}: expected {wanted!r}, given {given!r}")


def not_applicable(why: str) -> NoReturn:
    """Leave a check that has nothing to check here; reported as skipped."""
    raise unittest.SkipTest(why)


async def in_time(work: Awaitable[_T], what: str) -> _T:
    """The outcome of `work`, or ConformanceError when it takes too long."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
    raise ConformanceError(f"{what} did not happen within {PATIENCE_SECONDS:g} seconds")


async def raises(kinds: type[BaseException] | tuple[type[BaseException], ...], work: Awaitable[Any], what: str) -> Any:
    """The exception of one of these kinds that `work` ends with; anything else is a ConformanceError."""
    try:
        given = await in_time(work, what)
    except kinds as error:
        return error
    except Exception as error:
        raise ConformanceError(f"{what}: raised {error!r}") from error
    raise ConformanceError(f"{what}: gave {given!r} and raised nothing")
