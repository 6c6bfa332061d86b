"""Mistakes in what a program reads: sources and tools that do not exist, results that are not what they are taken for.

A program may look whether something is there before it uses it. So a name counts as a mistake only if the program
relies on it, and never asks for it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from codemodekit.catalog.near import near_names
from codemodekit.compilers.typecheck.compiler import Complaint
from codemodekit.compilers.typecheck.declared import DeclaredTool, Group
from codemodekit.compilers.typecheck.mistakes import Mistake, MistakeKind, alternatives, cut, listed
from codemodekit.compilers.typecheck.scene import Scene
from codemodekit.declarations.names import call_expression

__all__ = ["ReadingRules"]

_READ: Final = re.compile(r"(?:.*\n\s*)?Property '(?P<name>.+?)' does not exist on type '(?P<type>.+?)'\.")
_NO_CALL: Final = re.compile(r"Type '(?P<type>\$Group\d+)' has no call signatures")
_NO_LIST: Final = re.compile(r"Type '(?P<type>.+?)' (?:must have a '\[Symbol\.iterator\]\(\)'|is not an array type)")
_PROMISE: Final = re.compile(r"Promise<ToolResult<.*>>\Z", re.DOTALL)
_RESULT: Final = re.compile(r"ToolResult<(?P<data>.*)>\Z", re.DOTALL)

_LISTS: Final = (
    "at concat entries every filter find findIndex findLast flat flatMap forEach includes indexOf join keys map pop "
    "push reduce reduceRight reverse shift slice some sort splice toReversed toSorted unshift values"
)
_ARRAY_METHODS: Final = frozenset(_LISTS.split(" "))
_LEFT_ALONE: Final = frozenset({"isError", "_meta", "then"})
"""What the result of a call has elsewhere: careful programs look at it."""


class ReadingRules:
    """The rules for one program."""

    def __init__(self, scene: Scene, complaints: Iterable[Complaint]) -> None:
        self._scene = scene
        self._probed = frozenset(self._probes(complaints))

    def mistake(self, complaint: Complaint, node: Node) -> Mistake | None:
        """The mistake a complaint tells of; None if it is about something else or may be meant."""
        if (read := _READ.match(complaint.message)) is not None:
            return None if read["name"] in self._probed else self._read(complaint, node, read["name"], read["type"])
        if (called := _NO_CALL.search(complaint.message)) is not None:
            return self._called(complaint, node, called["type"])
        if (loop := _NO_LIST.match(complaint.message)) is not None:
            return self._gone_through(complaint, node, loop["type"])
        return None

    def _probes(self, complaints: Iterable[Complaint]) -> Iterable[str]:
        for complaint in complaints:
            read = _READ.match(complaint.message)
            if read is not None and (name := self._name(complaint)) is not None and self._scene.syntax.is_probed(name):
                yield read["name"]

    def _name(self, complaint: Complaint) -> Node | None:
        """The name that is read; complaints about brackets are about the whole access."""
        node = self._scene.node(complaint)
        if node is not None and node.type == "subscript_expression":
            index = node.child_by_field_name("index")
            return index if index is not None and index.type == "string" else None
        return node

    def _read(self, complaint: Complaint, node: Node, name: str, kind: str) -> Mistake | None:
        named = self._name(complaint)
        owner = None if named is None else self._scene.syntax.owner(named)
        if named is None or owner is None:
            return None
        if kind == "$Tools" or kind in self._scene.declared.groups:
            return self._no_address(complaint, owner, name, self._scene.declared.groups.get(kind))
        if not self._scene.bindings.is_firm(owner):
            return None
        if _PROMISE.match(kind):
            return None if name in _LEFT_ALONE else self._not_awaited(complaint)
        return None if self._scene.syntax.is_tried(named) else self._no_data(complaint, named, name, kind)

    # --- sources and tools ------------------------------------------------------------------------------------------

    def _no_address(self, complaint: Complaint, owner: Node, name: str, group: Group | None) -> Mistake | None:
        if self._scene.bindings.address(owner) is None:
            return None
        return self._no_source(complaint, name) if group is None else self._no_tool(complaint, group, name)

    def _no_source(self, complaint: Complaint, name: str) -> Mistake | None:
        known = sorted({*self._scene.sources, *self._scene.catalog.sources})
        if name in known or name in self._scene.syntax.strings:
            return None
        near = near_names(name, known)
        hint = f"did you mean {alternatives(_source_expression(one) for one in near)}?" if near else ""
        message = f"there is no source {cut(name)!r}; {hint or f'there are: {listed(known)}'}"
        return self._scene.mistake(complaint, MistakeKind.UNKNOWN_SOURCE, message, source=name)

    def _no_tool(self, complaint: Complaint, group: Group, name: str) -> Mistake | None:
        wanted = ".".join((*group.path, name))
        tools = self._scene.catalog.sources[group.source]
        there = {*tools.tools, *tools.quarantined}
        if name in self._scene.syntax.strings or any(one == wanted or one.startswith(f"{wanted}.") for one in there):
            return None
        near = near_names(wanted, tools.tools)
        hint = f"; did you mean {alternatives(call_expression(group.source, one) for one in near)}?" if near else ""
        message = f"the source {group.source!r} has no tool {cut(wanted)!r}{hint}"
        return self._scene.mistake(complaint, MistakeKind.UNKNOWN_TOOL, message, source=group.source, tool=wanted)

    def _called(self, complaint: Complaint, node: Node, kind: str) -> Mistake | None:
        group = self._scene.declared.groups.get(kind)
        if group is None or self._scene.bindings.address(_called_by_name(node)) is None:
            return None
        called = ".".join((group.source, *group.path))
        message = f"{cut(called)!r} is no tool, it has tools: call one of them, with one object of fields"
        return self._scene.mistake(complaint, MistakeKind.UNKNOWN_TOOL, message, source=group.source)

    # --- results ----------------------------------------------------------------------------------------------------

    def _not_awaited(self, complaint: Complaint) -> Mistake:
        message = "this is the promise of a tool's result and not yet the result; write `await` in front of the call"
        return self._scene.mistake(complaint, MistakeKind.NOT_AWAITED, message)

    def _gone_through(self, complaint: Complaint, node: Node, kind: str) -> Mistake | None:
        if not self._scene.bindings.is_firm(node) or self._scene.syntax.is_tried(node):
            return None
        if _PROMISE.match(kind):
            return self._not_awaited(complaint)
        if _RESULT.match(kind):
            message = "the result of a call is no list; go through its `structuredContent` or `content`"
            return self._scene.mistake(complaint, MistakeKind.WRONG_RESULT, message)
        tool = self._scene.declared.tool_of(kind)
        if tool is None or not self._scene.declared.is_object(kind):
            return None
        message = f"this data of {_address(tool)} is an object and no list{self._has(kind)}"
        return self._made(complaint, tool, message)

    def _no_data(self, complaint: Complaint, named: Node, name: str, kind: str) -> Mistake | None:
        if (result := _RESULT.match(kind)) is not None:
            return self._not_in_result(complaint, named, name, result["data"])
        tool = self._scene.declared.tool_of(kind)
        if tool is None:
            return None
        if self._scene.declared.is_list(kind):
            if not self._scene.syntax.is_relied_on(named):
                return None
            return self._made(complaint, tool, f"this data of {_address(tool)} is a list, which has no {cut(name)!r}")
        return self._not_in_data(complaint, named, name, kind, tool)

    def _not_in_result(self, complaint: Complaint, named: Node, name: str, data: str) -> Mistake | None:
        """The result of a call has two members, and never another."""
        if name in _LEFT_ALONE:
            return None
        tool = self._scene.declared.tool_of(data)
        if tool is not None and name in tool.result_fields and self._scene.declared.is_object(data):
            message = f"{cut(name)!r} is in the `structuredContent` of what {_address(tool)} resolves to"
            return self._made(complaint, tool, message)
        if not self._scene.syntax.is_relied_on(named):
            return None
        message = f"the result of a call has `content` and `structuredContent`, and no {cut(name)!r}"
        return self._scene.mistake(complaint, MistakeKind.WRONG_RESULT, message)

    def _not_in_data(
        self, complaint: Complaint, named: Node, name: str, kind: str, tool: DeclaredTool
    ) -> Mistake | None:
        """A schema that allows more fields than it names leaves room for any name but a slip of one."""
        if not self._scene.declared.is_object(kind):
            return None
        slip = next((one for one in self._scene.declared.members(kind) if _is_slip(name, one)), None)
        if slip is not None:
            message = f"this data of {_address(tool)} has no {cut(name)!r}; did you mean `{cut(slip)}`?"
            return self._made(complaint, tool, message)
        if self._scene.syntax.is_called(named) and name in _ARRAY_METHODS:
            return self._made(
                complaint, tool, f"this data of {_address(tool)} is an object and no list{self._has(kind)}"
            )
        if not tool.is_closed:
            return None
        return self._made(complaint, tool, f"this data of {_address(tool)} has no {cut(name)!r}{self._has(kind)}")

    def _has(self, kind: str) -> str:
        names = self._scene.declared.members(kind)
        return f"; it has: {listed(names)}" if names else ""

    def _made(self, complaint: Complaint, tool: DeclaredTool, message: str) -> Mistake:
        return self._scene.mistake(complaint, MistakeKind.WRONG_RESULT, message, source=tool.source, tool=tool.name)


def _source_expression(source: str) -> str:
    return call_expression(source, "x").removesuffix(".x")


def _address(tool: DeclaredTool) -> str:
    return f"`{cut(call_expression(tool.source, tool.name))}`"


_SHORTEST_SLIP: Final = 5


def _is_slip(written: str, meant: str) -> bool:
    """Whether a name is another one written wrongly: in case or separators, or with a letter too few, too many, or
    exchanged with its neighbour. Not with another letter, nor a plural: `date` and `data` are both good names."""
    one, other = _folded(written), _folded(meant)
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORTEST_SLIP or one.startswith(other) or other.startswith(one):
        return False
    return _is_slip_of_a_finger(one, other)


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _is_slip_of_a_finger(one: str, other: str) -> bool:
    if len(one) > len(other):
        one, other = other, one
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    return one[at + 2 :] == other[at + 2 :] and one[at : at + 2] == other[at : at + 2][::-1]


def _called_by_name(node: Node) -> Node:
    """What is called, where a complaint is about the last name of it."""
    parent = node.parent
    return parent if parent is not None and parent.type == "member_expression" else node
