"""What is declared for one check, as values: the tools, the groups they are reached through, and what stands where.

Reads its own text and the compiler's words for types; how the text is written is `catalogue`'s affair.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from codemodekit._json import JsonObject
from codemodekit.compilers.typecheck.inline import objects_in
from codemodekit.compilers.typecheck.kinds import split_union
from codemodekit.contracts import ToolDefinition

__all__ = ["Declarations", "DeclaredTool", "Group"]


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
        objects = _objects(self.definition.input_schema)
        return objects is None or any(not _CONDITIONS.isdisjoint(one) for one in objects)

    @cached_property
    def is_closed(self) -> bool:
        """Whether its output schema forbids all that it does not name."""
        named = [one for one in _objects(self.definition.output_schema or {}) or () if "properties" in one]
        return bool(named) and all(one.get("additionalProperties") is False for one in named)


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
    waiting: tuple[str, ...] = ()
    """Mentioned sources that have not listed their tools yet."""

    @cached_property
    def interfaces(self) -> frozenset[str]:
        """Names of all types that are objects."""
        return frozenset(_INTERFACE.findall(self.text))

    def at(self, address: Sequence[str]) -> DeclaredTool | None:
        """The tool that these names lead to, the first of them a source."""
        return self._by_name.get((address[0], ".".join(address[1:]))) if len(address) > 1 else None

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], DeclaredTool]:
        return {(tool.source, tool.name): tool for tool in self.tools.values()}

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
            return list(next(iter(deque(objects_in(kind), 1)), ()))
        bodies = (self._bodies.get(one, "") for one in kind.split(" & "))
        return [name.strip('"') for body in bodies for name in _MEMBER_LINE.findall(body)]

    @cached_property
    def _bodies(self) -> dict[str, str]:
        return dict(_INTERFACE_BODY.findall(self.text))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What stands behind the other names, where it is short."""
        return dict(_ALIAS.findall(self.text))


_NAMED: Final = re.compile(r"\w+\$(\d+)(?:\[\])*\Z")
_INTERFACE: Final = re.compile(r"^interface (\S+) \{$", re.MULTILINE)
_INTERFACE_BODY: Final = re.compile(r"^interface (\S+) \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_MEMBER_LINE: Final = re.compile(r'^  ([\w$]+|"(?:[^"\\]|\\.)+")\??:', re.MULTILINE)
_ALIAS: Final = re.compile(r"^type (\S+) = (.{1,2000}?);$(?=\n(?:type|interface) )", re.MULTILINE | re.DOTALL)


# --- schemas ----------------------------------------------------------------------------------------------------------

_CONDITIONS: Final = frozenset(
    {"if", "then", "else", "not", "dependentSchemas", "dependencies", "$dynamicRef", "unevaluatedProperties"}
)
_NAMES: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Their members are schemas under names of the author's."""
_VALUES: Final = frozenset({"const", "default", "enum", "example", "examples"})
_MOST_OBJECTS: Final = 2_000


def _objects(schema: Any) -> list[JsonObject] | None:
    """All schemas inside a schema that are objects, itself first; None if there are too many to look at."""
    found: list[JsonObject] = []
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            found.append(one)
            if len(found) > _MOST_OBJECTS:
                return None
            for keyword, part in one.items():
                if keyword in _NAMES and isinstance(part, Mapping):
                    waiting.extend(part.values())
                elif keyword not in _VALUES:
                    waiting.append(part)
        elif isinstance(one, list | tuple):
            waiting.extend(one)
    return found


def _properties(schema: JsonObject) -> tuple[str, ...]:
    properties = schema.get("properties")
    return tuple(map(str, properties)) if isinstance(properties, Mapping) else ()
