"""Whether a value can be trusted to have the type the compiler infers for it.

TypeScript believes that a variable keeps the type it began with; a program that puts something else into it is wrong in
its eyes and may run well. So a value counts only if each variable in it is bound once, for good, to something that did
not come out of the program's own hands: a call, a literal, a parameter whose type comes from the call it is passed to.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typecheck.syntax import ProgramSyntax, identifiers, unwrapped
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

_DEEPEST: Final = 20


class Bindings:
    """What the names of one program are bound to, wherever in it."""

    def __init__(self, syntax: ProgramSyntax) -> None:
        self._syntax = syntax
        self._values: defaultdict[str, list[Node | None]] = defaultdict(list)
        """What a name is bound to for good; None stands for a parameter."""
        self._loose: set[str] = {"this"}
        for kind, nodes in QueryCursor(_QUERY).captures(syntax.parsed.root).items():
            for node in nodes:
                self._note(kind, node)

    def is_firm(self, node: Node) -> bool:
        """Whether the type of an expression is what it is at run time."""
        return self._is_firm(node, 0)

    def is_bound(self, name: str) -> bool:
        """Whether the program itself gives the name a meaning."""
        return name in self._values or name in self._loose

    def _is_firm(self, node: Node, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        return all(self._is_firm_name(self._syntax.text(one), depth) for one in identifiers(node))

    def _is_firm_name(self, name: str, depth: int) -> bool:
        if name in self._loose:
            return False
        return all(value is None or self._is_firm_value(value, depth + 1) for value in self._values.get(name, ()))

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
