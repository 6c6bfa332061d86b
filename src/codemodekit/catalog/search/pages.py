"""A request in, the page of tools that it asks for out, of one catalogue at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol

from codemodekit._json import digest
from codemodekit.catalog.addresses import callable_of
from codemodekit.catalog.near import near_names
from codemodekit.catalog.search.candidates import Candidates, candidates_of
from codemodekit.catalog.search.index import Hit, SearchIndex
from codemodekit.catalog.search.query import query_of
from codemodekit.catalog.search.ranking import Found, ranked
from codemodekit.catalog.search.request import Request, offset_of
from codemodekit.catalog.search.words import compact
from codemodekit.catalog.snapshot import Catalog, CatalogTool

__all__ = ["Page", "SearchView", "View"]

_MOST_SUGGESTIONS: Final = 3
_MOST_NAMESPACES: Final = 500
_MOST_TOLD: Final = 8


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

    async def next_settled(self, timeout_s: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Page:
    """The part of an answer that differs by the kind of query."""

    total: int = 0
    tools: tuple[CatalogTool, ...] = ()
    offset: int = 0
    namespaces: tuple[dict[str, Any], ...] = ()
    suggestions: tuple[str, ...] = ()
    diagnostic: str | None = None
    is_refused: bool = False
    """The request is of no use as it is, whatever becomes of the sources."""


class View:
    """One catalogue at one moment, and which of its sources can be called."""

    def __init__(self, manager: SearchView) -> None:
        self.catalog = manager.snapshot()
        self._index = manager.index
        self._names = manager.names
        self._available = tuple(sorted(name for name in manager.available() if name in self.catalog.sources))
        present = frozenset(self._available)
        self._absent = {name: str(manager.state(name)) for name in self._names if name not in present}
        self.stamp = digest([self.catalog.revision, *self._available])
        """Equal as long as pages of one search fit together."""

    def waits_for(self, source: str | None) -> bool:
        """Whether the source, or any where none is given, has not ended its first attempt to connect."""
        states = self._absent.values() if source is None else (self._absent.get(source),)
        return "connecting" in states

    def page(self, request: Request) -> Page:
        """The page that a request asks for."""
        if request.source is not None and request.source not in self._available:
            return self._without_source(request.source)
        offset = offset_of(self.stamp, request)
        if isinstance(offset, str):
            return Page(diagnostic=offset, is_refused=True)
        sources = self._available if request.source is None else (request.source,)
        return self._listed(request, sources, offset) if request.lists else self._found(request, sources, offset)

    # --- without a query ----------------------------------------------------------------------------------------------

    def _without_source(self, source: str) -> Page:
        if state := self._absent.get(source):
            again = "; search again in a moment" if state == "connecting" else ""
            return Page(diagnostic=f"the source {source!r} is {state}; its tools cannot be called now{again}")
        near = near_names(source, self._names)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; search for '*' to list the sources"
        return Page(diagnostic=f"there is no source {_short(source)!r}{hint}", suggestions=near, is_refused=True)

    def _listed(self, request: Request, sources: Sequence[str], offset: int) -> Page:
        contents = [self.catalog.sources[source].tools for source in sources]
        tools = (tool for content in contents for tool in content.values())
        census = self._census() if request.source is None and offset == 0 else ()
        page = tuple(islice(tools, offset, offset + request.limit))
        return Page(sum(map(len, contents)), page, offset, namespaces=census, diagnostic=self._missing(request, offset))

    def _census(self) -> tuple[dict[str, Any], ...]:
        return tuple(
            {"source": name, "namespace": _namespace(name), "tools": len(self.catalog.sources[name].tools)}
            for name in self._available[:_MOST_NAMESPACES]
        )

    def _missing(self, request: Request, offset: int) -> str | None:
        """Which sources the answer knows nothing of; said on the first page."""
        if not self._absent or request.source is not None or offset > 0:
            return None
        told = ", ".join(f"{_short(name)!r} is {state}" for name, state in list(self._absent.items())[:_MOST_TOLD])
        more = f" and {len(self._absent) - _MOST_TOLD} more" if len(self._absent) > _MOST_TOLD else ""
        again = "; search again in a moment" if self.waits_for(None) else ""
        return f"not every source can be called now: {told}{more}{again}"

    # --- by words -----------------------------------------------------------------------------------------------------

    def _found(self, request: Request, sources: Sequence[str], offset: int) -> Page:
        if not sources:
            return Page(diagnostic=self._missing(request, offset))
        exact = self._exact(request.query, sources)
        with self._index.steady():
            total, ordered = self._ordered(request.query, sources, exact, offset + request.limit)
        page = tuple(ordered[offset : offset + request.limit])
        suggestions = () if ordered else self._suggestions(request.query, sources)
        return Page(total, page, offset, suggestions=suggestions, diagnostic=self._missing(request, offset))

    def _ordered(
        self, text: str, sources: Sequence[str], exact: Sequence[CatalogTool], need: int
    ) -> tuple[int, list[CatalogTool]]:
        """How many tools there are, and at least `need` of them if there are so many."""
        query = query_of(text, self._index)
        if not query.terms:
            return len(exact), list(exact)
        candidates = candidates_of(query, self._index, sources)
        # the index may be a moment ahead of the pinned catalogue
        close = [Found(tool, hit.properties) for hit in candidates.close if (tool := self._tool(hit.source, hit.tool))]
        ordered = _once([*exact, *ranked(close, query, candidates.weights)])
        if len(ordered) >= need:
            return max(candidates.total, len(ordered)), ordered
        others = self._others(candidates, sources, need + len(ordered))
        everything = _once([*ordered, *(tool for hit in others if (tool := self._tool(hit.source, hit.tool)))])
        are_all = len(others) < need + len(ordered)
        return len(everything) if are_all else max(candidates.total, len(everything)), everything

    def _others(self, candidates: Candidates, sources: Sequence[str], most: int) -> list[Hit]:
        return self._index.best(candidates.anyone, sources, most) if candidates.anyone else []

    def _exact(self, query: str, sources: Sequence[str]) -> list[CatalogTool]:
        """Tools that the query names as a whole: to the letter first, then however written."""
        asked = query.strip().split("(", 1)[0].strip() or query.strip()
        key = compact(asked)  # none for a name without a letter, such as a sign
        named = self._index.named(key, sources) if key else [(source, asked) for source in sources]
        found = [tool for source, name in named if (tool := self._tool(source, name)) is not None]
        return sorted(found, key=lambda tool: (_exactness(tool, asked), tool.source, tool.definition.name))

    def _tool(self, source: str, name: str) -> CatalogTool | None:
        found = self.catalog.sources.get(source)
        return None if found is None else found.tools.get(name)

    def _suggestions(self, query: str, sources: Sequence[str]) -> tuple[str, ...]:
        """Callables with a similar name; short names tell more, so the source's own name counts as well."""
        tools = [tool for source in sources for tool in self.catalog.sources[source].tools.values()]
        by_name = {tool.definition.name: tool.callable for tool in reversed(tools)}
        near = near_names(query.strip(), by_name, _MOST_SUGGESTIONS)
        return tuple(by_name[name] for name in near)


def _once(tools: Sequence[CatalogTool]) -> list[CatalogTool]:
    """Each tool where it comes first."""
    found: dict[tuple[str, str], CatalogTool] = {}
    for tool in tools:
        found.setdefault((tool.source, tool.definition.name), tool)
    return list(found.values())


def _exactness(tool: CatalogTool, asked: str) -> int:
    name = tool.definition.name
    if asked in (tool.callable, f"{tool.source}.{name}", tool.callable.removeprefix("tools.")):
        return 0
    if asked == name:
        return 1
    return 2 if compact(asked) != compact(name) else 3


def _namespace(source: str) -> str:
    return callable_of(source, "x").removesuffix(".x")


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:79] + "…"
