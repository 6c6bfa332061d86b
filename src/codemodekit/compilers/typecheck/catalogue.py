"""The part of a catalogue that a program mentions, as the declarations its check is made against.

The types are those of the declarations a model reads, with two differences: every `unknown` reads `any`, for a program
may know more of a value than its schema says, and names carry the number of their tool (`GitLogInput$4`), so that a
complaint of the compiler leads back to it. Sources and groups of tools get interfaces of their own for the same reason.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from codemodekit._json import JsonObject
from codemodekit.catalog.snapshot import Catalog
from codemodekit.compilers.typecheck.inline import objects_in
from codemodekit.compilers.typecheck.kinds import split_union
from codemodekit.compilers.typecheck.mentions import Mentions, words
from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.names import RESERVED_MEMBERS, TypeNames, member, path_of
from codemodekit.declarations.result_contract import GLOBAL_TYPES
from codemodekit.declarations.typescript import sign_tool

__all__ = ["PRELUDE_TEXT", "Declarations", "DeclaredTool", "Group", "MentionedCatalogue"]

PRELUDE_TEXT: Final = """\
interface ToolResult<T = any> { content: ToolContentBlock[]; structuredContent?: T }
interface ToolContentBlock { type: string; [member: string]: any }
declare class ToolCallError extends Error {
  code: string; phase: "tool"; source: string; tool: string; details?: any;
}
declare const context: any;
declare const console: { [method: string]: (...data: any[]) => void };
"""
"""The globals of a program, as wide as they can be: what is true of them is not for this check to say."""

_MOST_TOOLS: Final = 100
"""More than a run may call by default; those beyond are declared as `any`."""
_KEPT: Final = 1000


@dataclass(frozen=True)
class DeclaredTool:
    """A tool as it is declared for a check."""

    source: str
    definition: ToolDefinition
    number: int
    types: str
    parameters: str
    result: str

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields its input declares."""
        return _properties(self.definition.input_schema)

    @cached_property
    def result_fields(self) -> tuple[str, ...]:
        """Names of the fields its output declares."""
        return _properties(self.definition.output_schema or {})

    @cached_property
    def unnamed_objects(self) -> frozenset[frozenset[str]]:
        """The names of each object that has no type name of its own."""
        return frozenset(map(frozenset, objects_in(f"{self.types} {self.result}")))

    @cached_property
    def has_conditions(self) -> bool:
        """Whether fields may be allowed by parts of the schema that no TypeScript type can say."""
        return any(not _CONDITIONS.isdisjoint(schema) for schema in _objects(self.definition.input_schema))

    @cached_property
    def is_closed(self) -> bool:
        """Whether its output schema forbids all that it does not name."""
        objects = [one for one in _objects(self.definition.output_schema or {}) if "properties" in one]
        return bool(objects) and all(one.get("additionalProperties") is False for one in objects)


@dataclass(frozen=True, slots=True)
class Group:
    """An interface of tools: a source, or what the tools of a source with one beginning have in common."""

    source: str
    path: tuple[str, ...]
    """The parts of the tools' names that lead to it; empty for the source itself."""


