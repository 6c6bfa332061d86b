"""Arguments of the two tools, checked by hand: a model that misspells one is told so in words, as a tool error.

A JSON Schema validator would do, but loading one costs more start-up time than the rest of the server, and these are
seven arguments of known types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from codemodekit._json import JsonValue
from codemodekit.mcp_adapter.definitions import RUN, SEARCH

__all__ = ["BadArguments", "RunArguments", "SearchArguments", "run_arguments", "search_arguments"]

_LONGEST_QUERY: Final = 256
_MOST_RESULTS: Final = 8


class BadArguments(Exception):
    """The arguments do not fit; the message is for the model."""


@dataclass(frozen=True, slots=True)
class RunArguments:
    code: str
    context: JsonValue = None


@dataclass(frozen=True, slots=True)
class SearchArguments:
    query: str
    source: str | None = None
    detail: str = "summary"
    limit: int | None = None
    cursor: str | None = None


def run_arguments(given: Mapping[str, Any]) -> RunArguments:
    """Raises:
    BadArguments: they do not fit `run_typescript`.
    """
    _only(RUN, given, ("code", "context"))
    code = _text(RUN, given, "code")
    if code is None:
        raise BadArguments(f"{RUN} needs 'code': the TypeScript program to run")
    return RunArguments(code, given.get("context"))


def search_arguments(given: Mapping[str, Any]) -> SearchArguments:
    """Raises:
    BadArguments: they do not fit `search_tools`.
    """
    _only(SEARCH, given, ("query", "source", "detail", "limit", "cursor"))
    query = _text(SEARCH, given, "query")
    if query is None or not 1 <= len(query) <= _LONGEST_QUERY:
        raise BadArguments(
            f"{SEARCH} needs 'query': 1 to {_LONGEST_QUERY} characters, or '*' for a list of all sources"
        )
    detail = _text(SEARCH, given, "detail") or "summary"
    if detail not in ("summary", "typescript"):
        raise BadArguments(f"'detail' of {SEARCH} is 'summary' or 'typescript', not {detail[:40]!r}")
    source, cursor = _text(SEARCH, given, "source"), _text(SEARCH, given, "cursor")
    return SearchArguments(query, source, detail, _limit(given.get("limit")), cursor)


def _only(tool: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(map(repr, known))}"
            raise BadArguments(f"{tool} has no argument {name[:40]!r}; {hint}")


def _text(tool: str, given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise BadArguments(f"{name!r} of {tool} must be a string, not {type(value).__name__}")
    return value


def _limit(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_RESULTS:
        raise BadArguments(f"'limit' of {SEARCH} is a whole number from 1 to {_MOST_RESULTS}")
    return value
