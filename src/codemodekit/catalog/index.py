"""Full-text index over the tools of all sources: one source is replaced at a time, the others' rows stay as they are.

SQLite's FTS5 in memory does the work; its query language never sees a query, only words in quotes. Row numbers follow
from the names of source and tool, so ties are broken alike whatever the order in which sources came.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from codemodekit._json import JsonValue
from codemodekit.catalog.snapshot import CatalogTool, SourceCatalog
from codemodekit.catalog.spelling import Vocabulary
from codemodekit.catalog.words import compact, spaced, terms, words
from codemodekit.errors import ClosedError

__all__ = ["Hit", "Match", "SearchIndex", "Term"]

_ROW_BITS: Final = 32
_WEIGHTS: Final = "8.0, 4.0, 2.0, 1.0"
_LONGEST_DESCRIPTION: Final = 4_000
_MOST_PROPERTIES: Final = 80
_MOST_SUBSCHEMAS: Final = 2_000
_QUICK: Final = 600
"""Rows that are ranked without a thought."""
_MOST_PAIRED: Final = 8


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query with everything that counts as it."""

    choices: tuple[str, ...]
    """Words or phrases (words parted by blanks), best first."""
    prefix: str | None = None
    """Words that begin so count as well."""
    guesses: tuple[str, ...] = ()
    """Words that nobody wrote, but may have meant."""

    def expression(self) -> str:
        """In the language of FTS5."""
        return _any_of((*self.choices, *self.guesses), self.prefix)

    def as_written(self) -> str | None:
        """The same without guesses; None if nothing is left."""
        return _any_of(self.choices, self.prefix) if self.choices or self.prefix is not None else None