@dataclass
class Declarations:
    """The declarations for one check, and what stands where in them."""

    text: str = ""
    groups: dict[str, Group] = field(default_factory=dict)
    """By the name of the interface."""
    tools: dict[int, DeclaredTool] = field(default_factory=dict)
    """By number."""
    lines: dict[int, DeclaredTool] = field(default_factory=dict)
    """The tool whose signature stands on a line, counted from 0."""
    waiting: tuple[str, ...] = ()
    """Mentioned sources that have not listed their tools yet."""

    @cached_property
    def interfaces(self) -> frozenset[str]:
        """Names of all types that are objects."""
        return frozenset(_INTERFACE.findall(self.text))

    def tool_of(self, kind: str) -> DeclaredTool | None:
        """The tool that a type belongs to: by the number in its name, or by its fields if it has no name."""
        if (named := _NAMED.match(kind)) is not None:
            return self.tools.get(int(named[1]))
        if not kind.startswith("{") or len(split_union(kind)) > 1:
            return None
        fields = frozenset(self.members(kind))
        return next((tool for tool in self.tools.values() if fields and fields in tool.unnamed_objects), None)

    def is_object(self, kind: str) -> bool:
        """Whether a type is one object."""
        return kind in self.interfaces or (kind.startswith("{") and not kind.endswith("[]"))

    def is_list(self, kind: str) -> bool:
        """Whether a type is a list."""
        return kind.endswith("[]") or self.aliases.get(kind, "").endswith("[]")

    def members(self, kind: str) -> list[str]:
        """Names of the properties of a type: of an interface, of several joined by `&`, of an object written out."""
        if kind.startswith("{"):
            return list(deque(objects_in(kind), 1).pop())
        bodies = (self._bodies.get(one, "") for one in kind.split(" & "))
        return [name.strip('"') for body in bodies for name in _MEMBER_LINE.findall(body)]

    @cached_property
    def _bodies(self) -> dict[str, str]:
        return dict(_INTERFACE_BODY.findall(self.text))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What stands behind the other names, where it is short."""
        return dict(_ALIAS.findall(self.text))


class MentionedCatalogue:
    """Writes declarations; the text of each tool is written once."""

    def __init__(self) -> None:
        self._mentions = Mentions()
        self._written: OrderedDict[tuple[str, str, str], DeclaredTool] = OrderedDict()
        self._numbers = 0

    def declare(self, text: str, catalog: Catalog, sources: Sequence[str]) -> Declarations:
        """The declarations for a program with this text."""
        said = words(text)
        return _Writer(self._found(said, catalog, sources)).declarations()

    def _found(self, said: frozenset[str], catalog: Catalog, sources: Sequence[str]) -> dict[str, _Found]:
        found: dict[str, _Found] = {}
        left = _MOST_TOOLS
        for name in self._mentions.sources(sorted({*sources, *catalog.sources}), said):
            listed = catalog.sources.get(name)
            if listed is None:
                found[name] = _Found()
                continue
            tools: dict[str, DeclaredTool | None] = {}
            for tool in self._mentions.tools(listed, said):
                known = listed.tools.get(tool)
                left -= 1
                tools[tool] = (
                    None if known is None or left < 0 else self._declared(listed.revision, known.definition, name)
                )
            found[name] = _Found(tools, self._mentions.groups(listed, said))
        return found

    def _declared(self, revision: str, definition: ToolDefinition, source: str) -> DeclaredTool:
        key = (source, revision, definition.name)
        known = self._written.get(key)
        if known is None:
            self._numbers += 1
            known = self._written[key] = _declared_tool(source, definition, self._numbers)
            while len(self._written) > _KEPT:
                self._written.popitem(last=False)
        else:
            self._written.move_to_end(key)
        return known


# --- one tool ---------------------------------------------------------------------------------------------------------


class _NumberedNames(TypeNames):
    def __init__(self, number: int) -> None:
        super().__init__(GLOBAL_TYPES)
        self._number = number

    def take(self, wanted: str) -> str:
        return f"{super().take(wanted)}${self._number}"


def _declared_tool(source: str, definition: ToolDefinition, number: int) -> DeclaredTool:
    signature = sign_tool(source, definition, _NumberedNames(number))
    result = "any" if definition.output_mismatch == "warn" else signature.result
    return DeclaredTool(
        source, definition, number, _lenient(signature.types), _lenient(signature.parameters), _lenient(result)
    )


_UNKNOWN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a name or a value in quotes
    r"|/\*.*?\*/|//[^\n]*"
    r"|\bunknown\b(?!\??[:(])",  # not the name of a property
    re.DOTALL,
)
_NAMED: Final = re.compile(r"\w+\$(\d+)(?:\[\])*\Z")
_INTERFACE: Final = re.compile(r"^interface (\S+) \{$", re.MULTILINE)
_INTERFACE_BODY: Final = re.compile(r"^interface (\S+) \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_MEMBER_LINE: Final = re.compile(r'^  ([\w$]+|"(?:[^"\\]|\\.)+")\??:', re.MULTILINE)
_ALIAS: Final = re.compile(r"^type (\S+) = (.{1,2000}?);$(?=\n(?:type|interface) )", re.MULTILINE | re.DOTALL)


def _lenient(text: str) -> str:
    """The same types with `any` for `unknown`, and without comments."""
    return _UNKNOWN.sub(lambda found: "any" if found[0] == "unknown" else "" if found[0][0] == "/" else found[0], text)


_CONDITIONS: Final = frozenset(
    {"if", "then", "else", "not", "dependentSchemas", "dependencies", "$dynamicRef", "unevaluatedProperties"}
)
_NAMES: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Their members are schemas under names of the author's."""
_VALUES: Final = frozenset({"const", "default", "enum", "example", "examples"})
_MOST_OBJECTS: Final = 2_000


