"""Programs made at random: statements with types wherever TypeScript allows any, and the JavaScript that they mean.

What a program computes it records by `t`; it returns what has been recorded, so that two forms of it can be compared.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from .both import Both, both, only, swap
from .expressions import ARROW, Expressions

__all__ = ["make_program"]

_BEGIN: Final = """const log = [];
const t = (x) => { log.push(String(JSON.stringify(x))); return x };
const tag = (strings, ...values) => strings.join() + values.join();
let a = 3, b = 4, as = 5, type = 6, of = 7;
const s = "text", o = { a: 1, b: { c: 2 }, m(x) { return [x, this === o] } }, r = [1, 2];
const fn = (made) => Object.defineProperty(made, "toString", { value: () => "fn" });
const f = fn((x, y) => y === undefined ? x : [x, y]);
class K { constructor(x) { this.x = x } m() { return this.x } }
const record = (made) => { try { t(made()) } catch (error) { log.push(error.name) } };
"""
_HAZARDS: Final = ("(", "[", "`")


@dataclass(frozen=True, slots=True)
class Statement:
    text: Both
    ends: bool = True
    """Whether it has to be ended by a semicolon or a line end."""
    in_type: bool = False
    """Whether its last token is of a type, so that it ends at its line end whatever begins the next line."""


def make_program(chance: random.Random, statements: int = 4) -> Both:
    """A program of some statements."""
    maker = _Statements(chance)
    made = [maker.statement() for _ in range(chance.randint(1, statements))]
    return both(_BEGIN, _joined(chance, made), "return log;")


def _joined(chance: random.Random, made: list[Statement]) -> Both:
    text = both("")
    for number, each in enumerate(made):
        text += each.text
        if not each.ends:
            text += "\n"
            continue
        following = made[number + 1].text.ts if number + 1 < len(made) else "return"
        goes_on = following.startswith(("<", "/", "+", "-", "{", "`"))
        may_end_by_line = not goes_on and (each.in_type or not following.startswith(_HAZARDS))
        end = chance.choice(("\n", " \n", " // ;\n", "\r\n")) if may_end_by_line and chance.random() < 0.7 else ";\n"
        text += swap(end, ";\n" if each.text.js.strip() else "\n")
    return text


class _Statements:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.make = Expressions(chance)
        self.types = self.make.types
        self._names = 0

    def name(self, begin: str = "v") -> str:
        self._names += 1
        return f"{begin}{self._names}"

    def statement(self) -> Statement:
        kinds = (
            self.declaration, self.declaration, self.expression, self.expression, self.type_only, self.type_only,
            self.function, self.class_, self.class_, self.loop, self.choice, self.attempt, self.enum, self.generator,
            self.hazard, self.hazard, self.uninitialised, self.destructuring,
        )  # fmt: skip
        return self.chance.choice(kinds)()

    def value(self, depth: int = 3) -> Both:
        return self.make.at(ARROW, depth)

    # --- values -----------------------------------------------------------------------------------------------------

    def declaration(self) -> Statement:
        name, made = self.name(), self.make.any(3)
        text = both(self.chance.choice(("const ", "let ", "var ")), name, self.make.annotated(), " = ", made.text)
        return Statement(text, in_type=made.converted)

    def uninitialised(self) -> Statement:
        name, other = self.name(), self.name()
        kind = only(f"!: {self.types.type(1)}") if self.chance.random() < 0.3 else self.make.annotated()
        return Statement(
            both(
                "let ",
                name,
                kind,
                ", ",
                other,
                self.make.annotated(),
                "; ",
                name,
                " = ",
                self.value(2),
                "; t(",
                name,
                ")",
            )
        )

    def expression(self) -> Statement:
        return Statement(both("t(", self.make.gap(), self.value(), self.make.gap(), ")"))

    def hazard(self) -> Statement:
        """A statement that begins as what would go on with the one above."""
        inner = self.value(2)
        kinds = (
            both("(", inner, ")"),
            both("[", inner, "].forEach((x", self.make.annotated(), ") => t(x))"),
            both("`${", inner, "}`"),
            both("(() => { t(", "1", ") })()"),
        )
        if self.chance.random() < 0.3:
            made = self.make.conversion(2)
            if made.text.js.startswith(("{", "function", "class", "async", "let", "type")):
                return Statement(both("(", made.text, ")"))
            return Statement(made.text, in_type=True)
        return Statement(self.chance.choice(kinds))

    def destructuring(self) -> Statement:
        kind = self.types.type(1)
        text = self.chance.choice(
            (
                both("[a", only("!"), ", b] = [b", only("!"), ", (a", only(f" as {kind}"), ")]; t([a, b])"),
                both("({ a: o.a", only("!"), ", ...o.rest } = { a: 5, z: ", self.value(2), " }); t(o.a)"),
                both(
                    "const { a: a1",
                    " = 1, ...rest }",
                    self.make.annotated(),
                    " = ",
                    "(",
                    self.value(2),
                    ") ?? {}; t(rest)",
                ),
                both("const [x1 = ", self.value(1), ", ...rest]", self.make.annotated(), " = r; t([x1, rest])"),
            )
        )
        return Statement(both("{ ", text, " }"), ends=False)

    # --- types ------------------------------------------------------------------------------------------------------

    def type_only(self) -> Statement:
        name, one, two = self.name("T"), self.types.type(3), self.types.type(2)
        generic = self.types.parameters() if self.chance.random() < 0.4 else ""
        ended = {
            "alias": f"type {name}{generic} ={self.types.gap()}{one}",
            "declared": f"declare {self.chance.choice(('const', 'let', 'var'))} {name}: {one}",
            "function": f"declare function {name}{generic}(x: {one}, ...y: any[]): {two}",
            "exported": f"export type {name} = {one}",
            "imported": self.chance.choice(
                (
                    "import type { A } from 'x'",
                    "import type A from 'x'",
                    "export type { A }",
                    "import { type A } from 'x'",
                )
            ),
        }
        closed = {
            "interface": f"interface {name}{generic} extends A, B<{one}>{self.types.gap()}{{ {self.types.member(2)}; m(): {two} }}",
            "plain": f"interface {name}{generic} {self.types.object(2)}",
            "namespace": f"namespace {name} {{ type A = {one}; export interface B {{ a: {two} }} }}",
            "class": f"declare class {name}{generic} {{ a: {one}; m(x: {two}): void; static s?: {one} }}",
            "enum": f"declare enum {name} {{ A, B = 2 }}",
            "constants": f"declare const enum {name} {{ A }}",
            "module": f"declare module 'x' {{ export const y: {one}; export default y }}",
            "global": f"declare global {{ interface Window {{ a: {one} }} var x: {two} }}",
            "abstract": f"declare abstract class {name} {{ abstract a: {one}; protected constructor(x: {two}) }}",
            "inside": f"declare namespace {name}.Inner {{ function f(x: {one}): {two}; let z: {one} }}",
            "exported": f"export interface {name} {{ a: {one} }}",
        }
        if self.chance.random() < 0.5:
            kind = self.chance.choice(list(ended))
            return Statement(only(ended[kind]), in_type=kind != "imported")
        return Statement(only(self.chance.choice(list(closed.values()))), ends=False)

    # --- functions and classes --------------------------------------------------------------------------------------

    def function(self) -> Statement:
        name = self.name("fn")
        overloads = [
            only(f"function {name}{self.types.parameters()}(x: {self.types.type(1)}): {self.types.type(1)}{end}")
            for end in self.chance.sample((";\n", "\n", "; "), self.chance.randint(0, 2))
        ]
        this = only(f"this:{self.types.gap()}{self.types.type(1)}, ") if self.chance.random() < 0.3 else both("")
        with self.make.function_body():
            given = both("(", self.make.gap(), this, self.make.parameters(2), self.make.gap(), ")")
            body = both(" { return ", self.value(2), " }\n")
        text = both("function ", name, self.make.generic(), given, self.make.returned(), body)
        return Statement(both(*overloads, text, f"t({name}(a, b))"))

    def generator(self) -> Statement:
        name = self.name("gen")
        with self.make.function_body():
            head = both(
                "function* ", name, self.make.generic(), "(", self.make.parameters(1), ")", self.make.returned()
            )
            body = both(
                " { const q", self.make.annotated(), " = yield ", self.value(2), "; yield* [q, ", self.value(2), "] }\n"
            )
        return Statement(both(head, body, f"t([...{name}(a)])"))

    def class_(self) -> Statement:
        name = self.name("C")
        abstract = only("abstract ") if self.chance.random() < 0.3 else both("")
        heritage = both("")
        if derived := self.chance.random() < 0.4:
            heritage = both(" extends K", only(self.types.arguments()) if self.chance.random() < 0.5 else "")
        implements = only(f" implements {name}I, Foo<{self.types.type(1)}>") if self.chance.random() < 0.4 else both("")
        with self.make.function_body():
            members = self.members(derived, abstract=bool(abstract.ts))
        text = both(
            abstract,
            "class ",
            name,
            self.make.generic(),
            heritage,
            implements,
            " {",
            self.types.chance.choice((" ", "\n")),
            members,
            "}\n",
        )
        use = f"{{ class D extends {name} {{}} const made = new D(1, 2); t(Object.keys(made).sort()); t(made); record(() => made.p(3, 4)); t(Object.keys({name})) }}"
        return Statement(both(text, use), ends=False)

    def members(self, derived: bool, *, abstract: bool) -> Both:
        made: list[tuple[Both, bool]] = []
        for _ in range(self.chance.randint(1, 4)):
            made.append(self.member(abstract=abstract))
        if self.chance.random() < 0.5:
            made.insert(self.chance.randint(0, len(made)), (self.constructor(derived), False))
        text = both("")
        for number, (each, ends) in enumerate(made):
            text += each
            following = made[number + 1][0].ts if number + 1 < len(made) else "}"
            line_ends = self.chance.choice((";\n", "; ", "\n", "\n  "))
            if following.startswith(("[", "*", "(")):
                line_ends = "; "
            text += swap(line_ends, ";\n") if ends else self.chance.choice(("\n", " "))
        return text

    def member(self, *, abstract: bool) -> tuple[Both, bool]:
        """A member, and whether it has to be ended."""
        name = self.name("p")
        access = self.chance.choice(("", "", "public ", "private ", "protected "))
        more = self.chance.choice(("", "", "readonly "))
        one, two = self.types.type(2), self.types.type(1)
        made = self.make.any(2)
        value = both(" = ", made.text)
        field = both(only(access), self.chance.choice(("", "static ")), only(more), name)
        optional = only(self.chance.choice(("?", "!", ""))) + only(f": {one}")
        method = both(only(access), self.chance.choice(("", "static ", "async ", "*")), "p")
        body = both(
            self.make.generic(),
            "(",
            self.make.parameters(1),
            ")",
            self.make.returned(),
            " { return ",
            self.value(1),
            " }",
        )
        only_types = [
            f"[key: string]: {one}",
            f"declare {more}{name}: {one}",
            f"{access}p(x: {one}): {two}",
            f"static [key: string]: {one}",
        ]
        if abstract:
            only_types += [
                f"abstract {more}{name}: {one}",
                f"protected abstract {name}(x: {one}): {two}",
                f"abstract get {name}(): {one}",
            ]
        kinds = [
            (both(field, self.make.annotated(), value), True),
            (both(field, optional), True),
            (both(only(access), only(more), "['", name, "']", only(f": {one}")), True),
            (both(method, body), False),
            (both(only(access), "get ", name, "()", self.make.returned(), " { return ", self.value(1), " }"), False),
            (both("static { t(", self.value(1), ") }"), False),
            (both("#", name, self.make.annotated(), " = 1"), True),
            (both(self.chance.choice(("get", "set", "static", "async", "readonly", "type")), only(f": {one}")), True),
            (both(only(access), "p", only("?"), body), False),
        ]
        if self.chance.random() < 0.3:
            return only(self.chance.choice(only_types)), True
        return self.chance.choice(kinds)

    def constructor(self, derived: bool) -> Both:
        overload = only(f"constructor(x: {self.types.type(1)}, y?: any);\n") if self.chance.random() < 0.3 else both("")
        modifiers = self.chance.choice(("private ", "public readonly ", "readonly ", "protected ", ""))
        other = self.chance.choice(("private ", ""))
        assign = "".join(f" this.{name} = {name};" for name, had in (("px", modifiers), ("py", other)) if had)
        given = both(
            only(modifiers),
            "px",
            self.make.annotated(),
            ", ",
            only(other),
            "py",
            self.make.annotated(),
            " = ",
            self.value(1),
        )
        begin = both(" super(px);") if derived else both("")
        return both(overload, "constructor(", given, ") {", begin, swap("", assign), " t(Object.keys(this).length); }")

    # --- control ----------------------------------------------------------------------------------------------------

    def loop(self) -> Statement:
        inner, count = both("{ t(", self.value(1), ") }"), self.name("n")
        kinds = (
            both("for (const x of r", only(f" as {self.types.type(1)}"), ") ", inner),
            both("for (let i", self.make.annotated(), " = 0; i < 2; i++) ", inner),
            both("for (const x in o", only("!"), ") ", inner),
            both("for await (const x of r", only("!"), ") ", inner),
            both(f"let {count}", self.make.annotated(), f" = 0; while ({count}", only("!"), "++ < 2) ", inner),
            both("type: for (;;) { t(", self.value(1), "); break type }"),
        )
        return Statement(self.chance.choice(kinds), ends=False)

    def choice(self) -> Statement:
        one = self.make.conversion(2).text
        return Statement(
            self.chance.choice(
                (
                    both("if (", self.value(2), ") { t(", self.value(1), ") } else t(", one, ");"),
                    both(
                        "switch (",
                        one,
                        ") { case ",
                        self.value(2),
                        ": t(1); case ",
                        one,
                        ": t(2); break; default: t(3) }",
                    ),
                )
            ),
            ends=False,
        )

    def attempt(self) -> Statement:
        thrown = both(
            "throw ",
            only(f"<{self.types.gap()}{self.types.type(1)}{self.types.gap()}>") if self.chance.random() < 0.3 else "",
            "[",
            self.value(2),
            "]",
        )
        kind = self.chance.choice((": unknown", ": any", ""))
        return Statement(
            both("try { ", thrown, " } catch (e", only(kind), ") { t(e", only(f" as {self.types.type(1)}"), ") }"),
            ends=False,
        )

    def enum(self) -> Statement:
        name = self.name("E")
        ts = f"{self.chance.choice(('', 'const '))}enum {name} {{ A, B = 1 << 3,{self.types.gap()}C, D = 'd', 'e-f' = A | B{self.chance.choice((', ', ''))}}}"
        js = f"const {name} = {{ A: 0, B: 8, C: 9, D: 'd', 'e-f': 8, 0: 'A', 8: 'e-f', 9: 'C' }};"
        return Statement(
            both(swap(ts, js), "\n", f"t([{name}.A, {name}.B, {name}.C, {name}.D, {name}['e-f'], {name}[9]])")
        )
