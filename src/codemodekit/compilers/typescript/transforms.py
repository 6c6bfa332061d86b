"""The TypeScript that runs and therefore cannot be erased: enums and parameter properties.

Both become JavaScript on the lines they stand on; initialisers stay where they are, so that only what is inserted
between them moves columns. Names of earlier members inside an initialiser are qualified, as TypeScript does it.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.parsing import ParsedProgram
from codemodekit.compilers.typescript.problems import unsupported

__all__ = ["Transformer"]

_PATTERN_ADVICE: Final = "give the parameter a plain name and assign the fields in the constructor's body"


class Transformer:
    """Turns enums and parameter properties into edits."""

    def __init__(self, units: str, parsed: ParsedProgram, edits: Edits) -> None:
        self.units = units
        self.parsed = parsed
        self.edits = edits
        self._constructors: dict[int, tuple[Node, list[str]]] = {}

    # --- enums --------------------------------------------------------------------------------------------------------

    def enum(self, start: int, end: int, node: Node) -> None:
        """`enum E { A, B = 2 }` to a function that fills an object, both directions for numbers."""
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None or body is None:
            raise unsupported("this enum cannot be read; use a plain object `as const`", start, end, "enum")
        name = self._text(name_node)
        helper = self._unused("$member")
        # At the top level `var`, so that a second enum of the same name adds to the first.
        keyword, given = ("var", f"{name} ?? {{}}") if self._at_top(node) else ("let", "{}")
        opening = self.parsed.span(body)[0]
        self.edits.blank(start, opening + 1)
        self.edits.insert(
            start,
            f"{keyword} {name} = (({name}) => {{ const {helper} = (k, v) => "
            f'{{ {name}[k] = v; if (typeof v === "number") {name}[v] = k; }};',
        )
        self._members(name, helper, body)
        self.edits.blank(end - 1, end)
        self.edits.insert(end - 1, f"return {name}; }})({given});")

    def _members(self, name: str, helper: str, body: Node) -> None:
        known: set[str] = set()
        following = "0"
        for member in body.children:
            if member.type == ",":
                self.edits.blank(*self.parsed.span(member))
            if not member.is_named or member.type == "comment":
                continue
            value = member.child_by_field_name("value") if member.type == "enum_assignment" else None
            label = member.child_by_field_name("name") if member.type == "enum_assignment" else member
            start, end = self.parsed.span(member)
            key = self._key(label, start, end)
            if value is None:
                self.edits.blank(start, end)
                self.edits.insert(start, f"{helper}({key}, {following});")
            else:
                value_start, value_end = self.parsed.span(value)
                self.edits.blank(start, value_start)
                self.edits.insert(start, f"{helper}({key}, ")
                self._qualify(name, known, value)
                self.edits.insert(value_end, ");")
            following = f"{name}[{key}] + 1"
            known.add(self._text(label) if label is not None else key)

    def _key(self, label: Node | None, start: int, end: int) -> str:
        if label is not None and label.type == "computed_property_name" and label.named_child_count == 1:
            label = label.named_child(0)
        text = self._text(label) if label is not None else ""
        if label is not None and label.type == "property_identifier" and "\\" not in text:
            return f'"{text}"'
        if label is not None and label.type == "string" and "\n" not in text:
            return text
        raise unsupported(
            f"the enum member {self.units[start:end][:40]!r} needs a plain name or a string as its name",
            start,
            end,
            "enum",
        )

    def _qualify(self, name: str, known: set[str], value: Node) -> None:
        cursor = value.walk()
        while True:
            node = cursor.node
            if node is not None and node.type == "identifier" and self._text(node) in known:
                self.edits.insert(self.parsed.span(node)[0], f"{name}.")
            if cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def _at_top(self, node: Node) -> bool:
        return node.parent is not None and node.parent.parent is None

    def _unused(self, name: str) -> str:
        while name in self.units:
            name += "_"
        return name

    # --- parameter properties -----------------------------------------------------------------------------------------

    def parameter_property(self, start: int, end: int, node: Node) -> None:
        """`constructor(private x)`: the modifier goes, `this.x=x;` comes into the body."""
        self.edits.blank(start, end)
        parameter = node.parent
        parameters = parameter.parent if parameter is not None else None
        method = parameters.parent if parameters is not None else None
        if parameter is None or method is None or method.type != "method_definition":
            raise unsupported("a parameter takes a modifier only in a constructor", start, end, "parameter-property")
        pattern = parameter.child_by_field_name("pattern")
        if pattern is None or pattern.type != "identifier":
            raise unsupported(
                f"a parameter property cannot be a pattern; {_PATTERN_ADVICE}", start, end, "parameter-property"
            )
        names = self._constructors.setdefault(method.start_byte, (method, []))[1]
        if (name := self._text(pattern)) not in names:
            names.append(name)

    def finish(self) -> None:
        """Insert the assignments of all parameter properties met."""
        for method, names in self._constructors.values():
            self.edits.insert(self._assignments_at(method), ";" + "".join(f"this.{name}={name};" for name in names))

    def _assignments_at(self, method: Node) -> int:
        body = method.child_by_field_name("body")
        start, end = self.parsed.span(method)
        if body is None:
            raise unsupported("a constructor with parameter properties needs a body", start, end, "parameter-property")
        if not self._derived(method):
            return self.parsed.span(body)[0] + 1
        for statement in body.named_children:
            if _is_super_call(statement):
                return self.parsed.span(statement)[1]
        raise unsupported(
            "a constructor with parameter properties must call `super(...)` in a statement of its own at its top level",
            start,
            end,
            "parameter-property",
        )

    def _derived(self, method: Node) -> bool:
        body = method.parent
        owner = body.parent if body is not None else None
        heritage = next((child for child in owner.children if child.type == "class_heritage"), None) if owner else None
        return heritage is not None and any(child.type == "extends_clause" for child in heritage.children)

    def _text(self, node: Node) -> str:
        start, end = self.parsed.span(node)
        return self.units[start:end]


def _is_super_call(statement: Node) -> bool:
    if statement.type != "expression_statement" or statement.named_child_count == 0:
        return False
    call = statement.named_child(0)
    function = call.child_by_field_name("function") if call.type == "call_expression" else None
    return function is not None and function.type == "super"