def _objects(schema: Any) -> Iterator[JsonObject]:
    """All schemas inside a schema that are objects, itself first."""
    waiting, left = [schema], _MOST_OBJECTS
    while waiting and left:
        one = waiting.pop()
        left -= 1
        if isinstance(one, Mapping):
            yield one
            for keyword, part in one.items():
                if keyword in _NAMES and isinstance(part, Mapping):
                    waiting.extend(part.values())
                elif keyword not in _VALUES:
                    waiting.append(part)
        elif isinstance(one, list | tuple):
            waiting.extend(one)


def _properties(schema: JsonObject) -> tuple[str, ...]:
    properties = schema.get("properties")
    return tuple(map(str, properties)) if isinstance(properties, Mapping) else ()


# --- the whole --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """What is mentioned of a source."""

    tools: Mapping[str, DeclaredTool | None] | None = None
    """None for a tool that cannot be described; None for all of a source that has not listed."""
    groups: Set[tuple[str, ...]] = frozenset()
    """What names of its tools begin with."""


@dataclass(slots=True)
class _Branch:
    """The tools of a source by the parts of their names."""

    tool: DeclaredTool | None = None
    is_any: bool = False
    is_group: bool = False
    parts: dict[str, _Branch] = field(default_factory=dict)


class _Writer:
    def __init__(self, found: Mapping[str, _Found]) -> None:
        self._found = found
        self._lines: list[str] = []
        self._made = Declarations()

    def declarations(self) -> Declarations:
        members = [
            "  $call(source: string, tool: string, input?: any): Promise<ToolResult<any>>;",
            *(line for name, found in self._found.items() for line in self._source(name, found)),
        ]
        self._write(["interface $Tools {", *members, "}", "declare const tools: $Tools;", ""])
        self._made.text = "\n".join(self._lines)
        self._made.waiting = tuple(name for name, found in self._found.items() if found.tools is None)
        return self._made

    def _write(self, lines: Sequence[str]) -> None:
        self._lines += lines

    def _source(self, name: str, found: _Found) -> list[str]:
        if name in RESERVED_MEMBERS or name == "$call":
            return []
        if found.tools is None:
            return [f"  {member(name)}: any;"]
        root = _Branch()
        for group in found.groups:
            _branch(root, group).is_group = True
        whole: list[tuple[str, DeclaredTool | None]] = []
        for tool, declared in found.tools.items():
            path = path_of(tool)
            _place(root, path, declared)
            if len(path) > 1:
                whole.append((tool, declared))
            if declared is not None:
                self._made.tools[declared.number] = declared
                self._write(declared.types.split("\n") if declared.types else [])
        return [f"  {member(name)}: {self._group(name, (), root, whole)};"]

    def _group(
        self, source: str, path: tuple[str, ...], branch: _Branch, whole: Sequence[tuple[str, DeclaredTool | None]] = ()
    ) -> str:
        """Write the interface of a branch, the inner ones first; its name."""
        inner = {
            part: self._group(source, (*path, part), one)
            for part, one in branch.parts.items()
            if (one.parts or one.is_group) and not one.is_any
        }
        name = f"$Group{len(self._made.groups) + 1}"
        self._made.groups[name] = Group(source, path)
        self._write([f"interface {name} {{"])
        if branch.tool is not None:
            self._signature("", branch.tool)
        for part, one in sorted(branch.parts.items()):
            if part in RESERVED_MEMBERS:
                continue
            if part in inner:
                self._write([f"  {member(part)}: {inner[part]};"])
            else:
                self._signature(member(part), one.tool)
        for dotted, tool in whole:
            self._signature(member(dotted), tool)
        self._write(["}"])
        return name

    def _signature(self, name: str, tool: DeclaredTool | None) -> None:
        if tool is None:
            self._write([f"  {name}: any;"])
            return
        self._made.lines[len(self._lines)] = tool
        self._write([f"  {name}({tool.parameters}): Promise<ToolResult<{tool.result}>>;"])


def _place(root: _Branch, path: Sequence[str], tool: DeclaredTool | None) -> None:
    branch = _branch(root, path)
    branch.tool, branch.is_any = tool, tool is None


def _branch(root: _Branch, path: Sequence[str]) -> _Branch:
    branch = root
    for part in path:
        branch = branch.parts.setdefault(part, _Branch())
    return branch
