"""What a diagnostic of a run holds besides its place: stack, excerpt, words, and nothing a program could forge."""

from __future__ import annotations

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest
from failing_programs import failure_of, marked, place_of, stack_of
from hypothesis import given, settings
from hypothesis import strategies as st

from codemodekit.code_mode.absent_names import ADVICE
from codemodekit.diagnostics import Diagnostic
from codemodekit.diagnostics import DiagnosticCode as Code
from codemodekit.errors import ToolError
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio


# --- stacks -----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("result.location")
async def test_a_stack_names_the_functions_from_the_inside_out() -> None:
    error = await failure_of(
        "class Row {\n  get id() { return (null as any).id }\n}\nconst look = (row: Row) => row.id;\n"
        "function each() {\n  return [new Row()].map(look);\n}\neach();"
    )
    assert stack_of(error) == [("get id", 2, 35), ("look", 4, 32), ("each", 6, 22), (None, 8, 1)]


@pytest.mark.proves("result.location")
async def test_a_stack_goes_on_where_the_program_awaits() -> None:
    error = await failure_of(
        "async function load() {\n  await null;\n  throw new Error('x');\n}\n"
        "const through = async () => {\n  const a = 1;\n  return await load();\n};\nawait through();"
    )
    assert stack_of(error) == [("load", 3, 9), ("through", 7, 10), (None, 9, 1)]


@pytest.mark.proves("result.location")
async def test_the_stack_of_a_failed_call_holds_each_function_once() -> None:
    error = await failure_of(
        "async function fetchRow() {\n  return await tools.app.fail({});\n}\n"
        "async function rows() {\n  return await fetchRow();\n}\nawait rows();"
    )
    assert stack_of(error) == [("fetchRow", 2, 26), ("rows", 5, 16), (None, 7, 7)]


@pytest.mark.proves("result.location")
async def test_the_stack_of_a_deep_recursion_is_bounded() -> None:
    error = await failure_of(
        "const f = (n: number): number => {\n  if (n === 0) throw new Error('x');\n  return f(n - 1);\n};\nf(500);"
    )
    assert stack_of(error)[:2] == [("f", 2, 22), ("f", 3, 10)]
    assert len(error.stack) <= 32


@pytest.mark.proves("result.location")
async def test_an_error_that_is_awaited_without_end_has_a_bounded_stack() -> None:
    error = await failure_of(
        "const again = async (n: number): Promise<void> => { if (n === 0) throw new Error('x'); await again(n - 1) };\n"
        "const lost = again(2000);\nfor (let i = 0; i < 2000; i++) { try { await lost } catch {} }\nawait lost;"
    )
    assert 1 <= len(error.stack) <= 32


@pytest.mark.proves("result.location")
@pytest.mark.parametrize("printed", ["error.stack", "error"])
async def test_a_stack_that_the_program_prints_shows_its_own_lines(printed: str) -> None:
    program = f"const a: any = 1;\ntry {{\n  a.b.c;\n}} catch (error) {{\n  console.log({printed});\n}}"
    async with kit(app()) as code_mode:
        (entry,) = (await code_mode.run(program)).logs
    assert "program.ts:3:7" in entry.message


@pytest.mark.proves("result.location")
async def test_a_program_sees_nothing_of_the_sandbox_in_its_stacks() -> None:
    program = "try { await tools.app.echo({}).then(() => { throw new Error('x') }) } catch (e) { return e.stack }"
    async with kit(app()) as code_mode:
        stack = (await code_mode.run(program)).value
    assert {row.strip().split("(")[-1].split(":")[0] for row in stack.splitlines()} == {"program.ts"}


# --- excerpts ---------------------------------------------------------------------------------------------------------


@pytest.mark.proves("result.frame")
async def test_an_excerpt_shows_two_lines_before_and_one_behind_with_a_caret_under_the_place() -> None:
    error = await failure_of("const a = 1;\nconst b = 2;\nconst c: any = 3;\n\tc.d.e;\nconst f = 6;\nconst g = 7;")
    assert error.frame == (
        "  2 | const b = 2;\n  3 | const c: any = 3;\n> 4 |  c.d.e;\n    |      ^\n  5 | const f = 6;"
    )