def _any_of(choices: Sequence[str], prefix: str | None) -> str:
    quoted = [f'"{choice}"' for choice in choices]
    if prefix is not None:
        quoted.append(f'"{prefix}" *')
    return f"({' OR '.join(quoted)})"


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that matches, and how well (higher is better)."""

    source: str
    tool: str
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """What a query matches: how many in all, and the best of them."""

    total: int
    groups: tuple[tuple[Hit, ...], ...]
    """In order; every hit of a group goes before all of the next one."""


class SearchIndex:
    """Index over a fixed set of sources. Safe to use from any thread."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._ordinals = {name: place for place, name in enumerate(sorted(sources))}
        self._names = sorted(sources)
        self._tools: dict[str, tuple[str, ...]] = {}
        self._exact: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._terms: dict[str, frozenset[str]] = {}
        self._revisions: dict[str, str] = {}
        self._vocabulary: Vocabulary | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._connection: sqlite3.Connection | None = None

    def replace(self, contribution: SourceCatalog) -> None:
        """Put the tools of a source in the place of those it had. Does nothing once the index is closed."""
        if self._revisions.get(contribution.name) == contribution.revision:
            return
        rows, vocabulary = _rows(contribution, self._ordinals[contribution.name] << _ROW_BITS)
        exact = _by_compact_name(contribution)
        with self._lock:
            if self._closed:
                return
            self._write(contribution.name, rows)
            self._tools[contribution.name] = tuple(contribution.tools)
            self._exact[contribution.name] = exact
            self._terms[contribution.name] = vocabulary
            self._revisions[contribution.name] = contribution.revision
            self._vocabulary = None

    def close(self) -> None:
        """Free the memory. Twice is fine."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def named(self, key: str, sources: Sequence[str]) -> list[tuple[str, str]]:
        """Tools whose name, alone or after that of its source, is `key` when both are made compact; in order."""
        found = {(source, tool) for source in sources for tool in self._exact.get(source, {}).get(key, ())}
        return sorted(found)

    def vocabulary(self) -> Vocabulary:
        """All words in names of sources, tools and properties."""
        with self._lock:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(frozenset().union(*self._terms.values()))
            return self._vocabulary

    def occurs(self, word: str) -> bool:
        """Whether any tool has this word, in whatever form, anywhere."""
        with self._lock:
            found = self._query("SELECT 1 FROM tools WHERE tools MATCH ? LIMIT 1", (f'"{word}"',))
            return bool(found)

    def match(self, query: Sequence[Term], sources: Sequence[str], need: int) -> Match:
        """The best `need` tools of these sources that match a term; more terms, rarer terms and names count more."""
        place = self._place(sources)
        with self._lock:
            anyone = " OR ".join(term.expression() for term in query)
            total = self._count(anyone, place)
            found: dict[int, None] = {}
            groups: list[tuple[Hit, ...]] = []
            for expression in self._tiers(query, anyone, total, place):
                rows = self._ranked(expression, place, need + len(found))
                fresh = [(row, score) for row, score in rows if row not in found]
                found.update(dict.fromkeys(row for row, _ in fresh))
                groups.append(tuple(self._hit(row, score) for row, score in fresh))
                if len(found) >= min(need, total):
                    break
        return Match(total, tuple(group for group in groups if group))

    def _tiers(self, query: Sequence[Term], anyone: str, total: int, place: str) -> list[str]:
        """Expressions from strict to loose, to be ranked one after the other until enough is found.

        What has a word of the query as it was written goes before what has guesses only: `recent` may have been meant
        for `reset`, but not rather than the `commits` beside it.
        """
        tiers = self._by_strictness(query, anyone, total, place)
        written = [expression for term in query if (expression := term.as_written()) is not None]
        if not written or not any(term.guesses for term in query):
            return tiers
        return [*(f"({tier}) AND ({' OR '.join(written)})" for tier in tiers), anyone]

    def _by_strictness(self, query: Sequence[Term], anyone: str, total: int, place: str) -> list[str]:
        """The whole query if few tools match it; else first what matches all terms, two of them, or the rarest one.

        Ranking costs some microseconds a row, and the rest would seldom come out on top.
        """
        if total <= _QUICK or len(query) == 1:
            return [anyone]
        terms = [term.expression() for term in query]
        rarest = min(terms, key=lambda term: self._count(term, place) or total)
        tiers = [" AND ".join(terms), f"({_pairs(terms)}) OR {rarest}", _pairs(terms)]
        counts = [self._count(tier, place) for tier in tiers]
        first = next((tier for tier, count in zip(tiers[1:], counts[1:], strict=True) if count <= _QUICK), tiers[0])
        return [first, anyone]

    # --- SQL ----------------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise ClosedError("this catalogue has been closed")
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._connection.execute(
                "CREATE VIRTUAL TABLE tools USING fts5(name, source, description, properties,"
                " tokenize='porter unicode61 remove_diacritics 2')"
            )
        return self._connection

    def _write(self, source: str, rows: Sequence[tuple[int, str, str, str, str]]) -> None:
        connection = self._open()
        first = self._ordinals[source] << _ROW_BITS
        connection.execute("BEGIN")
        try:
            connection.execute("DELETE FROM tools WHERE rowid BETWEEN ? AND ?", (first, first + (1 << _ROW_BITS) - 1))
            connection.executemany(
                "INSERT INTO tools(rowid, name, source, description, properties) VALUES (?, ?, ?, ?, ?)", rows
            )
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _query(self, sql: str, values: tuple[object, ...]) -> list[tuple[int, float]]:
        with closing(self._open().execute(sql, values)) as cursor:
            return cursor.fetchall()

    def _place(self, sources: Sequence[str]) -> str:
        """A condition on rows; empty when it would hold for all of them."""
        wanted = {self._ordinals[source] for source in sources}
        if len(wanted) == len(self._ordinals):
            return ""
        return f" AND (rowid >> {_ROW_BITS}) IN ({','.join(map(str, sorted(wanted)))})"

    def _count(self, expression: str, place: str) -> int:
        return int(self._query(f"SELECT count(*) FROM tools WHERE tools MATCH ?{place}", (expression,))[0][0])

    def _ranked(self, expression: str, place: str, most: int) -> list[tuple[int, float]]:
        return self._query(
            f"SELECT rowid, -bm25(tools, {_WEIGHTS}) AS score FROM tools WHERE tools MATCH ?{place}"
            " ORDER BY score DESC, rowid LIMIT ?",
            (expression, most),
        )

    def _hit(self, row: int, score: float) -> Hit:
        source = self._names[row >> _ROW_BITS]
        return Hit(source, self._tools[source][row & ((1 << _ROW_BITS) - 1)], score)


def _pairs(terms: Sequence[str]) -> str:
    """Any two of the terms."""
    return " OR ".join(f"({one} AND {other})" for one, other in combinations(terms[:_MOST_PAIRED], 2))


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(contribution: SourceCatalog, first: int) -> tuple[list[tuple[int, str, str, str, str]], frozenset[str]]:
    source = terms(contribution.name)
    source_text, vocabulary = " ".join(source), set(source)
    rows: list[tuple[int, str, str, str, str]] = []
    known: dict[str, list[str]] = {}
    for place, tool in enumerate(contribution.tools.values()):
        name, properties = terms(tool.definition.name), _property_words(tool, known)
        vocabulary.update(name, properties)
        rows.append((first + place, " ".join(name), source_text, _description(tool), " ".join(properties)))
    return rows, frozenset(vocabulary)


def _description(tool: CatalogTool) -> str:
    text = tool.definition.description[:_LONGEST_DESCRIPTION]
    title = tool.definition.annotations.title
    whole = f"{title[:200]}\n{text}" if isinstance(title, str) else text
    return _storable(spaced(whole))


def _storable(text: str) -> str:
    """Text that SQLite takes: no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _property_words(tool: CatalogTool, known: dict[str, list[str]]) -> list[str]:
    found: dict[str, None] = {}
    for schema in (tool.definition.input_schema, tool.definition.output_schema):
        for name in _property_names(schema):
            if name not in known:
                known[name] = words(_storable(name[:100]))
            found.update(dict.fromkeys(known[name]))
    return list(found)


def _property_names(schema: JsonValue) -> Iterator[str]:
    """Names of properties, outer ones first, up to a bound."""
    pending: list[JsonValue] = [schema]
    seen = 0
    for node in pending:  # grows while it is walked
        if len(pending) > _MOST_SUBSCHEMAS:
            return
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            for name, member in properties.items():
                seen += 1
                if seen > _MOST_PROPERTIES:
                    return
                yield name
                pending.append(member)
        pending.append(node.get("items"))
        for keyword in ("allOf", "anyOf", "oneOf"):
            if isinstance(alternatives := node.get(keyword), list):
                pending.extend(alternatives[:_MOST_PROPERTIES])


def _by_compact_name(contribution: SourceCatalog) -> dict[str, tuple[str, ...]]:
    prefix = compact(contribution.name)
    found: dict[str, list[str]] = {}
    for tool in contribution.tools:
        name = compact(tool)
        for key in (name, prefix + name, f"tools{prefix}{name}"):
            found.setdefault(key, []).append(tool)
    return {key: tuple(tools) for key, tools in found.items() if key}
