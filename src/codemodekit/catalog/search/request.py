"""Arguments of a search in, a request out, or what is wrong with them; and the cursors that lead from page to page.

A cursor names the catalogue and the query it belongs to and a place in their results, sealed with a checksum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from codemodekit._json import JsonValue, digest
from codemodekit.catalog.explain import FieldError
from codemodekit.errors import CodeModeKitError

__all__ = ["Request", "SearchRefused", "cursor_of", "offset_of", "request_of"]

_LONGEST_QUERY: Final = 256
"""Characters are code points, as in JSON Schema."""
_DEFAULT_LIMIT: Final = 5
_MOST: Final = {"summary": 8, "typescript": 5}
_DIGEST: Final = 8
_CURSOR: Final = re.compile(r"[0-9a-f]{8}\.[0-9a-f]{8}\.[1-9][0-9]{0,8}\.[0-9a-f]{8}", re.ASCII)


class SearchRefused(CodeModeKitError, ValueError):
    """The request itself is wrong; `errors` says where and what was expected."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__(
            "; ".join(f"{error.pointer[1:]} must be {error.expected}, not {error.given}" for error in errors)
        )
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Request:
    """What is searched for."""

    query: str
    source: str | None
    detail: str
    limit: int
    cursor: str | None

    @property
    def lists(self) -> bool:
        return self.query.strip() == "*"

    def key(self) -> str:
        """What a cursor is bound to, beside the catalogue."""
        return _short([self.query, self.source])


def request_of(query: object, source: object, detail: object, limit: object, cursor: object) -> Request:
    """The request that these arguments are.

    Raises:
        SearchRefused: they are none.
    """
    errors = tuple(_faults(query, source, detail, limit, cursor))
    if errors:
        raise SearchRefused(errors)
    assert isinstance(query, str)
    assert isinstance(detail, str)
    most = _MOST[detail]
    wanted = limit if isinstance(limit, int) else _DEFAULT_LIMIT
    return Request(
        query,
        source if isinstance(source, str) else None,
        detail,
        min(wanted, most),
        cursor if isinstance(cursor, str) else None,
    )


def _faults(query: object, source: object, detail: object, limit: object, cursor: object) -> Iterator[FieldError]:
    if not isinstance(query, str) or not query.strip() or len(query) > _LONGEST_QUERY:
        given = f"{len(query)} characters" if isinstance(query, str) else type(query).__name__
        yield FieldError("/query", f"text of 1 to {_LONGEST_QUERY} characters, or '*' to list", given)
    if source is not None and not isinstance(source, str):
        yield FieldError("/source", "the name of a source", type(source).__name__)
    if not isinstance(detail, str) or detail not in _MOST:
        yield FieldError("/detail", "'summary' or 'typescript'", repr(detail)[:40])
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 8):
        yield FieldError("/limit", "a whole number from 1 to 8", repr(limit)[:40])
    if cursor is not None and not isinstance(cursor, str):
        yield FieldError("/cursor", "the nextCursor of an earlier answer", type(cursor).__name__)


def cursor_of(stamp: str, request: Request, offset: int) -> str:
    """What leads to the results from `offset` on, as long as `stamp` stays the same."""
    plain = f"{_short(stamp)}.{request.key()}.{offset}"
    return f"{plain}.{_short(plain)}"


def offset_of(stamp: str, request: Request) -> int | str:
    """Where the page begins, or a sentence why the cursor is of no use."""
    if request.cursor is None:
        return 0
    plain, _, seal = request.cursor.rpartition(".")
    if _CURSOR.fullmatch(request.cursor) is None or seal != _short(plain):
        return "the cursor is not one that a search gave; search again without it"
    of, key, offset = plain.split(".")
    if of != _short(stamp):
        return "the tools have changed since this cursor was given; search again without it"
    if key != request.key():
        return "the cursor belongs to another query; search again without it"
    return int(offset)


def _short(content: JsonValue) -> str:
    return digest(content)[:_DIGEST]