@pytest.mark.proves("result.frame", "result.location")
async def test_a_program_of_one_long_line_has_a_bounded_excerpt() -> None:
    before = "const a: any = 1; const text = '" + "😀x" * 13_000 + "'; "
    program = before + "a.b.c;" + " // " + "y" * 40_000
    error = await failure_of(program)
    assert place_of(error) == (1, len(before.encode("utf-16-le")) // 2 + 5)
    assert error.frame is not None
    assert len(error.frame) < 400
    line, caret = error.frame.split("\n")
    assert line[caret.index("^")] == "c"


@pytest.mark.proves("result.frame")
async def test_an_excerpt_of_the_first_and_of_the_last_line_is_shorter() -> None:
    assert (await failure_of("nothing")).frame == "> 1 | nothing\n    | ^"
    assert (await failure_of("const a = 1;\n\nnothing")).frame == "  1 | const a = 1;\n  2 |\n> 3 | nothing\n    | ^"


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.proves("error.advice")
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("fetch", "tools"), ("setTimeout", "Promise.all"), ("print", "console.log"), ("process", "context"),
        ("Buffer", "Uint8Array"),
        ("module", "tools"), ("document", "tools"), ("window", "globalThis"), ("URL", "encodeURIComponent"),
        ("structuredClone", "JSON.parse"), ("queueMicrotask", "Promise.resolve"), ("performance", "Date.now"),
        ("None", "null"),
    ],
)  # fmt: skip
async def test_a_name_that_programs_have_elsewhere_comes_with_what_to_use_here(name: str, word: str) -> None:
    error = await failure_of(f"{name};")
    assert error.code is Code.SANDBOX_EXCEPTION
    assert error.message.startswith(f"ReferenceError: {name} is not defined; ")
    assert word in error.message


@pytest.mark.proves("error.advice")
async def test_every_name_with_advice_is_one_that_is_not_there() -> None:
    program = "return context.filter((name: string) => name in globalThis)"
    async with kit(app()) as code_mode:
        assert (await code_mode.run(program, context=sorted(ADVICE))).value == []


@pytest.mark.proves("error.advice")
@pytest.mark.parametrize("name", ["rows", "parent", "top", "z", "_", "$", "x" * 60])
async def test_a_name_of_the_program_gets_no_advice(name: str) -> None:
    assert (await failure_of(f"{name}.length")).message == f"ReferenceError: {name} is not defined"


@pytest.mark.proves("error.behind")
async def test_the_errors_behind_an_error_are_told() -> None:
    aggregate = await failure_of("await Promise.any([Promise.reject(new TypeError('a')), Promise.reject('b')])")
    assert aggregate.message == "AggregateError (behind it: TypeError: a; b)"
    chain = await failure_of(
        "try { try { (null as any).x } catch (cause) { throw new Error('middle', { cause }) } }\n"
        "catch (cause) { throw new Error('outer', { cause }) }"
    )
    assert chain.message == ("Error: outer (behind it: Error: middle; TypeError: cannot read property 'x' of null)")


@pytest.mark.proves("error.behind")
@pytest.mark.parametrize(
    "program",
    [
        "const e: any = new Error('x'); e.cause = e; throw e;",
        "const e: any = new Error('x'); Object.defineProperty(e, 'cause', { get() { throw 1 } }); throw e;",
        "const get = (_: any, key: any) => (key === 'length' ? 1e9 : 'y');\n"
        "throw Object.assign(new Error('x'), { errors: new Proxy([], { get }) });",
        "throw Object.assign(new Error('x'), { errors: Array(1e6).fill('y'.repeat(1e6)) });",
        "let e: any = new Error('x'); for (let i = 0; i < 1e4; i++) e = new Error('x', { cause: e }); throw e;",
    ],
)
async def test_what_stands_behind_an_error_is_bounded(program: str) -> None:
    error = await failure_of(program)
    assert error.code is Code.SANDBOX_EXCEPTION
    assert error.message.startswith("Error: x")
    assert len(error.message) < 4000


# --- what only the engine's parser refuses --------------------------------------------------------------------------

