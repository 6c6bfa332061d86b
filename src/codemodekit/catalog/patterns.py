"""A regular expression of a schema in, what it takes to try it out: how large its program is, and which engine runs it.

Patterns are hostile: three words make a program of megabytes, and a program of megabytes passes through each character
of a text. Nothing tells the size of a program, so it is compiled under growing bounds until one holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import jsonschema_rs

from codemodekit._json import JsonValue

__all__ = [
    "BACKTRACKING",
    "CONTENT",
    "CONTENT_SIZE",
    "LINEAR",
    "LONGEST_FOR_BACKTRACKING",
    "SMALL",
    "PatternCost",
    "contents_of",
    "pattern_cost",
    "patterns_of",
]

CONTENT: Final = ("contentEncoding", "contentMediaType")
"""Keywords by which draft 7 has a text decoded, or read as JSON."""
CONTENT_SIZE: Final = 2_000
"""What that takes, as if it were a pattern whose program has so many bytes."""
SMALL: Final = 8 << 10
"""Bytes that the program of nearly every pattern keeps to which a person writes."""
_SIZES: Final = (SMALL, 64 << 10, 1 << 20)
_LARGEST: Final = _SIZES[-1]
_TOO_LARGE: Final = 1 << 30
_LONGEST: Final = 32_768
"""Characters of a pattern that are tried at all: an engine needs a thousand times as much to read one."""
_CACHED_LENGTH: Final = 1_000

LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=_LARGEST, dfa_size_limit=1 << 20)
BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=20_000, size_limit=_LARGEST, dfa_size_limit=1 << 20
)
LONGEST_FOR_BACKTRACKING: Final = 2_048
"""The engine that knows lookaround restarts at every character, so its bound holds only for short text."""


@dataclass(frozen=True, slots=True)
class PatternCost:
    """What one pattern takes."""

    size: int
    """Bytes its program keeps to."""
    backtracks: bool
    """It looks around or back, which the linear engine cannot."""


def pattern_cost(pattern: str) -> PatternCost | None:
    """The cost of a pattern; None if no engine takes it."""
    if len(pattern) > _LONGEST:
        return PatternCost(_TOO_LARGE, backtracks=False)
    return _cached(pattern) if len(pattern) <= _CACHED_LENGTH else _tried(pattern)


def _tried(pattern: str) -> PatternCost | None:
    for size in _SIZES:
        if _compiles(pattern, jsonschema_rs.RegexOptions(size_limit=size, dfa_size_limit=1 << 20)):
            return PatternCost(size, backtracks=False)
    return PatternCost(_SIZES[1], backtracks=True) if _compiles(pattern, BACKTRACKING) else None


_cached = lru_cache(maxsize=4_096)(_tried)


def _compiles(pattern: str, options: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)
    except Exception:  # whatever it is, compiling the schema says it better
        return False
    return True


def contents_of(schema: JsonValue) -> int:
    """How often a schema may ask for text to be read as something else, in data as well."""
    return sum(isinstance(node.get(keyword), str) for node in _objects(schema) for keyword in CONTENT)


def patterns_of(schema: JsonValue) -> Iterator[str]:
    """Every text of a schema that may be a pattern, in data as well."""
    for node in _objects(schema):
        if isinstance(pattern := node.get("pattern"), str):
            yield pattern
        if isinstance(named := node.get("patternProperties"), dict):
            yield from named


def _objects(schema: JsonValue) -> Iterator[dict[str, JsonValue]]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            yield node
            pending.extend(node.values())
