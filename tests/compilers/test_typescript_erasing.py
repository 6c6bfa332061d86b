"""Erasing keeps every position; where something is inserted, places are traced back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Program
from codemodekit.diagnostics import Location, utf16_length

COMPILER = TypeScriptCompiler()

TYPES = st.recursive(
    st.sampled_from(
        ["number", "string[]", '"😀" | "é"', "Map<string, Array<number>>", "unknown", "typeof tools", "[a: 1]"]
    ),
    lambda inner: st.one_of(
        st.builds("{{ a: {}; b?: {} }}".format, inner, inner),
        st.builds("{{\n  readonly [k: string]: {}\n}}".format, inner),
        st.builds("((x: {}) => {})".format, inner, inner),
        st.builds("Promise<\n  {}\n>".format, inner),
        st.builds("({} | /* 😀 */ {})".format, inner, inner),
    ),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    st.builds("let v: {} = '😀' as {};".format, TYPES, TYPES),
    st.builds("type T = {}".format, TYPES),
    st.builds("interface I<T = {}> {{ m(x: {}): void }}".format, TYPES, TYPES),
    st.builds("const f = async <T extends {}>(a?: {}): Promise<{}> => a! as any;".format, TYPES, TYPES, TYPES),
    st.builds("function g(this: {}, b: {}): {} {{ return b satisfies {} }}".format, TYPES, TYPES, TYPES, TYPES),
    st.builds(
        "class C<T> implements I {{ private readonly x?: {}; declare y: {}; m<U>(u: U): {} {{}} }}".format, *[TYPES] * 3
    ),
    st.builds("declare function h(x: {}): {};".format, TYPES, TYPES),
    st.builds("tools.a.b<{}>({{ s: '名前😀' }}); /* {{ */".format, TYPES),
)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n"])


def body(program: Program) -> str:
    """What stands between the wrapper's own lines."""
    first, rest = program.javascript.split("\n", 1)
    assert first == '(async function () { "use strict";'
    assert rest.endswith("\n})")
    return rest.removesuffix("\n})")


def compiled(source: str) -> Program:
    program = COMPILER.compile(source)
    assert isinstance(program, Program), program
    return program


@pytest.mark.proves("compile.erasing")
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(STATEMENTS, LINE_ENDS), max_size=5))
def test_erasing_keeps_every_line_as_long_as_it_was(parts: list[tuple[str, str]]) -> None:
    source = "".join(f"{{ {statement} }}{end}" for statement, end in parts)
    erased = body(compiled(source))
    assert [utf16_length(line) for line in erased.split("\n")] == [utf16_length(line) for line in source.split("\n")]
    assert not re.search(r"interface|declare|readonly|satisfies|implements", erased)


@pytest.mark.proves("compile.bounded", "compile.deterministic")
@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_an_outcome_and_always_the_same(source: str) -> None:
    assert repr(TypeScriptCompiler().compile(source)) == repr(TypeScriptCompiler().compile(source)) or isinstance(
        TypeScriptCompiler().compile(source), Program
    )


@pytest.mark.proves("result.location", "compile.erasing")
def test_place_behind_a_type_with_wide_characters_is_unchanged() -> None:
    source = 'const x: "😀😀" = null; f(x)'
    assert body(compiled(source)) == "const x" + " " * 8 + " = null; f(x)"


@pytest.mark.proves("result.location")
def test_lone_carriage_return_becomes_a_line_end_the_engine_counts() -> None:
    assert body(compiled("let a: number = 1\rreturn a")) == "let a         = 1\nreturn a"


@pytest.mark.proves("result.location")
def test_places_outside_of_the_program_have_no_origin() -> None:
    locate = compiled("return 1").locate
    assert [locate(line, 1) for line in (-1, 0, 1, 3, 99)] == [None] * 5
    assert locate(2, 8) == Location(1, 8)
    assert locate(2, 500) == Location(1, 9)


@pytest.mark.proves("result.location", "compile.transforms")
def test_place_behind_an_insertion_is_traced_back() -> None:
    source = "enum E { A, B = 1 << 3 } const after = E.B;"
    program = compiled(source)
    line = body(program)
    for word in ("1 << 3", "const after", "E.B;"):
        assert program.locate(2, line.index(word) + 1) == Location(1, source.index(word) + 1)