TWICE = "the name {} is declared twice in one block; rename one of them"
REFUSED = {
    "let 名 = 1;\n  let ▸名 = 2;": TWICE.format("'名'"),
    "const s = '😀'; let b; const ▸b = 1;": TWICE.format("'b'"),
    "for (const x of [1]) {\n  var ▸x = 1;\n}": TWICE.format("'x'"),
    "let a: number = 1;\nlet ▸a: Map<string, any> = 2 as any;": TWICE.format("'a'"),
    "enum E { A = 1 } let c: E; let ▸c: E;": TWICE.format("'c'"),
    "const f = (a: any, b: any, ▸a: any, c: any) => 1;": "two parameters are named 'a'; rename one of them",
    "const f = (a: any) => { let ▸a = 1; };": "the name 'a' is that of a parameter already; rename one of them",
    "const s = '😀';\nif (/a/.test(s)) return ▸/[b-a]/g;": "this regular expression is not valid: invalid class range",
    "const r = ▸/(/;": "this regular expression is not valid: expecting ')'",
    "const r = ▸/a/gg;": "this regular expression is not valid: invalid regular expression flags",
    "const x = 1;\nlabel: ▸label: for (;;) {}": "duplicate label name",
}


@pytest.mark.proves("result.location", "compile.refused")
@pytest.mark.parametrize("program", REFUSED)
async def test_what_the_engine_refuses_before_anything_runs_is_found_too(program: str) -> None:
    text, place = marked(program)
    error = await failure_of(text)
    assert (error.code, error.compiler_code, error.stack) == (Code.COMPILE_ERROR, "syntax", ())
    assert error.message == REFUSED[program]
    assert place_of(error) == place
    assert error.frame is not None


# --- what cannot be forged --------------------------------------------------------------------------------------------

FORGERIES = [
    "throw new RangeError('Maximum call stack size exceeded');",
    "class InternalError extends RangeError {}\nthrow new InternalError('Maximum call stack size exceeded');",
    "throw Object.assign(new Error('x'), { kind: 'memory', code: 'MEMORY_LIMIT_EXCEEDED', phase: 'tool', call: 1 });",
    "throw Object.assign(new ToolCallError('x'), { code: 'TOOL_APPROVAL_DENIED', phase: 'tool', tool: 'echo' });",
    "throw { kind: 'tool', call: 1, name: 'ToolCallError', message: 'x', stack: '' };",
    "const e = new SyntaxError('x'); e.stack = '    at program.ts:1:1'; throw e;",
    "const f = (): any => f() + 1; try { f() } catch (e) { throw new RangeError((e as Error).message) }",
    "throw Object.create(ToolCallError.prototype, { code: { value: 'TOOL_CALL_TIMEOUT' }, message: { value: 'x' } });",
    "const e: any = await tools.app.fail({}).catch(e => e);\nthrow Object.assign(new Error('copy'), e);",
    "throw Object.setPrototypeOf({ code: 'EXECUTION_TIMEOUT' }, new Error('x'));",
]


@pytest.mark.proves("error.host-codes")
@pytest.mark.parametrize("program", FORGERIES)
async def test_whatever_a_program_throws_of_its_own_is_its_own_exception(program: str) -> None:
    error = await failure_of(program)
    assert error.code is Code.SANDBOX_EXCEPTION
    assert error.tool is None
    assert place_of(error) is not None


@pytest.mark.proves("error.host-codes")
async def test_the_error_of_a_call_keeps_the_code_of_the_host_whatever_the_program_writes_on_it() -> None:
    error = await failure_of(
        "try { await tools.app.fail({}) } catch (e: any) {\n  for (const name of ['code', 'name', 'phase', 'tool']) {\n"
        "    Object.defineProperty(e, name, { value: 'EXECUTION_CANCELLED' });\n  }\n"
        "  Object.setPrototypeOf(e, null);\n  throw e;\n}"
    )
    assert error.code is Code.TOOL_EXECUTION_FAILED
    assert error.message == "no such row"
    assert error.tool is not None
    assert (error.tool.source, error.tool.name) == ("app", "fail")
    assert place_of(error) == (1, 23)


@pytest.mark.proves("result.location")
@pytest.mark.parametrize(
    "name",
    ["a (program.ts:1:1)\\n    at b", "\\n    at c (program.ts:1:1)\\n", "(program.ts:1:1)", "名".ljust(9999, "x")],
)
async def test_a_function_cannot_forge_a_frame_by_its_name(name: str) -> None:
    error = await failure_of(
        "const f = async () => { await null; throw new Error('x') };\n"
        f"Object.defineProperty(f, 'name', {{ value: '{name}' }});\n"
        "const g = async () => { await f() };\nObject.defineProperty(g, 'name', { value: f.name });\nawait g();"
    )
    assert [(frame.line, frame.column) for frame in error.stack] == [(1, 43), (3, 25), (5, 1)]
    assert all(len(frame.function or "") <= 200 for frame in error.stack)


