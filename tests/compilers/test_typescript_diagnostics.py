"""Refused programs: the code, the place, and what to do."""

from __future__ import annotations

import pytest

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Program
from codemodekit.diagnostics import Diagnostic, DiagnosticCode, Location

COMPILE, UNSAFE = DiagnosticCode.COMPILE_ERROR, DiagnosticCode.UNSAFE_SYNTAX

REFUSED = [
    ("return 1;\n})(); pwn(); (async () => {", UNSAFE, "unbalanced", Location(2, 1, 2, 2)),
    ("import fs from 'fs'", UNSAFE, "import", Location(1, 1, 1, 20)),
    ("const x = await import('x')", UNSAFE, "import", Location(1, 17, 1, 28)),
    ("return import.meta.url", UNSAFE, "import", Location(1, 8, 1, 19)),
    ("import x = Math.PI", UNSAFE, "import", Location(1, 1, 1, 19)),
    ("export const x = 1", UNSAFE, "export", Location(1, 1, 1, 19)),
    ("export default 1", UNSAFE, "export", Location(1, 1, 1, 17)),
    ("const r = require('fs')", UNSAFE, "require", Location(1, 11, 1, 18)),
    ("(eval as any)('1')", UNSAFE, "eval", Location(1, 2, 1, 6)),
    ("return new Function('1')", UNSAFE, "Function", Location(1, 12, 1, 20)),
    ("let x = 1\n<!-- y", UNSAFE, "html-comment", Location(2, 1, 2, 5)),
    ("let x = 1\n  --> y", UNSAFE, "html-comment", Location(2, 3, 2, 8)),
    ("@dec class A {}", COMPILE, "decorator", Location(1, 1, 1, 5)),
    ("namespace N { export const x = 1 }", COMPILE, "namespace", Location(1, 1, 1, 35)),
    ("class A { accessor x = 1 }", COMPILE, "accessor", Location(1, 11, 1, 19)),
    ("const f = () => await g()", COMPILE, "await", Location(1, 17, 1, 22)),
    ("class A { x = await /'/; }", COMPILE, "await", Location(1, 15, 1, 20)),
    ("return x.#y", COMPILE, "private-name", Location(1, 10, 1, 12)),
    ("class A extends B { constructor(private x) {} }", COMPILE, "parameter-property", Location(1, 21, 1, 46)),
    ("const s = 'abc", COMPILE, "unclosed", Location(1, 11)),
    ("f([1, 2);", COMPILE, "unbalanced", Location(1, 8, 1, 9)),
    ("const x = <div>hi</div>;", COMPILE, "jsx", Location(1, 11)),
    ("const o = { a: 1 b: 2 }", COMPILE, "syntax", Location(1, 18, 1, 19)),
    ("const é = '😀' +;", COMPILE, "syntax", Location(1, 17, 1, 18)),
    ("```\n1\n```\n```\n2\n```", COMPILE, "fence", Location(4, 4)),
    ("return 'a\0b'", COMPILE, "character", Location(1, 10, 1, 11)),
    ("'😀\ud800'", COMPILE, "character", Location(1, 4, 1, 5)),
    ("(" * 5000 + ")" * 5000, COMPILE, "depth", Location(1, 401)),
]


@pytest.mark.proves("compile.refused", "compile.unsafe")
@pytest.mark.parametrize(("source", "code", "compiler_code", "location"), REFUSED)
def test_refusal_has_code_and_exact_place(
    source: str, code: DiagnosticCode, compiler_code: str, location: Location
) -> None:
    outcome = TypeScriptCompiler().compile(source)
    assert isinstance(outcome, Diagnostic), outcome
    assert (outcome.code, outcome.compiler_code, outcome.location) == (code, compiler_code, location)
    assert outcome.frame is not None
    assert "^" in outcome.frame


def message(source: str) -> str:
    outcome = TypeScriptCompiler().compile(source)
    assert isinstance(outcome, Diagnostic), outcome
    return outcome.message


@pytest.mark.proves("compile.refused")
def test_missing_brace_names_the_block_that_indentation_says_is_open() -> None:
    text = message("const f = () => {\n  if (true) {\n    return 1;\n};\nreturn f();")
    assert "`}` is missing" in text
    assert "2:13" in text


@pytest.mark.proves("compile.refused")
def test_unexpected_token_inside_an_open_bracket_names_the_bracket() -> None:
    assert message("const a = [1, 2;\nreturn a") == "unexpected `;`: `[` opened at 1:11 is never closed"


@pytest.mark.proves("compile.refused")
def test_python_habits_are_named() -> None:
    assert "Python" in message("const x = None if True else 1;")
    assert "template literal" in message('const x = f"hello {1}";')


@pytest.mark.proves("compile.refused")
def test_missing_type_and_expression_are_told_apart() -> None:
    assert "a type is expected" in message("const x: = 1;")
    assert "an expression is expected" in message("const x = ;")


@pytest.mark.proves("compile.unsafe")
def test_harmless_lookalikes_are_let_through() -> None:
    for source in (
        'const x = y as typeof import("fs")',
        "function require(x: string) { return x }\nrequire('a')",
        "const f = (Function: any) => Function('x'); f(String)",
        "class A { eval() { return this.eval() } }",
        "try {} catch (require) { require() }",
        "class A { x = async () => await y; [await z] = 1 }\nreturn await z",
    ):
        assert isinstance(TypeScriptCompiler().compile(source), Program), source


@pytest.mark.proves("compile.unsafe")
def test_local_name_counts_only_inside_its_scope() -> None:
    outcome = TypeScriptCompiler().compile("{ const require = String; require() }\nrequire()")
    assert isinstance(outcome, Diagnostic)
    assert outcome.location == Location(2, 1, 2, 8)
