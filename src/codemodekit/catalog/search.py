"""`search_tools`: a few words in, the tools that are meant out, with how to call them, within a bounded answer.

Local, lexical and deterministic. Only tools that can be called now are found. Knows no protocol: the adapter turns the
answer into its own form.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal, Protocol

from codemodekit._json import digest, dumps, encode, loads
from codemodekit.catalog.addresses import callable_of
from codemodekit.catalog.explain import FieldError
from codemodekit.catalog.index import Hit, SearchIndex, Term
from codemodekit.catalog.near import near_names
from codemodekit.catalog.query import terms_of
from codemodekit.catalog.snapshot import Catalog, CatalogTool
from codemodekit.catalog.words import compact, light_stem, words
from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import RESULT_CONTRACT, declare_tool
from codemodekit.errors import CodeModeKitError

__all__ = ["SearchIndex", "SearchRefused", "SearchView", "ToolSearch"]

_LONGEST_QUERY: Final = 256
_LONGEST_DESCRIPTION: Final = 300
_DEFAULT_LIMIT: Final = 5
_MOST: Final = {"summary": 8, "typescript": 5}
_MOST_BYTES: Final = 64 * 1024
_RERANKED: Final = 40
"""How many of the best matches are looked at once more for how well their names fit."""
_MOST_SUGGESTIONS: Final = 3
_MOST_NAMESPACES: Final = 500


class SearchRefused(CodeModeKitError, ValueError):
    """The request itself is wrong; `errors` says where and what was expected."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__(
            "; ".join(f"{error.pointer[1:]} must be {error.expected}, not {error.given}" for error in errors)
        )
        self.errors = errors


class SearchView(Protocol):
    """What search needs to see of the catalogue's manager."""

    @property
    def index(self) -> SearchIndex: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def snapshot(self) -> Catalog: ...

    def known(self, source: str) -> bool: ...

    def available(self) -> tuple[str, ...]: ...

    def state(self, source: str) -> str: ...


@dataclass(frozen=True, slots=True)
class _Request:
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
        return digest([self.query, self.source])[:12]


@dataclass(frozen=True, slots=True)
class _Page:
    """The part of an answer that differs by the kind of query."""

    total: int = 0
    tools: tuple[CatalogTool, ...] = ()
    offset: int = 0
    namespaces: tuple[dict[str, Any], ...] = ()
    suggestions: tuple[str, ...] = ()
    diagnostic: str | None = None


