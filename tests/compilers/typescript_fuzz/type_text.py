"""Types made at random: text that TypeScript takes for a type at the place it is made for."""

from __future__ import annotations

import random
from typing import Final

__all__ = ["Types"]

_NAMES: Final = ("T", "Row", "Foo.Bar", "é", "Promise<void>", "Array<Map<string, Set<T>>>", "this", "typeof t")
_LEAVES: Final = (
    "number",
    "string",
    "any",
    "unknown",
    "never",
    "void",
    "null",
    "undefined",
    "object",
    "bigint",
    "symbol",
    "true",
    "-1",
    "0x1f",
    "10n",
    '"a"',
    "'})('",
    '"😀 => {"',
    "`x${string}-${T}`",
    "`)`",
    *_NAMES,
)
_GAPS: Final = (" ", " ", "  ", "\n", "\n  ", " /* : ) } */ ", " // ` ' (\n", "\t", "\r\n", " /* 😀\n*/ ")


class Types:
    """Makes types with one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def gap(self) -> str:
        """White space of any kind, with comments that look like code."""
        return self.chance.choice(_GAPS) if self.chance.random() < 0.3 else " "

    def type(self, depth: int = 2) -> str:
        """Any type that stands where one is expected between brackets, commas or `=`."""
        if depth <= 0 or self.chance.random() < 0.3:
            return self.chance.choice(_LEAVES)
        return self.chance.choice(
            (self.simple, self.simple, self.union, self.function, self.conditional, self.operator)
        )(depth)

    def simple(self, depth: int = 2) -> str:
        """A type that no operator of its own ends or begins."""
        if depth <= 0 or self.chance.random() < 0.3:
            return self.chance.choice(_LEAVES)
        kinds = (self.object, self.object, self.tuple, self.array, self.parenthesized, self.generic, self.indexed)
        return self.chance.choice((*kinds, self.imported, self.mapped))(depth)

    def object(self, depth: int) -> str:
        members = [self.member(depth - 1) for _ in range(self.chance.randint(0, 3))]
        ends = [
            self.chance.choice((";", ",", ";\n") if following.startswith(("[", "(", "<")) else (";", ",", "\n", ";\n"))
            for following in (*members[1:], "")
        ][: len(members)]
        return "{" + self.gap() + "".join(f"{each}{end} " for each, end in zip(members, ends, strict=True)) + "}"

    def member(self, depth: int) -> str:
        inner, other = self.type(depth), self.type(depth)
        return self.chance.choice(
            (
                f"a: {inner}",
                f"readonly b?: {inner}",
                f'"c-d": {inner}',
                f"[key: string]: {inner}",
                f"m(x: {inner}): {other}",
                f"m?<U extends {inner}>(this: U, ...rest: U[]): {other}",
                f"get x(): {inner}",
                f"set x(v: {inner})",
                f"(x: {inner}): {other}",
                f"new (x: {inner}): {other}",
                f"[Symbol.iterator](): {inner}",
                f"get: {inner}",
                f"readonly: {inner}",
                f"async: {inner}",
            )
        )

    def tuple(self, depth: int) -> str:
        inner, other = self.type(depth - 1), self.simple(depth - 1)
        return self.chance.choice(
            (
                f"[{inner}, {other}]",
                f"[a: {inner}, b?: {other}]",
                f"[...{other}[]]",
                f"[first: {inner}, ...rest: {other}[]]",
                "[]",
            )
        )

    def array(self, depth: int) -> str:
        return f"({self.type(depth - 1)})[]" if self.chance.random() < 0.5 else f"{self.simple(depth - 1)}[]"

    def parenthesized(self, depth: int) -> str:
        return f"({self.gap()}{self.type(depth - 1)}{self.gap()})"

    def generic(self, depth: int) -> str:
        return f"Foo<{self.gap()}{self.type(depth - 1)},{self.gap()}{self.type(depth - 1)}>"

    def indexed(self, depth: int) -> str:
        return f"Row[{self.type(depth - 1)}]"

    def imported(self, depth: int) -> str:
        return self.chance.choice(('import("x").Y', f'import("x").Y<{self.type(depth - 1)}>', 'typeof import("x")'))

    def mapped(self, depth: int) -> str:
        read, optional = self.chance.choice(("", "readonly ", "-readonly ")), self.chance.choice(("", "?", "-?", "+?"))
        renamed = self.chance.choice(("", " as `x${K}`"))
        return f"{{ {read}[K in {self.type(depth - 1)}{renamed}]{optional}: {self.type(depth - 1)} }}"

    def union(self, depth: int) -> str:
        sign = self.chance.choice("|&")
        first = f"{sign} " if self.chance.random() < 0.2 else ""
        parts = [self.simple(min(depth - 1, 1)) for _ in range(self.chance.randint(2, 3))]
        return first + f"{self.gap()}{sign} ".join(parts)

    def function(self, depth: int) -> str:
        begin = self.chance.choice(("", "", "new ", "abstract new ", "<U>", "<const U extends T = T>"))
        given = self.chance.choice(
            (
                "",
                f"x: {self.type(depth - 1)}",
                f"this: T, x?: {self.type(depth - 1)}",
                f"{{ a, b }}: {self.type(depth - 1)}, ...rest: any[]",
            )
        )
        gives = (
            "x is T" if given.startswith("x:") and not begin and self.chance.random() < 0.2 else self.type(depth - 1)
        )
        return f"({begin}({given}){self.gap()}=>{self.gap()}{gives})"

    def conditional(self, depth: int) -> str:
        test = self.chance.choice((f"{self.simple(depth - 1)}", "(infer U)[]", "{ a: infer U extends string }"))
        return (
            f"{self.simple(depth - 1)} extends {test}{self.gap()}? {self.type(depth - 1)}"
            f"{self.gap()}: {self.type(depth - 1)}"
        )

    def operator(self, depth: int) -> str:
        return self.chance.choice(
            (f"keyof {self.simple(depth - 1)}", f"readonly {self.simple(depth - 1)}[]", "unique symbol")
        )

    def parameters(self) -> str:
        """The type parameters of a function or class, in their angle brackets."""
        first = self.chance.choice(
            ("T", f"T extends {self.type(1)}", f"const T extends {self.type(1)}", f"T = {self.type(1)}")
        )
        more = self.chance.choice(("", ",", ", U", f",{self.gap()}U extends T = {'any' if '=' in first else 'T'}"))
        return f"<{self.gap()}{first}{more}{self.gap()}>"

    def arguments(self) -> str:
        """Type arguments of a call."""
        return f"<{self.type(2)}>" if self.chance.random() < 0.7 else f"<{self.type(1)},{self.gap()}{self.type(1)}>"

    def returned(self) -> str:
        """What an arrow function may return: no type that its `=>` would make a function's."""
        made = self.type(2)
        if made.startswith("("):
            return f"(q: {self.type(1)}){self.gap()}=> {self.type(1)}" if self.chance.random() < 0.5 else f"Foo<{made}>"
        return made
