"""Tools of one source in, what the index keeps of them out: words of names, descriptions within a bound, properties."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from codemodekit._json import JsonValue
from codemodekit.catalog.search.words import compact, folded, spaced, terms, words
from codemodekit.catalog.snapshot import CatalogTool, SourceCatalog

__all__ = ["Row", "Rows", "rows_of"]

_LONGEST_DESCRIPTION: Final = 4_000
_LONGEST_TITLE: Final = 200
_MOST_PROPERTIES: Final = 80
_MOST_SUBSCHEMAS: Final = 2_000

Row: TypeAlias = tuple[int, str, str, str, str]
"""Number, name, source, description and properties of a tool, as text."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything the index keeps of one source."""

    rows: tuple[Row, ...]
    tools: tuple[str, ...]
    properties: tuple[tuple[str, ...], ...]
    """Words in the names of properties, tool by tool."""
    vocabulary: tuple[str, ...]
    """Words of names, sorted."""
    exact: Mapping[str, tuple[str, ...]]
    """Tools by their name, alone or after that of the source, made compact."""


def rows_of(contribution: SourceCatalog, first: int) -> Rows:
    """The rows of a source, numbered from `first` in the order of the names."""
    source = terms(contribution.name)
    source_text, vocabulary = " ".join(source), set(source)
    rows: list[Row] = []
    properties: list[tuple[str, ...]] = []
    known: dict[str, tuple[str, ...]] = {}
    for place, tool in enumerate(contribution.tools.values()):
        name, fields = terms(tool.definition.name), _property_words(tool, known)
        vocabulary.update(name, fields)
        properties.append(fields)
        rows.append((first + place, " ".join(name), source_text, _description(tool), " ".join(fields)))
    return Rows(
        tuple(rows),
        tuple(contribution.tools),
        tuple(properties),
        tuple(sorted(vocabulary)),
        _by_compact_name(contribution),
    )


def _description(tool: CatalogTool) -> str:
    text = tool.definition.description[:_LONGEST_DESCRIPTION]
    title = tool.definition.annotations.title
    whole = f"{title[:_LONGEST_TITLE]}\n{text}" if isinstance(title, str) else text
    return _storable(spaced(folded(whole)))


def _storable(text: str) -> str:
    """Text that SQLite takes: no lone surrogates, and no NUL, at which its tokenizer would stop."""
    return text.replace("\0", " ") if text.isascii() else text.replace("\0", " ").encode("utf-8", "replace").decode()


def _property_words(tool: CatalogTool, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for schema in (tool.definition.input_schema, tool.definition.output_schema):
        for name in _property_names(schema):
            if name not in known:
                known[name] = tuple(map(sys.intern, words(_storable(name[:100]))))
            found.update(dict.fromkeys(known[name]))
    return tuple(found)


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
    return {key: tuple(dict.fromkeys(tools)) for key, tools in found.items() if key}
