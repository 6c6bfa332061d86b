"""Mistakes in what a tool is given: fields that are missing, not known, of a wrong type or value, no object at all.

What is written out in the call counts as it stands. A value that is computed counts only where its type is certain, and
one kind of value excludes another: text where a number is wanted, but not text where one of three words is wanted.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from codemodekit.catalog.near import near_names
from codemodekit.compilers.typecheck.compiler import Complaint
from codemodekit.compilers.typecheck.declared import DeclaredTool
from codemodekit.compilers.typecheck.kinds import can_never_be, is_literal_type, split_union
from codemodekit.compilers.typecheck.mistakes import Mistake, MistakeKind, alternatives, cut, listed, without_numbers
from codemodekit.compilers.typecheck.scene import Scene
from codemodekit.compilers.typecheck.syntax import is_literal, is_plain_object, unwrapped
from codemodekit.declarations.names import call_expression

__all__ = ["ArgumentRules"]

_EXCESS: Final = re.compile(
    r"[^\n]*'(?P<name>[^\n]+?)' does not exist in type '(?P<type>.+?)'\.(?: Did you mean|\Z)", re.S
)
_MISSING_ONE: Final = re.compile(
    r"Property '(?P<names>.+?)' is missing in type '.*' but required in type '(?P<type>[^'\n]+)'\.", re.S
)
_MISSING_MORE: Final = re.compile(
    r"Type '.*' is missing the following properties from type '(?P<type>[^'\n]+)': (?P<names>[^\n]+)", re.S
)
_UNFIT: Final = re.compile(
    r"\s*(?:Type|Argument of type) '(?P<given>.+?)' is not assignable to (?:type|parameter of type) '(?P<wanted>.+?)'\."
    r"(?: Did you mean '(?P<near>.+?)'\?)?\Z"
)
_WEAK: Final = re.compile(r"Type '(?P<given>.+?)' has no properties in common with type '(?P<wanted>.+?)'\.")
_COUNT: Final = re.compile(r"Expected [\d-]+ arguments, but got (?P<given>\d+)\.")
_PROPERTY: Final = re.compile(r"(?:Types of property|The types of) '.*' are incompatible")
_PROMISED: Final = re.compile(r"Promise<ToolResult<.*>>\Z")
_TYPE: Final = re.compile(r"(?P<name>\w+)\$\d+\Z")
_TYPES: Final = re.compile(r"\w+\$\d+(?: & \w+\$\d+)*\Z")
_NO_OBJECT: Final = frozenset({"string", "number", "template_string", "true", "false", "array", "null", "undefined"})


class ArgumentRules:
    """The rules for one program."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def mistake(self, complaint: Complaint, node: Node) -> Mistake | None:
        """The mistake a complaint tells of; None if it is about something else or may be meant."""
        if (counted := _COUNT.match(complaint.message)) is not None:
            return self._wrong_count(complaint, node, int(counted["given"]))
        call = self._scene.syntax.call_around(node)
        tool = None if call is None else self._scene.called_by(call)
        if tool is None:
            return None
        if (excess := _EXCESS.match(complaint.message)) is not None:
            return self._excess(complaint, node, tool, excess["name"], excess["type"])
        missing = _said_last(complaint, _MISSING_ONE) or _said_last(complaint, _MISSING_MORE)
        if missing is not None:
            return self._missing(complaint, node, tool, missing["names"], missing["type"])
        return self._unfit(complaint, node, tool)

    # --- the fields -------------------------------------------------------------------------------------------------

    def _excess(self, complaint: Complaint, node: Node, tool: DeclaredTool, name: str, kind: str) -> Mistake | None:
        if tool.has_conditions or not (_TYPES.match(kind) or _is_one_object(kind)):
            return None
        name = name.strip("\"'")
        known = self._scene.declared.members(kind)
        near = near_names(name, known)
        hint = f"did you mean {alternatives(near)}?" if near else f"it takes: {listed(known)}"
        inside = self._inside(node)
        message = f"{_address(tool)} takes no field `{cut(name)}`{inside}; {hint}"
        return self._made(complaint, MistakeKind.WRONG_FIELD, message, tool)

    def _missing(self, complaint: Complaint, node: Node, tool: DeclaredTool, names: str, kind: str) -> Mistake | None:
        value = self._scene.syntax.value_of(node)
        if not is_plain_object(value) or not _is_one_object(kind) or not self._is_whole(complaint, kind):
            return None
        shown = ", ".join(f"`{cut(name)}`" for name in names.split(", "))
        where = self._scene.syntax.path_in_call(node)
        of = f" in `{cut(where)}`" if where else ""
        message = f"{_address(tool)} needs {shown}{of}"
        return self._made(complaint, MistakeKind.MISSING_FIELD, message, tool)

    def _is_whole(self, complaint: Complaint, kind: str) -> bool:
        """Whether the type with the missing field is all that is wanted, and not one of several."""
        first = _UNFIT.match(complaint.message.split("\n")[0])
        return first is None or first["wanted"] == kind

    # --- values -----------------------------------------------------------------------------------------------------

    def _unfit(self, complaint: Complaint, node: Node, tool: DeclaredTool) -> Mistake | None:
        reason = _reason(complaint)
        unfit = _UNFIT.match(reason) or _WEAK.match(reason)
        if unfit is None:
            return None
        given, wanted = unfit["given"], unfit["wanted"]
        value = self._scene.syntax.value_of(node)
        if not self._scene.bindings.is_firm(value):
            return None
        if _PROMISED.match(given):
            message = "this is the promise of a tool's result; write `await` in front of the call, and take its data"
            return self._made(complaint, MistakeKind.NOT_AWAITED, message, tool)
        where = self._scene.syntax.path_in_call(node)
        if not where and "\n" not in complaint.message.strip():
            return self._no_object(complaint, tool, given, wanted)
        return self._wrong(complaint, tool, value, where, unfit.groupdict())

    def _wrong(
        self, complaint: Complaint, tool: DeclaredTool, value: Node, where: str, unfit: dict[str, str | None]
    ) -> Mistake | None:
        given, wanted = unfit["given"] or "", unfit["wanted"] or ""
        what = f"`{cut(where)}` of {_address(tool)}" if where else f"the argument of {_address(tool)}"
        if is_literal_type(given) and is_literal(value):
            near = unfit.get("near")
            hint = f"; did you mean {cut(near)}?" if near else ""
            message = f"{what} must be {cut(self._spelt(wanted))}, not {cut(given)}{hint}"
            kind = MistakeKind.WRONG_VALUE if self._are_alike(given, wanted) else MistakeKind.WRONG_TYPE
            return self._made(complaint, kind, message, tool)
        if not self._can_never_be(given, wanted):
            return None
        message = f"{what} must be {cut(self._spelt(wanted))}, not {cut(without_numbers(given))}"
        return self._made(complaint, MistakeKind.WRONG_TYPE, message, tool)

    def _can_never_be(self, given: str, wanted: str) -> bool:
        return can_never_be(given, wanted, self._scene.declared.interfaces, self._scene.declared.aliases)

    def _are_alike(self, given: str, wanted: str) -> bool:
        """Whether a literal is of the right kind, so that only its value is wrong."""
        return not self._can_never_be(given, wanted)

    def _spelt(self, kind: str) -> str:
        return without_numbers(self._scene.declared.aliases.get(kind, kind))

    # --- the argument as a whole ------------------------------------------------------------------------------------

    def _wrong_count(self, complaint: Complaint, node: Node, given: int) -> Mistake | None:
        call = _call_of(node)
        tool = None if call is None else self._scene.called_by(call)
        if call is None or tool is None:
            return None
        arguments = call.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments is not None else None
        if given and (first is None or unwrapped(first).type not in _NO_OBJECT):
            return None  # a second argument is passed over, and the first may be right
        return self._made(complaint, MistakeKind.WRONG_ARGUMENTS, _takes_one(tool), tool)

    def _no_object(self, complaint: Complaint, tool: DeclaredTool, given: str, wanted: str) -> Mistake | None:
        if not self._can_never_be(given, wanted):
            return None
        return self._made(complaint, MistakeKind.WRONG_ARGUMENTS, _takes_one(tool), tool)

    def _inside(self, node: Node) -> str:
        where = self._scene.syntax.path_in_call(node).rpartition(".")[0]
        return f" in `{cut(where)}`" if where else ""

    def _made(self, complaint: Complaint, kind: MistakeKind, message: str, tool: DeclaredTool) -> Mistake:
        return self._scene.mistake(complaint, kind, message, source=tool.source, tool=tool.name)


