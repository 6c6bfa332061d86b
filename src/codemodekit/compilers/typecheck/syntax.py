"""What stands at a place of a program: the call an argument belongs to, a field that is only probed, a literal.

Works on the erased text, the one the compiler's complaints are about. Knows nothing of tools.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typescript.parsing import LANGUAGE, ParsedProgram, parse_loosely
from codemodekit.compilers.typescript.text import join_surrogates

__all__ = ["ProgramSyntax", "is_literal", "is_plain_object", "unwrapped"]

_TRANSPARENT: Final = frozenset({"parenthesized_expression"})
_LITERALS: Final = frozenset(
    {"string", "number", "true", "false", "template_string", "array", "object", "unary_expression"}
)
_PROBING: Final = frozenset({"??", "||", "&&", "===", "!==", "==", "!=", "in", "instanceof", "??=", "||=", "&&="})
_CONDITIONAL: Final = frozenset({"if_statement", "while_statement", "do_statement", "for_statement"})
_LOOKERS: Final = frozenset(
    {"Array.isArray", "Boolean", "String", "JSON.stringify", "console.log", "console.info", "console.warn",
     "console.error", "console.debug"}
)  # fmt: skip
"""Functions that take anything, also `undefined`."""

_STRINGS: Final = Query(LANGUAGE, "(string) @string")


class ProgramSyntax:
    """The tree of an erased program, addressed by UTF-16 offsets."""

    def __init__(self, units: str) -> None:
        self.units = units
        self.parsed: ParsedProgram = parse_loosely(units)

    def text(self, node: Node) -> str:
        start, end = self.parsed.span(node)
        return join_surrogates(self.units[start:end])

    def at(self, start: int, end: int) -> Node | None:
        """The smallest named node that holds the range."""
        shift = self.parsed.shift
        return self.parsed.root.named_descendant_for_byte_range(start << shift, max(start, end - 1) << shift)

    def covering(self, start: int, end: int) -> Node | None:
        """The named node that is exactly the range, else the smallest one that holds it."""
        node = self.at(start, end)
        while node is not None and node.parent is not None and self.parsed.span(node)[1] < end:
            node = node.parent
        return node

    @cached_property
    def strings(self) -> frozenset[str]:
        """What stands in quotes anywhere in the program, except in brackets after a value."""
        found = QueryCursor(_STRINGS).captures(self.parsed.root).get("string", [])
        return frozenset(
            self.text(node)[1:-1] for node in found if node.parent is None or node.parent.type != "subscript_expression"
        )

    # --- values and calls -------------------------------------------------------------------------------------------

    def value_of(self, node: Node) -> Node:
        """The value a complaint at `node` is about: that of a property, else `node` itself."""
        parent = node.parent
        if parent is not None and parent.type == "pair" and parent.child_by_field_name("key") == node:
            node = parent.child_by_field_name("value") or node
        return unwrapped(node)

    def call_around(self, node: Node) -> Node | None:
        """The call that `node` is written in as an argument, or as part of one, through literals only."""
        while (parent := node.parent) is not None:
            if parent.type == "arguments":
                call = parent.parent
                return call if call is not None and call.type == "call_expression" else None
            if parent.type not in _CARRIERS:
                return None
            node = parent
        return None

    def path_in_call(self, node: Node) -> str:
        """Where in the argument a complaint about `node` is: `filter.after`, `labels[]`; empty for the whole."""
        parts: list[str] = []
        while (parent := node.parent) is not None and parent.type != "arguments":
            if parent.type == "pair" and (key := parent.child_by_field_name("key")) is not None:
                parts.append(self.text(key).strip("\"'"))
            elif parent.type == "array":
                parts.append("[]")
            elif node.type.startswith("shorthand_property_identifier"):
                parts.append(self.text(node))
            node = parent
        return ".".join(reversed(parts)).replace(".[]", "[]")

    def accessed_name(self, access: Node) -> str | None:
        """The name in `a.name` or `a["name"]`; None if it is computed."""
        name, index = access.child_by_field_name("property"), access.child_by_field_name("index")
        if name is not None:
            return self.text(name)
        text = self.text(index) if index is not None and index.type == "string" else "\\"
        return None if "\\" in text else text[1:-1]

    def path_in_pattern(self, name: Node, pattern: Node) -> tuple[str, ...] | None:
        """The names that lead to a name inside `{ a: { name } }`; None where positions or a rest come in."""
        names: list[str] = []
        node = name
        while node != pattern and (parent := node.parent) is not None:
            if parent.type == "pair_pattern" and (key := parent.child_by_field_name("key")) is not None:
                names.append(self.text(key).strip("\"'"))
            elif parent.type != "object_pattern" or node.type not in (
                "shorthand_property_identifier_pattern",
                "pair_pattern",
            ):
                return None
            if node.type == "shorthand_property_identifier_pattern":
                names.append(self.text(node))
            node = parent
        return tuple(reversed(names))

    # --- how a field is read ----------------------------------------------------------------------------------------

    def owner(self, name: Node) -> Node | None:
        """What a field is read from: the object before the dot, or what is taken apart."""
        parent = name.parent
        if parent is None:
            return None
        if parent.type in ("member_expression", "subscript_expression"):
            return parent.child_by_field_name("object")
        node: Node | None = parent
        while node is not None and node.type in _PATTERNS:
            node = node.parent
        if node is None:
            return None
        if node.type == "variable_declarator":
            return node.child_by_field_name("value")
        return node if node.type in ("required_parameter", "for_in_statement") else None

    def is_probed(self, name: Node) -> bool:
        """Whether a program asks for a field rather than relying on it: it is compared, given a default, set."""
        parent = name.parent
        if parent is None:
            return True
        if parent.type not in ("member_expression", "subscript_expression"):
            return _has_default(name)
        node, around = parent, parent.parent
        while around is not None and around.type in _TRANSPARENT:
            if around.parent is not None and around.parent.type in _CONDITIONAL:
                return True
            node, around = around, around.parent
        return around is None or self._asks(node, around)

    def _asks(self, node: Node, around: Node) -> bool:
        match around.type:
            case "binary_expression":
                operator = around.child_by_field_name("operator")
                return operator is not None and operator.type in _PROBING
            case "unary_expression":
                operator = around.child_by_field_name("operator")
                return operator is not None and operator.type in ("!", "typeof", "void", "delete")
            case "ternary_expression":
                return bool(around.child_by_field_name("condition") == node)
            case "assignment_expression" | "augmented_assignment_expression" | "update_expression":
                return bool(around.child_by_field_name("right") != node)
            case "member_expression" | "call_expression" | "subscript_expression":
                return any(child.type in ("optional_chain", "?.") for child in around.children)
            case "arguments":
                call = around.parent
                function = None if call is None else call.child_by_field_name("function")
                return function is not None and self.text(function) in _LOOKERS
            case kind:
                return kind in _CONDITIONAL

    def is_relied_on(self, name: Node) -> bool:
        """Whether the program fails if the field is not there: a field of it is read, it is called, gone through."""
        node = name.parent
        if node is None or node.type not in ("member_expression", "subscript_expression"):
            return False
        around = node.parent
        while around is not None and around.type in _TRANSPARENT:
            node, around = around, around.parent
        if around is None:
            return False
        if around.type in ("member_expression", "subscript_expression"):
            return bool(around.child_by_field_name("object") == node)
        if around.type == "call_expression":
            return bool(around.child_by_field_name("function") == node)
        if around.type == "for_in_statement":
            return bool(around.child_by_field_name("right") == node)
        return around.type == "spread_element" and around.parent is not None and around.parent.type != "object"

    def is_called(self, name: Node) -> bool:
        """Whether the field is called as a method."""
        node = name.parent
        around = None if node is None else node.parent
        return (
            around is not None and around.type == "call_expression" and around.child_by_field_name("function") == node
        )

    def is_tried(self, node: Node) -> bool:
        """Whether a failure there is caught."""
        inner: Node | None = node
        while inner is not None and (around := inner.parent) is not None:
            if (
                around.type == "try_statement"
                and around.child_by_field_name("body") == inner
                and around.child_by_field_name("handler") is not None
            ):
                return True
            inner = around
        return False


_CARRIERS: Final = frozenset(
    {"pair", "object", "array", "parenthesized_expression", "ternary_expression", "spread_element"}
)
_PATTERNS: Final = frozenset(
    {"object_pattern", "array_pattern", "pair_pattern", "object_assignment_pattern", "assignment_pattern",
     "shorthand_property_identifier_pattern", "rest_pattern"}
)  # fmt: skip


def unwrapped(node: Node) -> Node:
    """The node without parentheses around it."""
    while node.type in _TRANSPARENT and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def is_literal(node: Node) -> bool:
    """Whether the value is written out, so that its type cannot be another at run time."""
    if node.type == "unary_expression":
        return node.named_child_count == 1 and node.named_children[0].type == "number"
    return node.type in _LITERALS


def is_plain_object(node: Node) -> bool:
    """Whether the node is an object whose fields can all be seen."""
    return node.type == "object" and all(
        child.type in ("pair", "shorthand_property_identifier", "method_definition", "comment")
        and not any(part.type == "computed_property_name" for part in child.children)
        for child in node.named_children
    )


def _has_default(name: Node) -> bool:
    """Whether a name in a pattern has a value for when it is missing."""
    node: Node | None = name
    while node is not None and node.type not in ("object_pattern", "array_pattern"):
        if node.type in ("object_assignment_pattern", "assignment_pattern"):
            return True
        if node.type == "pair_pattern":
            value = node.child_by_field_name("value")
            return value is not None and value.type == "assignment_pattern"
        node = node.parent
    return False
