"""Whether a value can be trusted to have the type the compiler infers for it.

TypeScript believes that a variable keeps the type it began with; a program that puts something else into it is wrong in
its eyes and may run well. So a value counts only if each variable in it is bound once, for good, to something that did
not come out of the program's own hands: a call, a literal, a parameter whose type comes from the call it is passed to.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final, TypeAlias

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


Address: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Bound:
    """What one name is bound to."""

    value: Node | None
    """None for a parameter: its type comes from the call it is passed to."""
    path: Address | None
    """Where in the value it is; None if names alone do not say."""

    def is_firm(self, bindings: Bindings, depth: int) -> bool:
        return self.value is None or bindings.is_firm_value(self.value, depth)

    def address(self, bindings: Bindings, depth: int) -> Address | None:
        if self.value is None or self.path is None:
            return None
        root = bindings.address_of_value(self.value, depth)
        return None if root is None else (*root, *self.path)


class Bindings:
    """What the names of one program are bound to, wherever in it."""

    def __init__(self, syntax: ProgramSyntax) -> None:
        self._syntax = syntax
        self._bound: defaultdict[str, list[_Bound]] = defaultdict(list)
        """What a name is bound to for good."""
        self._loose: set[str] = {"this"}
        self._firm: dict[str, bool] = {}
        self._addresses: dict[str, Address | None] = {}
        for kind, nodes in QueryCursor(_QUERY).captures(syntax.parsed.root).items():
            for node in nodes:
                self._note(kind, node)

    def is_firm(self, node: Node) -> bool:
        """Whether the type of an expression is what it is at run time."""
        return self._is_firm(node, 0)

    def address(self, node: Node) -> Address | None:
        """The names that lead from `tools` to an expression, directly or by way of variables; None if it is not
        reached by names alone."""
        return self._address(node, 0)

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
                if function is not None and self._address(function, depth) is not None:
                    one = function
            waiting.extend(one.named_children)
        return True

    def _is_firm_name(self, name: str, depth: int) -> bool:
        known = self._firm.get(name)
        if known is None:
            self._firm[name] = False  # while it is being looked at
            known = depth < _DEEPEST and name not in self._loose
            known = known and all(one.is_firm(self, depth + 1) for one in self._bound.get(name, ()))
            self._firm[name] = known
        return known

    def is_firm_value(self, value: Node, depth: int) -> bool:
        """The same of what a name is bound to."""
        value = unwrapped(value)
        return value.type not in _OWN and self._is_firm(value, depth)

    def _address(self, node: Node, depth: int) -> Address | None:
        names: list[str] = []
        node = unwrapped(node)
        while node.type in ("member_expression", "subscript_expression"):
            name, inner = self._syntax.accessed_name(node), node.child_by_field_name("object")
            if name is None or inner is None:
                return None
            names.append(name)
            node = unwrapped(inner)
        root = self._address_of_name(self._syntax.text(node), depth) if node.type == "identifier" else None
        return None if root is None else (*root, *reversed(names))

    def _address_of_name(self, name: str, depth: int) -> Address | None:
        if name not in self._addresses:
            self._addresses[name] = None  # while it is being looked at
            self._addresses[name] = self._address_of_bound(name, depth)
        return self._addresses[name]

    def _address_of_bound(self, name: str, depth: int) -> Address | None:
        bound = self._bound.get(name, [])
        if name in self._loose or depth > _DEEPEST:
            return None
        if name == "tools" and all(one.value is None for one in bound):
            return ()  # the global, or the parameter of a program that is nothing but a function
        found = {one.address(self, depth + 1) for one in bound}
        return found.pop() if len(found) == 1 else None

    def address_of_value(self, value: Node, depth: int) -> Address | None:
        """The address of what a name is bound to."""
        return self._address(value, depth)

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
            if pattern is not None and firm and not _has_defaults(pattern):
                self._bound[self._syntax.text(name)].append(_Bound(value, self._syntax.path_in_pattern(name, pattern)))
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