@pytest.mark.proves("error.codes", "limit.stack")
async def test_the_end_of_the_stack_is_known_also_when_the_program_throws_it_on() -> None:
    error = await failure_of(
        "const f = (): any => f() + 1;\nlet kept: any;\ntry { f() } catch (e) { kept = e }\nawait null;\nthrow kept;"
    )
    assert error.code is Code.STACK_LIMIT_EXCEEDED
    assert place_of(error) == (1, 22)


# --- rejections nobody handled ----------------------------------------------------------------------------------------


@pytest.mark.proves("result.unawaited")
async def test_rejections_are_counted_whatever_their_number() -> None:
    program = (
        "const all = Array.from({ length: 3000 }, (_, i) => Promise.reject(i));\nawait tools.app.echo({});\n"
        "all.forEach((each, i) => { if (i % 2) each.catch(() => 0) });\nawait null;\nreturn 1;"
    )
    async with kit(app()) as code_mode:
        notes = (await code_mode.run(program)).notes
    assert len(notes) == 9
    assert notes[0] == "a rejected promise was not handled: the program threw 0; await it, or catch it"
    assert notes[-1] == "1492 more rejected promises were not handled; await them, or catch them"


@pytest.mark.proves("result.unawaited")
async def test_a_rejection_nobody_handled_says_its_line() -> None:
    async with kit(app()) as code_mode:
        notes = (await code_mode.run("const a = 1;\nPromise.reject(\n  new Error('lost'));\nreturn 1;")).notes
    assert notes == ("a rejected promise was not handled (line 3): Error: lost; await it, or catch it",)


# --- any program ------------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        "const $: any = {};",
        "let s$ = `a\n😀${1}\nb\\\nc`;",
        "let t$ = 'a\\\nb';",
        "/* 漢字\n */",
        "// e\u0301 😀\n",
        "// \u2028",
        "'\u2029';",
        "enum E$ { A, B = 2 }",
        "type T$<X> = { a: X };",
        "interface I$ { a: number }",
        "class C$ { constructor(private x?: any) {} }",
        "const f$ = async <T,>(x: T): Promise<T> => x;",
        "let n$: number = <any>5 as unknown as number;",
        "if (1 < 2) { }",
        *("\t", "\r\n", "\n", " ", "\u2028", "\ufeff", "\r"),
    ]
)
_FAILURES = st.sampled_from(
    [
        "(null as any).x.y",
        "throw 'x'",
        "throw new Error('😀')",
        "await Promise.reject(1)",
        "nothing",
        "[1].map(() => { throw null })",
        "await tools.app.fail({\n a: [1,\n 2] })",
        "const { a } = null as any",
        "throw Object.assign(new Error('x'), { stack: 'at (program.ts:99999:99999)' })",
        "throw { toString() { throw 1 } }",
        "class X extends Error { stack = 'at f (program.ts:0:0)' } throw new X()",
        "1n + (1 as any)",
        "(() => { const f = (): any => f() + 1; f() })()",
        "for await (const x of [Promise.reject(1)]) {}",
        "JSON.parse('{')",
    ]
)


@pytest.mark.proves("result.location", "result.frame")
async def test_a_place_is_always_inside_the_program() -> None:
    provider = app()
    provider.answer("fail", ToolError("no such row"))
    async with kit(provider) as code_mode, anyio.from_thread.BlockingPortal() as portal:

        @settings(max_examples=150, deadline=None)
        @given(st.lists(_PIECES, max_size=12), _FAILURES, st.lists(_PIECES, max_size=4), st.booleans())
        def check(before: list[str], failure: str, after: list[str], fenced: bool) -> None:
            pieces = [*before, f"{failure};\n", *after]
            program = "".join(piece.replace("$", str(number)) for number, piece in enumerate(pieces))
            program = f"Words first.\n```ts\n{program}\n```\n" if fenced else program
            result = portal.call(code_mode.run, program)
            assert result.error is not None
            assert_inside(program, result.error)

        await anyio.to_thread.run_sync(check)


def assert_inside(program: str, error: Diagnostic) -> None:
    assert error.location is not None, error.message
    lines = program.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for place in (error.location, *error.stack):
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1].encode("utf-16-le")) // 2 + 1
    assert error.frame is not None
    assert error.frame.count("\n") <= 5
    assert len(error.frame) <= 1000
