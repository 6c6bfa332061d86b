"""Full-text index over the tools of all sources: one source is replaced at a time, the others' rows stay as they are.

SQLite's FTS5 in memory does the work; its query language never sees a query, only words in quotes. Row numbers follow
from the names of source and tool, so ties are broken alike whatever the order in which sources came.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from codemodekit.catalog.search.rows import Row, Rows, rows_of
from codemodekit.catalog.search.spelling import Vocabulary
from codemodekit.catalog.search.words import compact
from codemodekit.catalog.snapshot import SourceCatalog
from codemodekit.errors import ClosedError

__all__ = ["Hit", "SearchIndex"]

_ROW_BITS: Final = 32
_WEIGHTS: Final = "8.0, 4.0, 2.0, 1.0"
_TOKENIZER: Final = "porter unicode61 remove_diacritics 2"


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that matches."""

    source: str
    tool: str
    properties: tuple[str, ...] = ()
    """Words in the names of its properties."""


class SearchIndex:
    """Index over a fixed set of sources. Safe to use from any thread."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._ordinals = {name: place for place, name in enumerate(sorted(sources))}
        self._names = sorted(sources)
        self._sources: dict[str, tuple[str, ...]] = {}
        for name in self._names:
            if key := compact(name):
                self._sources[key] = (*self._sources.get(key, ()), name)
        self._kept: dict[str, Rows] = {}
        self._exact: dict[str, tuple[tuple[str, str], ...]] = {}
        """Sources and tools by compact names."""
        self._revisions: dict[str, str] = {}
        self._vocabulary: Vocabulary | None = None
        self._lock = threading.RLock()
        self._closed = False
        self._connection: sqlite3.Connection | None = None

    def replace(self, contribution: SourceCatalog) -> None:
        """Put the tools of a source in the place of those it had. Does nothing once the index is closed."""
        if self._revisions.get(contribution.name) == contribution.revision:
            return
        kept = rows_of(contribution, self._ordinals[contribution.name] << _ROW_BITS)
        with self._lock:
            if self._closed:
                return
            self._write(contribution.name, kept.rows)
            self._rename(contribution.name, kept.exact)
            # the text is in the database now
            self._kept[contribution.name] = Rows((), kept.tools, kept.properties, kept.vocabulary, kept.exact)
            self._revisions[contribution.name] = contribution.revision
            self._vocabulary = None

    def close(self) -> None:
        """Free the memory. Twice is fine."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Nothing is replaced meanwhile."""
        with self._lock:
            yield

    # --- names --------------------------------------------------------------------------------------------------------

    def named(self, key: str, sources: Sequence[str]) -> list[tuple[str, str]]:
        """Tools whose name, alone or after that of its source, is `key` when both are made compact; in order."""
        with self._lock:
            found = self._exact.get(key, ())
        wanted = frozenset(sources) if found else frozenset[str]()
        return sorted(entry for entry in found if entry[0] in wanted)

    def sources_named(self, key: str) -> tuple[str, ...]:
        """Sources whose name is `key` when both are made compact."""
        return self._sources.get(key, ())

    def vocabulary(self) -> Vocabulary:
        """All words in names of sources, tools and properties."""
        with self._lock:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(rows.vocabulary for rows in self._kept.values())
            return self._vocabulary

    def _rename(self, source: str, exact: Mapping[str, Sequence[str]]) -> None:
        """Put the compact names of a source in the place of those it had."""
        for key in self._kept[source].exact if source in self._kept else ():
            self._exact[key] = tuple(entry for entry in self._exact[key] if entry[0] != source)
            if not self._exact[key]:
                del self._exact[key]
        for key, tools in exact.items():
            self._exact[key] = (*self._exact.get(key, ()), *((source, tool) for tool in tools))

    # --- full text ----------------------------------------------------------------------------------------------------

    def occurs(self, word: str) -> bool:
        """Whether any tool has this word, in whatever form, anywhere."""
        with self._lock:
            return bool(self._query("SELECT 1 FROM tools WHERE tools MATCH ? LIMIT 1", (f'"{word}"',)))

    @property
    def size(self) -> int:
        """Tools in all sources."""
        return sum(len(rows.tools) for rows in self._kept.values())

    def count(self, expression: str, sources: Sequence[str] | None = None) -> int:
        """Tools of these sources, or of all, that match an expression of FTS5."""
        with self._lock:
            where = self._place(sources)
            return int(self._query(f"SELECT count(*) FROM tools WHERE tools MATCH ?{where}", (expression,))[0][0])

    def best(self, expression: str, sources: Sequence[str], most: int) -> list[Hit]:
        """The tools of these sources that match an expression best: names count most, then sources, descriptions."""
        with self._lock:
            rows = self._query(
                f"SELECT rowid FROM tools WHERE tools MATCH ?{self._place(sources)}"
                f" ORDER BY bm25(tools, {_WEIGHTS}), rowid LIMIT ?",
                (expression, most),
            )
            return [self._hit(row) for (row,) in rows]

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise ClosedError("this catalogue has been closed")
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._connection.execute(
                f"CREATE VIRTUAL TABLE tools USING fts5(name, source, description, properties, tokenize='{_TOKENIZER}')"
            )
        return self._connection

    def _write(self, source: str, rows: Sequence[Row]) -> None:
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

    def _query(self, sql: str, values: tuple[object, ...]) -> list[tuple[int]]:
        with closing(self._open().execute(sql, values)) as cursor:
            return cursor.fetchall()

    def _place(self, sources: Sequence[str] | None) -> str:
        """A condition on rows; empty when it would hold for all of them."""
        if sources is None or len(sources) == len(self._ordinals):
            return ""
        wanted = {self._ordinals[source] for source in sources}
        return f" AND (rowid >> {_ROW_BITS}) IN ({','.join(map(str, sorted(wanted)))})"

    def _hit(self, row: int) -> Hit:
        source, place = self._names[row >> _ROW_BITS], row & ((1 << _ROW_BITS) - 1)
        kept = self._kept[source]
        return Hit(source, kept.tools[place], kept.properties[place])
