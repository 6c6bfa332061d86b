"""Expressions made at random, with types in them wherever TypeScript allows any.

They compute with what `programs.py` declares: the numbers `a` and `b`, the string `s`, the object `o`, the array `r`, the
function `f`, and `t`, which records a value and gives it back.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from .both import Both, both, only, swap
from .type_text import Types

__all__ = ["Expression", "Expressions"]

ARROW, CONDITION, OR, EQUAL, COMPARE, SHIFT, SUM, PRODUCT, POWER, UNARY, UPDATE, CALL = range(12)
"""How tightly an expression holds together, loosest first."""

_LITERALS: Final = (
    "1", "2.5", "0x10", '"x"', "'</b> as any'", "`y`", "[1, 2]", "{ a: 1, 'b': [2] }", "null", "true", "/as any[/]/g",
    '"😀"', "(a, b)", "-1", "[]", "`${a}${`${b}`}`", "/(?<n>x)>/.source", "1_000",
)  # fmt: skip
_NAMES: Final = (
    "a",
    "b",
    "s",
    "o.a",
    "o.b.c",
    "r[0]",
    "o['a']",
    "o?.b?.c",
    "r",
    "f(a)",
    "(as)",
    "type",
    "(of)",
    "r?.[1]",
)
_OPERATORS: Final = {
    "||": OR, "&&": OR, "===": EQUAL, "!=": EQUAL, "<": COMPARE, ">": COMPARE, ">=": COMPARE,
    "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "**": POWER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expression:
    text: Both
    level: int
    converted: bool = False
    """Whether it ends in `as` or `satisfies` with its type."""


class Expressions:
    """Makes expressions with one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.types = Types(chance)
        self._functions = 0

    @contextmanager
    def function_body(self) -> Iterator[None]:
        """Inside of a function that is not async."""
        self._functions += 1
        yield
        self._functions -= 1

    def gap(self) -> Both:
        """White space that is only a space in JavaScript, which ends some statements at line ends."""
        return swap(self.types.gap(), " ")

    def at(self, level: int, depth: int) -> Both:
        """An expression that holds together at a level, in parentheses if it has to be."""
        return self.held(self.any(depth), level)

    def held(self, made: Expression, level: int) -> Both:
        if made.level >= level and not (made.converted and level > COMPARE):
            return made.text
        return both("(", self.gap(), made.text, self.gap(), ")")

    def any(self, depth: int = 3) -> Expression:
        if depth <= 0 or self.chance.random() < 0.12:
            return self.leaf()
        kinds = (
            (self.conversion, 5), (self.non_null, 3), (self.assertion, 3), (self.binary, 4), (self.condition, 2),
            (self.call, 3), (self.arrow, 3), (self.unary, 1), (self.member, 2), (self.template, 1), (self.object, 1),
            (self.function, 1), (self.array, 1), (self.assignment, 1), (self.tagged, 1), (self.instance, 1),
            (self.awaited, 1), (self.instantiation, 1),
        )  # fmt: skip
        return self.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0](depth - 1)

    def leaf(self) -> Expression:
        if self.chance.random() < 0.6:
            return Expression(both(self.chance.choice(_NAMES)), CALL)
        text = self.chance.choice(_LITERALS)
        if text.startswith("{"):
            text = f"({text})"
        return Expression(both(text), UNARY if text == "-1" else CALL)

    # --- with types -------------------------------------------------------------------------------------------------

    def conversion(self, depth: int) -> Expression:
        word = self.chance.choice(("as", "as", "satisfies"))
        made = self.held(self.any(depth), COMPARE)
        type_ = "const" if word == "as" and self.chance.random() < 0.05 else self.types.type(2)
        return Expression(both(made, only(f" {word}{self.types.gap()}{type_}")), COMPARE, converted=True)

    def non_null(self, depth: int) -> Expression:
        return Expression(both(self.at(CALL, depth), only(self.chance.choice(("!", "!", "!!")))), CALL)

    def assertion(self, depth: int) -> Expression:
        type_ = "const" if self.chance.random() < 0.1 else self.types.type(2)
        return Expression(both(only(f"<{type_}>{self.types.gap()}"), self.at(UNARY, depth)), UNARY)

    def instantiation(self, depth: int) -> Expression:
        return Expression(both("(f", only(self.types.arguments()), ")"), CALL)

    # --- JavaScript with places for types ---------------------------------------------------------------------------

    def binary(self, depth: int) -> Expression:
        sign, level = self.chance.choice(list(_OPERATORS.items()))
        left, right = self.any(depth), self.any(depth)
        first = self.left_of(left, level)
        if left.converted and sign in ("<", ">", ">=", ">>", "<<"):
            first = both("(", left.text, ")")  # `as T < x` would begin type arguments
        if sign in ("<", "<<"):
            left = Expression(both("(", left.text, ")"), CALL) if left.level < CALL else left
        if sign == "<" and right.text.js.startswith("({"):
            sign = ">"  # the grammar takes what follows for a type
        if right.level == UNARY and sign in ("<", "<<"):
            right = Expression(both("(", right.text, ")"), CALL)
        second = self.held(right, min(level + 1, UNARY) if level != POWER else POWER)
        return Expression(both(first, swap(self.types.gap(), " "), sign, " ", self.gap(), second), level)

    def left_of(self, left: Expression, level: int) -> Both:
        """`a + b as T * c` is `(a + b) * c`: TypeScript never looks into what has been converted."""
        if left.converted and level > COMPARE and not left.text.js.startswith("await") and self.chance.random() < 0.7:
            return both(swap("", "("), left.text, swap("", ")"))
        if level == POWER and left.text.js.startswith("await"):
            return both("(", left.text, ")")
        return self.held(left, UPDATE if level == POWER else level if level != OR else EQUAL)

    def condition(self, depth: int) -> Expression:
        test, yes, no = self.at(OR, depth), self.held(self.any(depth), ARROW), self.held(self.any(depth), ARROW)
        return Expression(both(test, self.gap(), "? ", yes, self.gap(), ": ", no), CONDITION)

    def call(self, depth: int) -> Expression:
        callee = self.chance.choice(
            (
                both("f"),
                both("t"),
                both("o.m"),
                both("f?."),
                both("t", only("!")),
                both("o", only("!"), ".m", only("!")),
                both("(f", only(f" as {self.types.type(1)}"), ")"),
                both("(", only(f"<{self.types.type(1)}>"), "t)"),
            )
        )
        types = only(self.types.arguments()) if self.chance.random() < 0.4 else both("")
        given = both(self.at(ARROW, depth), ", ", self.gap(), self.at(ARROW, depth))
        return Expression(both(callee, types, "(", self.gap(), given, self.gap(), ")"), CALL)

    def arrow(self, depth: int) -> Expression:
        with self.function_body():
            text = both(self.arrow_head(depth), self.gap(), self.arrow_body(depth))
        if self.chance.random() < 0.7:
            return Expression(both("(", text, ")(a, b)"), CALL)
        if self.chance.random() < 0.5:
            return Expression(both("fn(", text, ")"), CALL)
        with self.function_body():
            other = both(self.arrow_head(depth), self.arrow_body(depth))
        return Expression(both("fn(", self.at(OR, depth), " ? ", text, " : ", other, ")"), CALL)

    def arrow_head(self, depth: int) -> Both:
        if self.chance.random() < 0.1:
            return both("x => ")
        gives = only(f"{self.types.gap()}: {self.types.returned()}") if self.chance.random() < 0.5 else both("")
        return both(self.generic(), "(", self.gap(), self.parameters(depth), self.gap(), ")", gives, " => ")

    def arrow_body(self, depth: int) -> Both:
        body = self.at(ARROW, depth)
        if body.js.startswith("{"):
            body = both("(", body, ")")
        return both("{ return ", body, " }") if self.chance.random() < 0.2 else body

    def generic(self) -> Both:
        return only(self.types.parameters()) if self.chance.random() < 0.3 else both("")

    def parameters(self, depth: int) -> Both:
        """What stands between the parentheses of a function that takes numbers."""
        made = [
            self.chance.choice(
                (
                    both("x", self.annotated()),
                    both("x", only("?"), self.annotated()),
                    both("x", self.annotated(), " = ", self.at(ARROW, min(depth, 1))),
                    both("{ x, y: { z = 1 } = {} }", self.annotated(), " = {}"),
                )
            )
        ]
        if self.chance.random() < 0.4:
            made.append(both("...[y, ...w]", self.annotated()))
        return both(*[part for each in made for part in (each, ", ")][:-1])

    def annotated(self) -> Both:
        return only(f":{self.types.gap()}{self.types.type(2)}") if self.chance.random() < 0.6 else both("")

    def returned(self) -> Both:
        kinds = (self.types.type(2), self.types.type(2), "asserts x", "x is T", "asserts x is string[]", "this")
        return (
            only(f"{self.types.gap()}:{self.types.gap()}{self.chance.choice(kinds)}")
            if self.chance.random() < 0.6
            else both("")
        )

    def function(self, depth: int) -> Expression:
        this = only(f"this: {self.types.type(1)}, ") if self.chance.random() < 0.3 else both("")
        with self.function_body():
            given = both("(", self.gap(), this, self.parameters(depth), ")")
            body = both(" { return ", self.at(ARROW, depth), " }")
        return Expression(both("(function ", self.generic(), given, self.returned(), body, ")(a)"), CALL)

    def unary(self, depth: int) -> Expression:
        sign = self.chance.choice(("!", "-", "typeof ", "void ", "+", "~"))
        return Expression(
            both(sign, "(" if sign in "+-" else "", self.at(UNARY, depth), ")" if sign in "+-" else ""), UNARY
        )

    def member(self, depth: int) -> Expression:
        owner = both("(", self.at(ARROW, depth), ")")
        tail = self.chance.choice(
            (both(".a"), both("?.a"), both("?.[", self.at(ARROW, depth), "]"), both("?.b", only("!"), ".c"))
        )
        return Expression(both("(o ?? ", owner, ")", tail), CALL)

    def template(self, depth: int) -> Expression:
        return Expression(both("`x${", self.gap(), self.at(ARROW, depth), self.gap(), "}`"), CALL)

    def tagged(self, depth: int) -> Expression:
        return Expression(both("tag", only(self.types.arguments()), "`x${", self.at(ARROW, depth), "}`"), CALL)

    def object(self, depth: int) -> Expression:
        key, value = both("[", self.at(ARROW, depth), "]"), self.at(ARROW, depth)
        with self.function_body():
            method = both("m", self.generic(), "(", self.parameters(depth), ")", self.returned(), " { return 1 }")
        member = self.chance.choice(
            (
                both(key, ": ", value),
                both("a: ", value, ", ", method),
                both("get a()", self.returned(), " { return 2 }, async m2()", self.returned(), " {}"),
                both("...", value, ", *g()", self.returned(), " {}"),
                both("a, b, as, type"),
            )
        )
        return Expression(both("({ ", member, " })"), CALL)

    def array(self, depth: int) -> Expression:
        return Expression(both("[", self.at(ARROW, depth), ",", self.gap(), "...r", only("!"), "]"), CALL)

    def assignment(self, depth: int) -> Expression:
        kind = self.types.type(1)
        target = self.chance.choice(
            (
                both("a"),
                both("(a", only(f" as {kind}"), ")"),
                both("b", only("!")),
                both("(", only(f"<{kind}>"), "o.a)"),
                both("o", only("!"), ".a"),
                both("(o", only(f" as {kind}"), ").n"),
                both("(r", only("!"), ")[0]"),
            )
        )
        return Expression(
            both("(", target, self.chance.choice((" = ", " += ", " ??= ")), self.at(ARROW, depth), ")"), CALL
        )

    def instance(self, depth: int) -> Expression:
        name = self.chance.choice((both("K"), both("(K", only(f" as {self.types.type(1)}"), ")")))
        if name.ts == "K" and self.chance.random() < 0.5:
            name = both("K", only(self.types.arguments()))
        return Expression(both("new ", name, "(", self.at(ARROW, depth), ").m()"), CALL)

    def awaited(self, depth: int) -> Expression:
        if self._functions:
            return self.leaf()
        return Expression(both("await ", self.gap(), self.at(UNARY, depth)), UNARY)
