"""The part of a catalogue that a program mentions, as the declarations its check is made against.

The types are those of the declarations a model reads, with two differences: every `unknown` reads `any`, for a program
may know more of a value than its schema says, and names carry the number of their tool (`GitLogInput$4`), so that a
complaint of the compiler leads back to it. Sources and groups of tools get interfaces of their own for the same reason.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from codemodekit.catalog.snapshot import Catalog
from codemodekit.compilers.typecheck.declared import Declarations, DeclaredTool, Group
from codemodekit.compilers.typecheck.mentions import Mentions, words
from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.names import RESERVED_MEMBERS, TypeNames, member, path_of
from codemodekit.declarations.result_contract import GLOBAL_TYPES
from codemodekit.declarations.typescript import sign_tool

__all__ = ["PRELUDE_TEXT", "MentionedCatalogue"]

PRELUDE_TEXT: Final = """\
interface ToolResult<T = any> { content: ToolContentBlock[]; structuredContent?: T }
interface ToolContentBlock { type: string; [member: string]: any }
declare class ToolCallError extends Error {
  code: string; phase: "tool"; source: string; tool: string; details?: any;
}
declare const context: any;
declare const console: { [method: string]: (...data: any[]) => void };
interface ObjectConstructor { groupBy(...given: any[]): any }
interface MapConstructor { groupBy(...given: any[]): Map<any, any> }
interface PromiseConstructor { withResolvers(): any; try(...given: any[]): Promise<any> }
interface ArrayConstructor { fromAsync(...given: any[]): Promise<any[]> }
interface RegExpConstructor { escape(text: string): string }
interface ErrorConstructor { isError(value: any): boolean }
interface Set<T> {
  union(other: any): Set<any>; intersection(other: any): Set<any>; difference(other: any): Set<any>;
  symmetricDifference(other: any): Set<any>;
  isSubsetOf(other: any): boolean; isSupersetOf(other: any): boolean; isDisjointFrom(other: any): boolean;
}
interface IteratorObject<T, TReturn, TNext> {
  map(by: (value: T, index: number) => any): IteratorObject<any, any, any>;
  filter(by: (value: T, index: number) => any): IteratorObject<T, any, any>;
  flatMap(by: (value: T, index: number) => any): IteratorObject<any, any, any>;
  take(most: number): IteratorObject<T, any, any>; drop(first: number): IteratorObject<T, any, any>;
  some(by: (value: T, index: number) => any): boolean; every(by: (value: T, index: number) => any): boolean;
  find(by: (value: T, index: number) => any): T; forEach(by: (value: T, index: number) => any): void;
  reduce(...given: any[]): any; toArray(): T[];
}
declare const Iterator: { from(value: any): IteratorObject<any, any, any> };
"""
"""The globals of a program, as wide as they can be: what is true of them is not for this check to say."""

_MOST_TOOLS: Final = 100
"""More than a run may call by default; those beyond are declared as `any`."""
_KEPT: Final = 1000
_LISTS_TOOLS: Final = re.compile(r"\bObject\s*\.\s*(?:values|entries)\s*\(\s*tools\b")


class _NotKnown(Exception):
    """Something would have to be read or written."""


class MentionedCatalogue:
    """Writes declarations; the text of each tool is written once. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mentions = Mentions()
        self._written: OrderedDict[tuple[str, str, str], DeclaredTool] = OrderedDict()
        self._numbers = 0

    def declare(self, text: str, catalog: Catalog, sources: Sequence[str]) -> Declarations:
        """The declarations for a program with this text."""
        with self._lock:  # a check that took too long may still be in here
            return self._declarations(text, catalog, sources)

    def declare_known(self, text: str, catalog: Catalog, sources: Sequence[str]) -> Declarations | None:
        """The same at once, if nothing new has to be read or written for it."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._declarations(text, catalog, sources, only_known=True)
        except _NotKnown:
            return None
        finally:
            self._lock.release()

    def _declarations(
        self, text: str, catalog: Catalog, sources: Sequence[str], *, only_known: bool = False
    ) -> Declarations:
        found = self._found(words(text), catalog, sources, only_known)
        return _Writer(found, is_open=_LISTS_TOOLS.search(text) is not None).declarations()

    def _found(
        self, said: frozenset[str], catalog: Catalog, sources: Sequence[str], only_known: bool
    ) -> dict[str, _Found]:
        found: dict[str, _Found] = {}
        left = _MOST_TOOLS
        for name in self._mentions.sources(sorted({*sources, *catalog.sources}), said):
            listed = catalog.sources.get(name)
            if listed is None:
                found[name] = _Found()
                continue
            if only_known and not self._mentions.knows(listed):
                raise _NotKnown
            tools: dict[str, DeclaredTool | None] = {}
            for tool in self._mentions.tools(listed, said):
                known = listed.tools.get(tool)
                left -= 1
                key = (name, listed.revision, tool)
                if known is None or left < 0:
                    tools[tool] = None
                elif only_known and key not in self._written:
                    raise _NotKnown
                else:
                    tools[tool] = self._declared(key, known.definition)
            found[name] = _Found(tools, self._mentions.groups(listed, said))
        return found

    def _declared(self, key: tuple[str, str, str], definition: ToolDefinition) -> DeclaredTool:
        known = self._written.get(key)
        if known is None:
            self._numbers += 1
            known = self._written[key] = _declared_tool(key[0], definition, self._numbers)
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


def _lenient(text: str) -> str:
    """The same types with `any` for `unknown`, and without comments."""
    return _UNKNOWN.sub(lambda found: "any" if found[0] == "unknown" else "" if found[0][0] == "/" else found[0], text)


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
    def __init__(self, found: Mapping[str, _Found], *, is_open: bool) -> None:
        self._found = found
        self._others = ["  [name: string]: any;"] if is_open else []
        """Other members of each group, for a program that goes through all there are."""
        self._lines: list[str] = []
        self._made = Declarations()

    def declarations(self) -> Declarations:
        members = [
            "  $call(source: string, tool: string, input?: any): Promise<ToolResult<any>>;",
            *(line for name, found in self._found.items() for line in self._source(name, found)),
        ]
        self._write(["interface $Tools {", *members, *self._others, "}", "declare const tools: $Tools;", ""])
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
        self._write([*self._others, "}"])
        return name

    def _signature(self, name: str, tool: DeclaredTool | None) -> None:
        if tool is None:
            self._write([f"  {name}: any;"])
            return
        self._write([f"  {name}({tool.parameters}): Promise<ToolResult<{tool.result}>>;"])


def _place(root: _Branch, path: Sequence[str], tool: DeclaredTool | None) -> None:
    branch = _branch(root, path)
    branch.tool, branch.is_any = tool, tool is None


def _branch(root: _Branch, path: Sequence[str]) -> _Branch:
    branch = root
    for part in path:
        branch = branch.parts.setdefault(part, _Branch())
    return branch
