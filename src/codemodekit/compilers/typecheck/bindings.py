"""Whether a value can be trusted to have the type the compiler infers for it.

TypeScript believes that a variable keeps the type it began with; a program that puts something else into it is wrong in
its eyes and may run well. So a value counts only if each variable in it is bound once, for good, to something that did
not come out of the program's own hands: a call, a literal, a parameter whose type comes from the call it is passed to.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typecheck.syntax import ProgramSyntax, unwrapped
from codemodekit.compilers.typescript.parsing import LANGUAGE

__all__ = ["Bindings"]

_QUERY: Final = Query(
    LANGUAGE,
    """
    (variable_declarator) @declared
    (required_parameter) @parameter
    (arrow_function parameter: (identifier) @parameter)
    (for_in_statement) @looped
    (function_declaration name: (identifier) @made)
    (function_expression name: (identifier) @made)
    (generator_function_declaration name: (identifier) @made)
    (class_declaration name: (type_identifier) @made)
    (assignment_expression left: (_) @changed)
    (augmented_assignment_expression left: (_) @changed)
    (update_expression argument: (_) @changed)
    """,
)

_OWN: Final = frozenset(
    {"object", "array", "new_expression", "arrow_function", "function_expression", "class", "ternary_expression"}
)
"""Values the program makes itself, and may change, or whose type is one of several."""

_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier", "this"})
_DEEPEST: Final = 20
_MOST_NODES: Final = 5_000
"""Of an expression that is larger nothing is said."""


class Bindings:
    """What the names of one program are bound to, wherever in it."""

    def __init__(self, syntax: ProgramSyntax) -> None:
        self._syntax = syntax
        self._values: defaultdict[str, list[Node | None]] = defaultdict(list)
        """What a name is bound to for good; None stands for a parameter."""
        self._loose: set[str] = {"this"}
        self._firm: dict[str, bool] = {}
        self._leading: dict[str, bool] = {}
        for kind, nodes in QueryCursor(_QUERY).captures(syntax.parsed.root).items():
            for node in nodes:
                self._note(kind, node)

    def is_firm(self, node: Node) -> bool:
        """Whether the type of an expression is what it is at run time."""
        return self._is_firm(node, 0)

    def leads_to_tools(self, node: Node) -> bool:
        """Whether an expression is `tools` or something reached from it by names alone."""
        return self._leads(node, 0)

    def _is_firm(self, node: Node, depth: int) -> bool:
        waiting, left = [node], _MOST_NODES
        while waiting:
            one = waiting.pop()
            left -= 1
            if left < 0 or (one.type in _NAMES and not self._is_firm_name(self._syntax.text(one), depth)):
                return False
            if one.type == "call_expression":
                # what a tool answers does not depend on what it is given
                function = one.child_by_field_name("function")
                if function is not None and self._leads(function, depth):
                    one = function
            waiting.extend(one.named_children)
        return True

    def _is_firm_name(self, name: str, depth: int) -> bool:
        known = self._firm.get(name)
        if known is None:
            self._firm[name] = False  # while it is being looked at
            known = depth < _DEEPEST and name not in self._loose
            known = known and all(value is None or self._is_firm_value(value, depth + 1) for value in self._of(name))
            self._firm[name] = known
        return known

    def _leads(self, node: Node, depth: int) -> bool:
        node = unwrapped(node)
        while node.type in ("member_expression", "subscript_expression"):
            inner = node.child_by_field_name("object")
            if inner is None:
                return False
            node = unwrapped(inner)
        return node.type == "identifier" and self._name_leads(self._syntax.text(node), depth)

    def _name_leads(self, name: str, depth: int) -> bool:
        known = self._leading.get(name)
        if known is None:
            self._leading[name] = False
            values = self._of(name)
            if depth > _DEEPEST or name in self._loose:
                known = False
            elif name == "tools" and not any(values):
                known = True  # the global, or the parameter of a program that is nothing but a function
            else:
                known = bool(values) and all(value is not None and self._leads(value, depth + 1) for value in values)
            self._leading[name] = known
        return known

    def _of(self, name: str) -> list[Node | None]:
        return self._values.get(name, [])

    def _is_firm_value(self, value: Node, depth: int) -> bool:
        value = unwrapped(value)
        return value.type not in _OWN and self._is_firm(value, depth)

    def _note(self, kind: str, node: Node) -> None:
        if kind == "declared":
            value = node.child_by_field_name("value")
            self._bind(node.child_by_field_name("name"), value, firm=value is not None)
        elif kind == "looped":
            if node.child_by_field_name("kind") is not None:
                self._bind(node.child_by_field_name("left"), node.child_by_field_name("right"), firm=True)
            else:
                self._change(node.child_by_field_name("left"))
        elif kind == "parameter":
            pattern = node if node.type == "identifier" else node.child_by_field_name("pattern")
            self._bind(pattern, None, firm=node.type == "identifier" or node.child_by_field_name("value") is None)
        elif kind == "made":
            self._loose.add(self._syntax.text(node))
        else:
            self._change(node)

    def _bind(self, pattern: Node | None, value: Node | None, *, firm: bool) -> None:
        for name in _names(pattern):
            if firm and not _has_defaults(pattern):
                self._values[self._syntax.text(name)].append(value)
            else:
                self._loose.add(self._syntax.text(name))

    def _change(self, node: Node | None) -> None:
        """Setting a field of something makes the whole of it something else."""
        while node is not None and (inner := node.child_by_field_name("object")) is not None:
            node = inner
        self._loose.update(self._syntax.text(name) for name in _names(node))


_BINDING_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})


def _names(pattern: Node | None) -> list[Node]:
    found: list[Node] = []
    waiting = [] if pattern is None else [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in _BINDING_NAMES:
            found.append(node)
        waiting.extend(node.named_children)
    return found


def _has_defaults(pattern: Node | None) -> bool:
    waiting = [] if pattern is None else [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in ("assignment_pattern", "object_assignment_pattern"):
            return True
        waiting.extend(node.named_children)
    return False