@pytest.mark.proves("result.location", "compile.transforms")
def test_place_inside_an_insertion_is_where_it_was_inserted() -> None:
    program = compiled("async () => 1")
    assert body(program) == "return await (async () => 1)()"
    assert program.locate(2, 5) == Location(1, 1)


@pytest.mark.proves("compile.recoveries", "result.location")
def test_fence_in_prose_keeps_the_lines_of_the_whole_text() -> None:
    program = compiled("Here you are:\n```ts\nreturn x as number\n```\nDone.")
    assert body(program).split("\n")[2] == "return x          "
    assert program.locate(4, 8) == Location(3, 8)
    assert program.source.startswith("Here you are")


@pytest.mark.proves("compile.recoveries")
def test_fence_inside_a_comment_is_no_fence() -> None:
    program = compiled("/*\n```\n*/\nreturn 1")
    assert program.notes == ()
    assert program.discarded is None


@pytest.mark.proves("compile.erasing")
def test_empty_programs_are_programs() -> None:
    for source in ("", " \n\t", "// only a comment", "/* */", "interface A {}", "\ufeff"):
        program = compiled(source)
        assert (program.notes, program.discarded) == ((), None)


@pytest.mark.proves("compile.discarded")
def test_plain_effects_at_the_end_are_not_noted() -> None:
    for source in ("x = 1", "x++", "delete x.a", "console.log(1)", "void f()", "xs.forEach(f)", "const f = () => 1"):
        assert compiled(source).discarded is None


@pytest.mark.proves("compile.recoveries")
def test_function_with_unknown_parameters_is_not_called_and_a_note_says_so() -> None:
    program = compiled("async function main(input) { return input }")
    assert "main(" not in body(program).replace("main(input)", "")
    assert len(program.notes) == 1


@pytest.mark.proves("compile.erasing")
@pytest.mark.parametrize(
    ("source", "javascript"),
    [
        ("class A { static readonly x = 1 }", "class A { static x = 1 }"),
        ("class A { static override readonly x: number }", "class A { static x }"),
        ("class A { static readonly x?: number; readonly y = 2 }", "class A { static x ; ; y = 2 }"),
        ("class A { private static readonly x = 1 }", "class A { ; static x = 1 }"),
        ("return tag<number>`a${1}`", "return tag `a${1}`"),
        ("return tag<Row>`a` + tag<Other>`b`.length", "return tag `a` + tag `b`.length"),
        ("return tag /* a */ < /* b */ Row /* c */ > /* d */ `a`", "return tag /* a */ /* d */ `a`"),
        ('return "<b>`a`</b>" + `<b>`', 'return "<b>`a`</b>" + `<b>`'),
        ("class A { x: any[]\n *[k](): T { }\n}", "class A { x *[k]() { } }"),
        ("return a < b > c", "return a < b > c"),
        ("return 1 + 2 as any * 3", "return (1 + 2) * 3"),
        ("return 2 * 3 as any + 4", "return 2 * 3 + 4"),
        ("return -a satisfies any ** 2", "return (-a) ** 2"),
        ("return a < b + c as T as U ** d", "return (a < b + c ) ** d"),
        ("return a == b as T * c && d", "return a == b * c && d"),
        ("f(o.m!<A, B>(1), g<A, Foo<B>>(2))", "f(o.m (1), g (2))"),
        ("return [1 / f<A, B>(2), a < b || c > (d)]", "return [1 / f (2), a < b || c > (d)]"),
        ("return tag<'})(', [`>`, { a: 1 }]>`a`", "return tag `a`"),
        ('return x satisfies import("x").Y<T>', "return x"),
        ("class A { x = 1\nstatic [key: string]: T }", "class A { x = 1 ; }"),
        ("x as typeof y\n(() => 1)()", "x ; (() => 1)()"),
        ("return <A> <\nB> x", "return ( x)"),
        ("let a = 1\nin_stock = a as number\nreturn in_stock", "let a = 1 in_stock = a return in_stock"),
    ],
)
def test_what_is_left_means_what_it_meant_in_typescript(source: str, javascript: str) -> None:
    assert " ".join(body(compiled(source)).split()) == javascript