class ToolSearch:
    """Searches the tools of a catalogue."""

    def __init__(
        self,
        manager: SearchView,
        *,
        declare: Callable[[str, ToolDefinition, str], str] = declare_tool,
        result_contract: str = RESULT_CONTRACT,
    ) -> None:
        self._manager = manager
        self._declare = declare
        self._result_contract = result_contract

    async def search(
        self,
        query: str,
        *,
        source: str | None = None,
        detail: Literal["summary", "typescript"] | str = "summary",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """The answer of `search_tools`.

        Raises:
            SearchRefused: the request is not one.
        """
        request = _checked(query, source, detail, limit, cursor)
        # the catalogue is pinned here, on the loop; ranking and declaring happen beside it
        view = _View(self._manager.snapshot(), self._manager.available(), self._manager)
        return await asyncio.to_thread(self._answer, request, view)

    def _answer(self, request: _Request, view: _View) -> dict[str, Any]:
        page = view.page(request)
        results = [self._result(tool, request.detail) for tool in page.tools]
        return _bounded(self._frame(request, view.catalog, page), results, page, view.catalog.revision, request)

    def _frame(self, request: _Request, catalog: Catalog, page: _Page) -> dict[str, Any]:
        frame: dict[str, Any] = {"catalogRevision": catalog.revision, "query": request.query, "total": page.total}
        if page.namespaces:
            frame["namespaces"] = list(page.namespaces)
        if request.detail == "typescript" and page.tools:
            frame["resultContract"] = self._result_contract
        if page.suggestions:
            frame["suggestions"] = list(page.suggestions)
        if page.diagnostic is not None:
            frame["diagnostic"] = page.diagnostic
        return frame

    def _result(self, tool: CatalogTool, detail: str) -> dict[str, Any]:
        definition = tool.definition
        result: dict[str, Any] = {"source": tool.source, "tool": definition.name, "callable": tool.callable}
        if detail == "summary" and (description := _summary(definition.description)):
            result["description"] = description
        if definition.annotations.read_only is not None:
            result["readOnly"] = definition.annotations.read_only
        if detail == "typescript":
            result["declaration"] = self._declare(tool.source, definition, tool.callable)
        return result


# --- requests ---------------------------------------------------------------------------------------------------------


def _checked(query: object, source: object, detail: object, limit: object, cursor: object) -> _Request:
    errors = tuple(_faults(query, source, detail, limit, cursor))
    if errors:
        raise SearchRefused(errors)
    assert isinstance(query, str)
    assert isinstance(detail, str)
    most = _MOST[detail]
    wanted = limit if isinstance(limit, int) else _DEFAULT_LIMIT
    return _Request(
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


def _cursor(revision: str, request: _Request, offset: int) -> str:
    return base64.urlsafe_b64encode(dumps([revision, request.key(), offset]).encode()).decode().rstrip("=")


def _offset(revision: str, request: _Request) -> int | str:
    """Where the page begins, or a sentence why the cursor is of no use."""
    if request.cursor is None:
        return 0
    try:
        padded = request.cursor + "=" * (-len(request.cursor) % 4)
        given = loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, binascii.Error, RecursionError):
        return "the cursor is not one that a search gave; search again without it"
    match given:
        case [str(of), str(key), int(offset)] if offset > 0 and not isinstance(offset, bool):
            if of != revision:
                return "the tools have changed since this cursor was given; search again without it"
            if key != request.key():
                return "the cursor belongs to another query; search again without it"
            return offset
        case _:
            return "the cursor is not one that a search gave; search again without it"


# --- finding ----------------------------------------------------------------------------------------------------------


class _View:
    """One catalogue at one moment, and which of its sources can be called."""

    def __init__(self, catalog: Catalog, available: Sequence[str], manager: SearchView) -> None:
        self.catalog = catalog
        self._manager = manager
        self._available = tuple(sorted(name for name in available if name in catalog.sources))
        self._absent = tuple((name, str(manager.state(name))) for name in manager.names if name not in self._available)

    def page(self, request: _Request) -> _Page:
        """The page that a request asks for."""
        if request.source is not None and request.source not in self._available:
            return self._without_source(request.source)
        offset = _offset(self.catalog.revision, request)
        if isinstance(offset, str):
            return _Page(diagnostic=offset)
        sources = self._available if request.source is None else (request.source,)
        return self._listed(request, sources, offset) if request.lists else self._found(request, sources, offset)

    def _without_source(self, source: str) -> _Page:
        if self._manager.known(source):
            state = dict(self._absent).get(source, "unavailable")
            return _Page(diagnostic=f"the source {source!r} is {state}; its tools cannot be called now")
        near = near_names(source, self._manager.names)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; search for '*' to list the sources"
        return _Page(diagnostic=f"there is no source {_short(source)!r}{hint}", suggestions=near)

    def _listed(self, request: _Request, sources: Sequence[str], offset: int) -> _Page:
        tools = [tool for source in sources for tool in self.catalog.sources[source].tools.values()]
        census = self._census() if request.source is None and offset == 0 else ()
        page = tuple(tools[offset : offset + request.limit])
        return _Page(len(tools), page, offset, namespaces=census, diagnostic=self._missing())

    def _census(self) -> tuple[dict[str, Any], ...]:
        return tuple(
            {"source": name, "namespace": _namespace(name), "tools": len(self.catalog.sources[name].tools)}
            for name in self._available[:_MOST_NAMESPACES]
        )

    def _missing(self) -> str | None:
        if not self._absent:
            return None
        told = ", ".join(f"{_short(name)!r} is {state}" for name, state in self._absent[:8])
        more = f" and {len(self._absent) - 8} more" if len(self._absent) > 8 else ""
        return f"not every source can be called now: {told}{more}"

    def _found(self, request: _Request, sources: Sequence[str], offset: int) -> _Page:
        exact = self._exact(request.query, sources)
        need = max(offset + request.limit + len(exact), _RERANKED)
        total, ranked = self._ranked(request.query, sources, need)
        first = {(tool.source, tool.definition.name) for tool in exact}
        ordered = [*exact, *(tool for tool in ranked if (tool.source, tool.definition.name) not in first)]
        page = tuple(ordered[offset : offset + request.limit])
        if ordered:
            # a name without a letter is found exactly only, and not counted by the index
            return _Page(max(total, len(ordered)), page, offset)
        return _Page(suggestions=self._suggestions(request.query, sources), diagnostic=self._missing())

    def _exact(self, query: str, sources: Sequence[str]) -> list[CatalogTool]:
        """Tools that the query names as a whole: to the letter first, then however written."""
        asked = query.strip().split("(", 1)[0].strip() or query.strip()
        found = [
            tool
            for source, name in self._manager.index.named(compact(asked), sources)
            if (tool := self._tool(source, name))
        ]
        found += [tool for source in sources if (tool := self._tool(source, asked)) is not None and tool not in found]
        return sorted(found, key=lambda tool: (_exactness(tool, asked), tool.source, tool.definition.name))

    def _tool(self, source: str, name: str) -> CatalogTool | None:
        found = self.catalog.sources.get(source)
        return None if found is None else found.tools.get(name)

    def _ranked(self, query: str, sources: Sequence[str], need: int) -> tuple[int, list[CatalogTool]]:
        index = self._manager.index
        terms = terms_of(query, index.vocabulary(), index.occurs)
        if not terms or not sources:
            return 0, []
        match = index.match(terms, sources, need)
        # the index may be a moment ahead of the pinned catalogue
        ordered: list[CatalogTool] = []
        for group in match.groups:
            tools = [(tool, hit) for hit in group if (tool := self._tool(hit.source, hit.tool)) is not None]
            ordered += _by_name(tools[:_RERANKED], terms)
            ordered += [tool for tool, _ in tools[_RERANKED:]]
        return match.total, ordered

    def _suggestions(self, query: str, sources: Sequence[str]) -> tuple[str, ...]:
        """Callables with a similar name; short names tell more, so the source's own name counts as well."""
        tools = [tool for source in sources for tool in self.catalog.sources[source].tools.values()]
        by_name = {tool.definition.name: tool.callable for tool in reversed(tools)}
        near = near_names(query.strip(), by_name, _MOST_SUGGESTIONS)
        return tuple(by_name[name] for name in near)


def _exactness(tool: CatalogTool, asked: str) -> int:
    name = tool.definition.name
    if asked in (tool.callable, f"{tool.source}.{name}", tool.callable.removeprefix("tools.")):
        return 0
    if asked == name:
        return 1
    return 2 if compact(asked) != compact(name) else 3


@lru_cache(maxsize=16_384)
def _name_words(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a name, and their stems."""
    found = words(name)
    return frozenset(found), frozenset(map(light_stem, found))


def _by_name(found: Sequence[tuple[CatalogTool, Hit]], terms: Sequence[Term]) -> list[CatalogTool]:
    """Matches in the order of their rank, corrected by how much of the query is in the name, and how little else."""
    if not found:
        return []
    best = max(hit.score for _, hit in found) or 1.0
    asked = [{word for choice in (*term.choices, *term.guesses) for word in choice.split()} for term in terms]
    stems = [{light_stem(word) for word in choices} for choices in asked]
    scored = []
    for place, (tool, hit) in enumerate(found):
        literally, named = _name_words(tool.definition.name)
        covered = [stem & named for stem in stems]
        coverage = sum(map(bool, covered)) / len(stems)
        precision = len(set[str]().union(*covered)) / len(named) if named else 0.0
        literal = sum(not choices.isdisjoint(literally) for choices in asked) / len(asked)
        scored.append((-(hit.score / best + coverage + 0.5 * precision + 0.3 * literal), place, tool))
    scored.sort(key=lambda entry: entry[:2])
    return [tool for _, _, tool in scored]


# --- answers ----------------------------------------------------------------------------------------------------------


def _bounded(
    frame: Mapping[str, Any], results: list[dict[str, Any]], page: _Page, revision: str, request: _Request
) -> dict[str, Any]:
    """The answer with as many whole results as its size allows."""
    while True:
        answer = _assembled(frame, results, page, revision, request)
        if len(encode(answer)) <= _MOST_BYTES:
            return answer
        if results:
            results = results[:-1]
        elif len(page.namespaces) > 1:
            page = replace(page, namespaces=page.namespaces[: len(page.namespaces) // 2])
            frame = {**frame, "namespaces": list(page.namespaces)}
        else:
            frame = {key: value for key, value in frame.items() if key not in ("namespaces", "suggestions")}
            page = replace(page, namespaces=())


def _assembled(
    frame: Mapping[str, Any], results: Sequence[Mapping[str, Any]], page: _Page, revision: str, request: _Request
) -> dict[str, Any]:
    end = page.offset + len(results)
    truncated = end < page.total and bool(page.tools)
    answer: dict[str, Any] = {**frame, "returned": len(results), "truncated": truncated, "results": list(results)}
    if truncated and results:
        answer["nextCursor"] = _cursor(revision, request, end)
    elif truncated:
        answer.setdefault("diagnostic", "the next result alone is too large to show; ask for detail 'summary'")
    order = ("catalogRevision", "query", "total", "returned", "truncated", "nextCursor", "results")
    return {key: answer[key] for key in (*order, *(key for key in answer if key not in order)) if key in answer}


def _namespace(source: str) -> str:
    return callable_of(source, "x").removesuffix(".x")


def _summary(description: str) -> str:
    start = description[: 4 * _LONGEST_DESCRIPTION]
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in start).split())
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1].rstrip() + "…"


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:79] + "…"
