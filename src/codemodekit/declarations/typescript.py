"""From tools to the TypeScript declarations a model reads: one tool for a search result, or whole sources.

The types come from the same schemas that calls are validated against. Every declaration file that comes out compiles
under `tsc --strict` by itself; a single declaration compiles together with the result contract, and so do several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.comments import comment, safe
from codemodekit.declarations.names import RESERVED_MEMBERS, TypeNames, member, path_of, quote, type_name
from codemodekit.declarations.result_contract import GLOBAL_TYPES, PROGRAM_GLOBALS, RESULT_CONTRACT
from codemodekit.declarations.schema_types import Bounds, accepts_empty_object, convert
from codemodekit.declarations.writer import TypeShelf

__all__ = ["RESULT_CONTRACT", "ToolSignature", "declare_catalog", "declare_source", "declare_tool", "sign_tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """How much one tool may take."""

    bounds: Bounds
    type_text: int
    """Characters of all its types; the types that come after are shown as `unknown`."""
    description: int
    """Characters of its description."""


_IN_A_RESULT: Final = _Room(bounds=Bounds(subschemas=800), type_text=10_000, description=1_000)
_IN_A_FILE: Final = _Room(bounds=Bounds(), type_text=40_000, description=4_000)


def declare_tool(source: str, definition: ToolDefinition, callable: str) -> str:
    """One tool, self-contained: its types and its signature.

    `callable` is the expression that calls it, with or without the arguments.
    """
    names = TypeNames(GLOBAL_TYPES)
    members = names.take(type_name(source, "tools"))
    declared = _declare(definition, TypeShelf(source, names), _IN_A_RESULT)
    signature = [
        _usage(callable),
        f"interface {members} {{",
        *declared.member(definition.name, "  ", described=True),
        "}",
    ]
    return "\n".join([*declared.types, *signature]) + "\n"


def _usage(callable: str) -> str:
    text = " ".join(safe(callable, 400).split())
    return f"// {text}" if text.endswith(")") else f"// {text}(input)"


def declare_source(source: str, definitions: Sequence[ToolDefinition]) -> str:
    """A declaration file for one source, or for some of its tools."""
    return declare_catalog({source: definitions})


def declare_catalog(sources: Mapping[str, Sequence[ToolDefinition]]) -> str:
    """A declaration file for all `sources`, without the tools a program cannot see.

    The same tools in any order give the same text.
    """
    names = TypeNames(GLOBAL_TYPES)
    types: list[str] = []
    members: list[str] = []
    for source in sorted(sources):
        shelf, written = _Shelf(), TypeShelf(source, names)
        visible = (one for one in sources[source] if one.model_visible)
        for definition in sorted(visible, key=lambda one: one.name):
            declared = _declare(definition, written, _IN_A_FILE)
            types += declared.types
            shelf.place(definition.name, declared)
        if source in _UNREACHABLE_SOURCES:
            members.append(f"  // only through tools.$call: {quote(source)}")
        else:
            members += [f"  {member(source)}: {{", *shelf.lines("    "), "  };"]
    head = [RESULT_CONTRACT, PROGRAM_GLOBALS]
    tools = ["declare const tools: {", *_ANY_TOOL, *members, "};"]
    return "\n".join([*head, *(f"{text}\n" for text in types), *tools]) + "\n"


_UNREACHABLE_SOURCES: Final = RESERVED_MEMBERS | {"$call"}

_ANY_TOOL: Final = (
    "  /** Calls any tool by the exact names of its source and itself. */",
    "  $call(source: string, tool: string, input?: unknown): Promise<ToolResult<unknown>>;",
)


# --- one tool ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignature:
    """A tool in pieces, for a text that is put together elsewhere."""

    types: str
    """Its own types, one declaration after another; may be empty."""
    parameters: str
    """What stands between the parentheses of its signature; on one line."""
    result: str
    """What its `structuredContent` is; on one line."""


def sign_tool(source: str, definition: ToolDefinition, names: TypeNames) -> ToolSignature:
    """The same types as in a file of declarations, under names that `names` gives out."""
    declared = _declare(definition, TypeShelf(source, names), _IN_A_FILE)
    return ToolSignature(types="\n".join(declared.types), parameters=declared.parameters, result=declared.result)


@dataclass(frozen=True, slots=True)
class _Declared:
    """A tool's types, and what its signature is made of."""

    types: list[str]
    parameters: str
    result: str
    doc: tuple[str, ...]

    def member(self, name: str, indent: str, *, described: bool) -> Iterator[str]:
        """The lines of a method; an empty name gives a call signature."""
        if described:
            yield from (indent + line for line in self.doc)
        yield f"{indent}{member(name) if name else ''}({self.parameters}): Promise<ToolResult<{self.result}>>;"


def _declare(definition: ToolDefinition, shelf: TypeShelf, room: _Room) -> _Declared:
    writer = shelf.writer(definition.name, room.type_text)
    given = convert(definition.input_schema, room.bounds)
    parameter = writer.write(given, "Input", definition.input_schema)
    optional = "?" if accepts_empty_object(given) else ""
    result = "unknown"
    if definition.output_schema is not None:
        result = writer.write(convert(definition.output_schema, room.bounds), "Output", definition.output_schema)
    doc = comment(definition.description or definition.annotations.title or "", room.description)
    return _Declared(writer.lines, f"input{optional}: {parameter}", result, doc)


# --- the members of a source ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Shelf:
    """The tools of a source by the parts of their names."""

    tool: _Declared | None = None
    parts: dict[str, _Shelf] = field(default_factory=dict)
    whole: dict[str, _Declared] = field(default_factory=dict)
    """Dotted names, which are reachable in one piece as well."""

    def place(self, name: str, declared: _Declared) -> None:
        path = path_of(name)
        shelf = self
        for part in path:
            shelf = shelf.parts.setdefault(part, _Shelf())
        shelf.tool = declared
        if len(path) > 1:
            self.whole[name] = declared

    def lines(self, indent: str) -> Iterator[str]:
        for name, shelf in sorted(self.parts.items()):
            if name in RESERVED_MEMBERS:
                yield f"{indent}// only through tools.$call: {quote(name)}"
            elif not shelf.parts and shelf.tool is not None:
                yield from shelf.tool.member(name, indent, described=True)
            else:
                yield f"{indent}{member(name)}: {{"
                if shelf.tool is not None:
                    yield from shelf.tool.member("", indent + "  ", described=True)
                yield from shelf.lines(indent + "  ")
                yield f"{indent}}};"
        for name, declared in sorted(self.whole.items()):
            yield from declared.member(name, indent, described=False)
