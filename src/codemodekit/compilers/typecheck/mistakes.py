"""A mistake about a tool as a value, its nine kinds, and the words that are common to what is said about them."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Mistake", "MistakeKind", "alternatives", "cut", "listed", "without_numbers"]


class MistakeKind(enum.StrEnum):
    """What can be wrong about the use of a tool."""

    UNKNOWN_SOURCE = "unknownSource"
    UNKNOWN_TOOL = "unknownTool"
    WRONG_FIELD = "wrongField"
    MISSING_FIELD = "missingField"
    WRONG_TYPE = "wrongType"
    WRONG_VALUE = "wrongValue"
    WRONG_ARGUMENTS = "wrongArguments"
    NOT_AWAITED = "notAwaited"
    WRONG_RESULT = "wrongResult"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake; lines and columns from 0 in UTF-16 units, as in the complaint it comes from."""

    kind: MistakeKind
    message: str
    start: tuple[int, int]
    end: tuple[int, int]
    code: int
    """The compiler's number for it."""
    source: str | None = None
    tool: str | None = None


_LONGEST: Final = 200
_MOST_LISTED: Final = 12
_NUMBER: Final = re.compile(r"(?<=\w)\$\d+\b")


def cut(text: str) -> str:
    """The text, shortened where it is long, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def without_numbers(text: str) -> str:
    """Types under the names a model knows them by."""
    return _NUMBER.sub("", text)


def alternatives(names: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    shown = [f"`{cut(name)}`" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def listed(names: Sequence[str]) -> str:
    """Some names in a row; of many, the first."""
    shown = ", ".join(cut(name) for name in names[:_MOST_LISTED])
    return f"{shown} and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else shown or "none"
