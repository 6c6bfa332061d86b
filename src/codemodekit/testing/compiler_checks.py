"""What every compiler of TypeScript programs must do, as checks that a test runs one by one.

@pytest.mark.parametrize("check", COMPILER_CHECKS, ids=lambda check: check.__name__)
async def test_my_compiler_keeps_the_contract(check):
    await check(MyCompiler)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from codemodekit.contracts import CodeCompiler, Program
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.testing.expecting import expect, expect_equal

__all__ = ["COMPILER_CHECKS", "CompilerCheck"]

CompilerCheck: TypeAlias = Callable[[Callable[[], CodeCompiler]], Awaitable[None]]

_GOOD: Final = (
    "return 1",
    "const x: number = 1;\nreturn x as unknown",
    "interface A { b: string }\nconst a: A = { b: '𝄞' };\nreturn a.b satisfies string",
    "return (await tools.app.echo({ i: 1 })).structuredContent",
    "type T = { [K in 'a' | 'b']?: K };\nconst f = <X,>(x: X): X => x;\nreturn f<T>({ a: 'a' })",
    "",
)
_REFUSED: Final = (
    "import fs from 'fs'; return 1",
    "export const a = 1",
    "return await import('fs')",
    "return import.meta.url",
    "return eval('1')",
    "return Function('return 1')()",
    "return new Function('return 1')()",
    "return require('fs')",
    "const s = 'é'; return eval(s)",
    "const s = '𝄞'; return new Function(s)()",
)
_BROKEN: Final = ("return 1 +", "const = 3", "return {", "if (", "'unclosed", "`unclosed ${", "/* unclosed", ")")
_ESCAPES: Final = (
    "}, async () => {",
    "return 1 }; (() => { while (true) {} })(); async () => {",
    "}); globalThis.x = 1; (async () => {",
    "} /* */ + async function () {",
    "return 1 // \u2028 } , 1, () => {",
    "/* */ } /* { */",
)
_ODD: Final = (
    "\x00",
    "\ufeffreturn 1",
    "return '\ud800'",
    "return 1\r\n\r",
    "\u2028\u2029",
    "(" * 20_000,
    "[" * 20_000 + "]" * 20_000,
    "a" * 100_000,
    "return " + "1+" * 20_000 + "1",
    "```",
    "```ts\nreturn 1\n```",
    "#!shebang",
    "<!-- x",
    "return `${" * 2_000,
    "x" + "?.y" * 10_000,
    "return " + "-" * 10_001 + "1",
    "let a: " + "A<" * 5_000,
    "\\u{110000}",
    "@d class A {}",
)


async def compiles_good_programs(make: Callable[[], CodeCompiler]) -> None:
    """The outcome is one JavaScript expression, an async function without parameters."""
    for source in _GOOD:
        outcome = make().compile(source)
        if not isinstance(outcome, Program):
            expect(False, f"{source!r} is refused: {outcome.message}")
            continue
        expect_equal(outcome.source, source, "the source of the program")
        shape = re.match(r"\s*\(?\s*async\s*(function\s*\w*\s*)?\(\s*\)", outcome.javascript)
        expect(shape, f"the javascript of {source!r} does not begin as an async function without parameters")


async def gives_the_same_for_the_same(make: Callable[[], CodeCompiler]) -> None:
    """Twice by one compiler, and by another, the outcome is the same."""
    first, other = make(), make()
    for source in (*_GOOD, *_REFUSED, *_BROKEN):
        outcomes = [_essence(compiler.compile(source)) for compiler in (first, first, other)]
        expect(outcomes[0] == outcomes[1] == outcomes[2], f"the outcomes for {source!r} differ: {outcomes!r}")


def _essence(outcome: Program | Diagnostic) -> object:
    return (outcome.javascript, outcome.notes) if isinstance(outcome, Program) else outcome


async def gives_the_same_in_threads(make: Callable[[], CodeCompiler]) -> None:
    """One compiler, used by many threads at once, gives what it gives alone."""
    compiler, alone = make(), make()
    sources = [f"const x{n}: number = {n};\nreturn x{n} as number" for n in range(40)]
    outcomes = await asyncio.gather(*(asyncio.to_thread(compiler.compile, source) for source in sources))
    for source, outcome in zip(sources, outcomes, strict=True):
        expect(_essence(outcome) == _essence(alone.compile(source)), f"{source!r} compiles differently in a thread")


async def refuses_modules_and_code_from_text(make: Callable[[], CodeCompiler]) -> None:
    """Refused at compile time, with the place."""
    for source in _REFUSED:
        outcome = make().compile(source)
        expect(isinstance(outcome, Diagnostic), f"{source!r} is not refused")
        if isinstance(outcome, Diagnostic):
            known = outcome.code in (DiagnosticCode.UNSAFE_SYNTAX, DiagnosticCode.COMPILE_ERROR)
            expect(known, f"{source!r} is refused as {outcome.code}")
            expect(outcome.location is not None, f"the refusal of {source!r} names no place")


async def refuses_broken_programs(make: Callable[[], CodeCompiler]) -> None:
    """A syntax error is COMPILE_ERROR with words."""
    for source in _BROKEN:
        outcome = make().compile(source)
        broken = isinstance(outcome, Diagnostic) and outcome.code is DiagnosticCode.COMPILE_ERROR and outcome.message
        expect(broken, f"{source!r} is not refused as COMPILE_ERROR")


async def refuses_to_close_its_wrapper(make: Callable[[], CodeCompiler]) -> None:
    """A program cannot end the function it is the body of."""
    for source in _ESCAPES:
        expect(isinstance(make().compile(source), Diagnostic), f"{source!r} closes the function around it")


async def survives_odd_texts(make: Callable[[], CodeCompiler]) -> None:
    """Never raises for anything the text holds."""
    for source in _ODD:
        try:
            outcome = make().compile(source)
        except Exception as error:
            expect(False, f"{source[:40]!r}… made the compiler raise {error!r}")
        else:
            expect(isinstance(outcome, Program | Diagnostic), f"{source[:40]!r}… gave {outcome!r}")


async def locates_errors_in_the_programs_own_text(make: Callable[[], CodeCompiler]) -> None:
    """Lines and columns count from 1; columns in UTF-16 units."""
    for source, line, column in (
        ("return 1\nreturn eval('1')", 2, 8),
        ("const s = '𝄞'; return eval(s)", 1, 24),
        ("type T = 1;\r\n  import('x')", 2, 3),
    ):
        outcome = make().compile(source)
        found = outcome.location if isinstance(outcome, Diagnostic) else None
        place = (found.line, found.column) if found else None
        expect(place == (line, column), f"{source!r}: located at {place}, expected {(line, column)}")


async def finds_the_way_back_from_its_javascript(make: Callable[[], CodeCompiler]) -> None:
    """`locate` leads each marked word of the JavaScript back to where it stands in the source."""
    source = (
        "const a: number = mark1;\ninterface X { y: 1 }\nconst é = ['𝄞', (b?: X): X => mark2 as X];\n  return mark3!;"
    )
    program = make().compile(source)
    if not isinstance(program, Program):
        expect(False, f"a good program is refused: {program.message}")
        return
    for mark in ("mark1", "mark2", "mark3"):
        found = program.locate(*_place(program.javascript, mark))
        place = (found.line, found.column) if found else None
        expect_equal(place, _place(program.source, mark), f"where {mark} stands")


def _place(text: str, word: str) -> tuple[int, int]:
    before = text[: text.index(word)]
    line = before.rpartition("\n")[2]
    return before.count("\n") + 1, len(line.encode("utf-16-le")) // 2 + 1


COMPILER_CHECKS: Final[tuple[CompilerCheck, ...]] = (
    compiles_good_programs,
    gives_the_same_for_the_same,
    gives_the_same_in_threads,
    refuses_modules_and_code_from_text,
    refuses_broken_programs,
    refuses_to_close_its_wrapper,
    survives_odd_texts,
    locates_errors_in_the_programs_own_text,
    finds_the_way_back_from_its_javascript,
)
"""Every check of the contract of a compiler of TypeScript."""
