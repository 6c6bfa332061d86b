"""Types to blanks, in place: every other character keeps its line and column.

Blanking alone can change the meaning of what stays, where a type or its line end kept two tokens apart. Each such
hazard has its cure here, written over a blank: a semicolon before a statement that would join the one above, a
parenthesis moved across a line end that JavaScript does not allow. Sees one capture at a time; does not know which
programs are refused or what is inserted for enums.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.parsing import ParsedProgram
from codemodekit.compilers.typescript.problems import unsupported
from codemodekit.compilers.typescript.text import LINE_ENDS

__all__ = ["Eraser"]

_LINE_END: Final = re.compile(f"[{LINE_ENDS}]")
_GAP: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_CALL_LIKE: Final = ("(", "[", "`")
"""A line that begins so goes on with the expression above it."""
_NEEDS_PARENTHESES: Final = re.compile(r"(?:\{|(?:async\s+)?function\b|class\b|let\b)")
_ACCESSOR_WORDS: Final = frozenset({"get", "set", "static", "async", "accessor"})
_STRENGTHS: Final = (
    ("instanceof", "in", "<", ">", "<=", ">="),
    ("<<", ">>", ">>>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("**",),
)
"""Operators that hold as tightly as a conversion, and tighter ones, loosest first."""
_STRENGTH: Final = {sign: strength for strength, signs in enumerate(_STRENGTHS) for sign in signs}
_TIGHT: Final = re.compile(r"[-+*/%]|<<|>>")
_CONVERTING: Final = 0
_POWER: Final = len(_STRENGTHS) - 1
_MOST_CLIMBED: Final = 2_000
_CONVERSIONS: Final = frozenset({"as_expression", "satisfies_expression"})
_UNARY: Final = frozenset({"unary_expression", "await_expression", "type_assertion"})
_NEVER_BEFORE_LINE_END: Final = frozenset({"return_statement", "throw_statement", "yield_expression"})


class Eraser:
    """Turns captures of type syntax into edits."""

    def __init__(self, units: str, parsed: ParsedProgram, edits: Edits) -> None:
        self.units = units
        self.parsed = parsed
        self.edits = edits
        self._climbed = 0

    def blank(self, start: int, end: int, _node: Node) -> None:
        self.edits.blank(start, end)

    def statement(self, start: int, end: int, _node: Node) -> None:
        """A whole statement or class member: the semicolon keeps neighbours apart."""
        self.edits.blank(start, end)
        self.edits.put(start, ";")

    def first_modifier(self, start: int, end: int, node: Node) -> None:
        """Without the semicolon `private ['x']` below `y = 1` would become `y = 1 ['x']`.

        Behind `static`, which the query does not count, there must be none: `static ; x` would be two fields.
        """
        self.edits.blank(start, end)
        if node.parent is not None and node.parent.start_byte == node.start_byte:
            self.edits.put(start, ";")

    def this_parameter(self, start: int, end: int, _node: Node) -> None:
        after = self._skip(end)
        self.edits.blank(start, end)
        if self.units.startswith(",", after):
            self.edits.blank(after, after + 1)

    def field_name(self, start: int, end: int, _node: Node) -> None:
        """`get: T` with a method below would become a getter of that name."""
        if self.units[start:end] in _ACCESSOR_WORDS:
            self.edits.put(self._skip(end), ";")

    def arrow_return(self, _start: int, _end: int, node: Node) -> None:
        """No line may end between the parameters' `)` and `=>`: the parenthesis moves down to the arrow's line."""
        returned = node.child_by_field_name("return_type")
        parameters = node.child_by_field_name("parameters")
        arrow = next((child for child in node.children if child.type == "=>"), None)
        if returned is None or parameters is None or arrow is None:
            return
        close, arrow_at = self.parsed.span(parameters)[1] - 1, self.parsed.span(arrow)[0]
        if _LINE_END.search(self.units, close, arrow_at):
            self.edits.blank(close, close + 1)
            self.edits.put(self.parsed.span(returned)[1] - 1, ")")

    def arrow_parameters(self, _start: int, _end: int, node: Node) -> None:
        """`async <T>` or `return <T>` with a line end before the `(`: the parenthesis moves up."""
        types, parameters = node.child_by_field_name("type_parameters"), node.child_by_field_name("parameters")
        if types is None or parameters is None:
            return
        start, opening = self.parsed.span(types)[0], self.parsed.span(parameters)[0]
        if _LINE_END.search(self.units, start, opening):
            self.edits.put(start, "(")
            self.edits.blank(opening, opening + 1)

    def conversion(self, _start: int, end: int, node: Node) -> None:
        """`x as T` or `x satisfies T`; a type ends at its line end, what JavaScript would then call stays apart.

        What is converted is a whole: `a + b as T * c` is `(a + b) * c`.
        """
        expression = node.child(0)
        kept = self.parsed.span(expression)[1]
        end = self._end_of_line_type(node, end)
        self.edits.blank(kept, end)
        after = self._skip(end)
        if self.units.startswith(_CALL_LIKE, after) and _LINE_END.search(self.units, end, after):
            self.edits.put(self._skip(kept), ";")
        elif _TIGHT.match(self.units, after) and (operand := self._operand_to_hold(node)) is not None:
            self.edits.insert(operand, "(")
            self.edits.put(kept, ")")

    def _operand_to_hold(self, node: Node) -> int | None:
        """Where the operand of a conversion begins, if without its type the operator behind would part it."""
        following = _strength(node.parent) if node.parent is not None and node.parent.child(0) == node else None
        if following is None or following <= _CONVERTING:
            return None
        held, first = node, node
        while (parent := held.parent) is not None and (strength := _strength(parent)) is not None:
            self._climb(node)
            if parent.child(0) != held:
                if strength < _CONVERTING:
                    break
                first = parent
            held = parent
        inner = node
        while inner.type in _CONVERSIONS:
            inner = inner.child(0)
        within = _strength(inner)
        is_power = following == _POWER
        parted = within is not None and (within < following or is_power)
        if parted or first != node or (is_power and inner.type in _UNARY):
            return self.parsed.span(first)[0]
        return None

    def _end_of_line_type(self, node: Node, end: int) -> int:
        """The grammar reads `x as T` and `[0]` on the next line as `T[0]`; TypeScript ends the type at the line end."""
        target = node.child(node.child_count - 1)
        while target.type in ("lookup_type", "array_type") and target.child_count:
            element = self.parsed.span(target.child(0))[1]
            if _LINE_END.search(self.units, element, self._skip(element)):
                return element
            target = target.child(0)
        return end

    def _climb(self, node: Node) -> None:
        """Every step up takes longer the deeper it begins: so many are enough for any honest program."""
        self._climbed += 1
        if self._climbed > _MOST_CLIMBED:
            raise unsupported(
                "too many operators stand behind conversions; put what is converted into variables",
                *self.parsed.span(node),
                "conversion",
            )

    def non_null(self, _start: int, end: int, node: Node) -> None:
        self.edits.blank(self.parsed.span(node.child(0))[1], end)

    def assertion(self, start: int, end: int, node: Node) -> None:
        """`<T>x`; parentheses where x alone would be read as a block, or would leave the line of its keyword."""
        expression = node.child(node.child_count - 1)
        kept = self.parsed.span(expression)[0]
        self.edits.blank(start, kept)
        bare = self._skip(kept)
        if _NEEDS_PARENTHESES.match(self.units, bare) or (
            _LINE_END.search(self.units, start, kept) and self._leads_a_restricted_line(node)
        ):
            self.edits.put(start, "(")
            self.edits.insert(end, ")")

    def _leads_a_restricted_line(self, node: Node) -> bool:
        start = node.start_byte
        parent = node.parent
        while parent is not None and (parent.start_byte == start or parent.type == "type_assertion"):
            start, parent = parent.start_byte, parent.parent
        return parent is not None and parent.type in _NEVER_BEFORE_LINE_END

    def _skip(self, at: int) -> int:
        """The next offset that is neither white space nor comment."""
        match = _GAP.match(self.units, at)
        return match.end() if match else at


def _strength(node: Node) -> int | None:
    """How tightly an operator holds its operands, if it is at least as tight as a conversion; None for the others."""
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return _STRENGTH.get(operator.type) if operator is not None else None