def _said_last(complaint: Complaint, what: re.Pattern[str]) -> re.Match[str] | None:
    return what.match(complaint.message.strip().split("\n")[-1].strip())


def _reason(complaint: Complaint) -> str:
    """The line that names the value and type which do not fit: the first, or that of the innermost property. Lines
    below it are about members of a union and items of a list, of which others may fit."""
    lines = [line.strip() for line in complaint.message.strip().split("\n")]
    within = [at for at, line in enumerate(lines) if _PROPERTY.match(line)]
    return lines[min(within[-1] + 1, len(lines) - 1)] if within else lines[0]


def _is_one_object(kind: str) -> bool:
    """Whether a type is one object, and not one of several."""
    return _TYPE.match(kind) is not None or (kind.startswith("{") and len(split_union(kind)) == 1)


def _call_of(node: Node) -> Node | None:
    """The call whose name or surplus argument the node is."""
    inner: Node | None = node
    while inner is not None and inner.type != "call_expression":
        if inner.type in ("statement_block", "program", "arrow_function"):
            return None
        inner = inner.parent
    return inner


def _address(tool: DeclaredTool) -> str:
    return f"`{cut(call_expression(tool.source, tool.name))}`"


def _takes_one(tool: DeclaredTool) -> str:
    shown = f"{{ {listed(tool.fields)} }}" if tool.fields else "{}"
    return f"{_address(tool)} takes one object of fields: {shown}"
