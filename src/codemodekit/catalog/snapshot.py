"""The catalogue as a value: what a source listed, made callable, addressable and comparable.

`build_source` turns a listing into a contribution: pure work on the CPU, safe in a thread. A tool that cannot be
enforced is put aside alone. Nothing here knows connections or time; `manager` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from codemodekit._json import JsonValue, digest
from codemodekit.catalog.addresses import callable_of
from codemodekit.catalog.near import near_names
from codemodekit.catalog.schemas import SchemaCheck, SchemaUnsupported
from codemodekit.catalog.shared_schemas import Checks
from codemodekit.contracts import ToolAnnotations, ToolDefinition, ToolListing

__all__ = ["Catalog", "CatalogTool", "SourceCatalog", "build_source", "mark_of", "revision_of"]

_REVISION_LENGTH: Final = 16
_LONGEST_NAME: Final = 512


@dataclass(frozen=True, slots=True)
class CatalogTool:
    """A tool that can be called."""

    source: str
    definition: ToolDefinition
    callable: str
    """How a program writes the call."""
    input: SchemaCheck
    output: SchemaCheck | None


@dataclass(frozen=True, slots=True)
class SourceCatalog:
    """What one source contributes."""

    name: str
    tools: Mapping[str, CatalogTool] = field(default_factory=lambda: MappingProxyType({}))
    """By name, in the order of the names."""
    hidden: frozenset[str] = frozenset()
    """Tools meant for an application only."""
    quarantined: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Tools put aside, and why."""
    notes: tuple[str, ...] = ()
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything that was listed at one moment; sources that never listed are not in it."""

    sources: Mapping[str, SourceCatalog] = field(default_factory=lambda: MappingProxyType({}))
    revision: str = ""

    def near_tools(self, source: str, name: str) -> tuple[str, ...]:
        """Up to three tools of the source with a similar name."""
        found = self.sources.get(source)
        return () if found is None else near_names(name, found.tools)

    def with_source(self, contribution: SourceCatalog) -> Catalog:
        """The catalogue with one contribution put in or replaced."""
        return catalog_of({**self.sources, contribution.name: contribution})


def catalog_of(sources: Mapping[str, SourceCatalog]) -> Catalog:
    """A catalogue of these contributions."""
    ordered = dict(sorted(sources.items()))
    return Catalog(MappingProxyType(ordered), revision_of({name: found.revision for name, found in ordered.items()}))


def revision_of(content: JsonValue) -> str:
    """A short hash of content, equal in every process."""
    return digest(content)[:_REVISION_LENGTH]


def build_source(name: str, listing: ToolListing) -> SourceCatalog:
    """The contribution of a source: each tool compiled, hidden or put aside. Never raises for a tool."""
    sorter = _Sorter(name)
    for definition in listing.definitions:
        sorter.take(definition)
    return sorter.contribution(listing.notes)


class _Sorter:
    """Sorts definitions into callable, hidden and quarantined ones."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tools: dict[str, CatalogTool] = {}
        self._hidden: set[str] = set()
        self._quarantined: dict[str, str] = {}
        self._notes: list[str] = []
        self._marks: dict[str, JsonValue] = {}
        self._check = Checks().of

    def take(self, definition: ToolDefinition) -> None:
        name = definition.name
        if (fault := _name_fault(name)) is not None:
            self._notes.append(f"left out a tool whose name {fault}")
        elif name in self._tools or name in self._hidden or name in self._quarantined:
            self._notes.append(f"{name!r} is listed more than once; the first one counts")
        elif not definition.model_visible:
            self._hidden.add(name)
            self._marks[name] = "hidden"
        else:
            self._compile(definition)

    def _compile(self, definition: ToolDefinition) -> None:
        try:
            tool = self._compiled(definition)
            self._marks[definition.name] = _mark(tool)
            self._tools[definition.name] = tool
        except SchemaUnsupported as fault:
            self._quarantined[definition.name] = str(fault)
            self._marks[definition.name] = {"quarantined": str(fault)}

    def _compiled(self, definition: ToolDefinition) -> CatalogTool:
        definition = _with_plain_hints(definition)
        given = self._check(definition.input_schema, "input")
        answered = None if definition.output_schema is None else self._check(definition.output_schema, "output")
        return CatalogTool(self._source, definition, callable_of(self._source, definition.name), given, answered)

    def contribution(self, notes: tuple[str, ...]) -> SourceCatalog:
        return SourceCatalog(
            name=self._source,
            tools=MappingProxyType(dict(sorted(self._tools.items()))),
            hidden=frozenset(self._hidden),
            quarantined=MappingProxyType(dict(sorted(self._quarantined.items()))),
            notes=(*notes, *self._notes),
            revision=revision_of([self._source, self._marks]),
        )


def _name_fault(name: object) -> str | None:
    if not isinstance(name, str):
        return f"is not text but {type(name).__name__}"
    if not name:
        return "is empty"
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    return f"{name!a} holds a lone surrogate" if any("\ud800" <= c <= "\udfff" for c in name) else None


def _with_plain_hints(definition: ToolDefinition) -> ToolDefinition:
    # "false" is true to Python: a hint that is no plain one is as good as none
    said: Any = definition.annotations
    names = ("read_only", "destructive", "idempotent", "open_world")
    odd = {name: None for name in names if not isinstance(getattr(said, name), bool | None)}
    if not isinstance(said.title, str | None):
        odd["title"] = None
    return replace(definition, annotations=replace(said, **odd)) if odd else definition


def _mark(tool: CatalogTool) -> JsonValue:
    definition = tool.definition
    described = definition.description
    if not isinstance(described, str):
        raise SchemaUnsupported(f"the description is not text but {type(described).__name__}")
    output = tool.output.digest if tool.output else None
    return mark_of(described, tool.input.digest, output, definition.annotations, definition.output_mismatch)


def mark_of(
    description: str, input_digest: str, output_digest: str | None, hints: ToolAnnotations, output_mismatch: str
) -> JsonValue:
    """What makes a tool the same tool: all that a program or policy can see of it. Schemas by their digest."""
    said = [hints.title, hints.read_only, hints.destructive, hints.idempotent, hints.open_world]
    return [description, input_digest, output_digest, said, output_mismatch]
