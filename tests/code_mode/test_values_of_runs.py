"""Values on their way between program and host: converted as documented, refused with place and cure, never changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from failing_programs import failure_of, marked, place_of

from codemodekit.contracts import ToolDefinition, ToolResult
from codemodekit.diagnostics import DiagnosticCode as Code
from codemodekit.errors import ConfigurationError, ToolCallFailed
from codemodekit.providers.local import local
from codemodekit.testing import InMemoryProvider
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio

EXACT: list[Any] = [
    None,
    [0, -1, 2**53, -(2**53), 2**60, 10**20, 1.5, 1e308, 5e-324, -1.5e-300],
    {"__proto__": {"polluted": True}, "constructor": 1, "prototype": {"__proto__": 2}, "toString": 3, "then": 4},
    {"": {"": ""}, " ": 1, "a.b": 2, "e\u0301": 3, "\u00e9": 4, "\0": "\0", "\u2028": "\u2029"},
    ["\ud800", "\udc00x", "𝄞", "\\u0041", '"', "\x7f", "\ufeff"],
    {"\ud800": "\udfff"},
    [[], {}, [[]], [{}], False, True, "", "null"],
]
"""Values that are to come out as they went in, on every way."""


# --- every way --------------------------------------------------------------------------------------------------------


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("value", EXACT, ids=range(len(EXACT)))
async def test_a_json_value_comes_through_as_context_argument_result_and_return_value(value: Any) -> None:
    provider = app()
    async with kit(provider) as code_mode:
        program = "const r = await tools.app.echo({ v: context.v }); return [context.v, r.structuredContent.v]"
        result = await code_mode.run(program, context={"v": value})
    assert result.value == [value, value]
    assert [call.input for call in provider.calls] == [{"v": value}]
    wire = json.loads(json.dumps(result.to_wire()))
    assert json.dumps(wire["value"]) == json.dumps([value, value])


@pytest.mark.proves("value.wire", "value.hostile")
async def test_a_key_named_like_the_prototype_is_a_field_and_changes_no_prototype() -> None:
    hostile = {"__proto__": {"polluted": True}, "n": 1}
    provider = app()
    provider.answer("look", ToolResult(structured_content=hostile))
    program = """
    const { structuredContent: r } = await tools.app.look({});
    const plain = (v: any) => Object.getPrototypeOf(v) === Object.prototype;
    const seen = (v: any) => [v.polluted, ({} as any).polluted, Object.keys(v), plain(v)];
    return [seen(r), seen(context)];
    """
    async with kit(provider) as code_mode:
        result = await code_mode.run(program, context=hostile)
    assert result.value == [[None, None, ["__proto__", "n"], True]] * 2


@pytest.mark.proves("value.wire")
async def test_the_details_of_a_failure_are_fields_too() -> None:
    provider = app()
    provider.answer("fail", ToolCallFailed("no", details={"__proto__": {"polluted": True}, "message": "x"}))
    program = """
    try { await tools.app.fail({}) } catch (e: any) {
      return [e.message, e.polluted, e.details.polluted, e instanceof ToolCallError, Object.keys(e.details)];
    }
    """
    async with kit(provider) as code_mode:
        result = await code_mode.run(program)
    assert result.value == ["no", None, None, True, ["__proto__", "message"]]


# --- results of tools -------------------------------------------------------------------------------------------------

LARGE = 2**53 + 1


@pytest.mark.proves("value.wire", "bridge.output-checked")
@pytest.mark.parametrize(
    ("result", "place"),
    [
        ({"id": LARGE}, "/structuredContent/id"),
        ({"rows": [{"a/b": [1, -LARGE]}]}, "/structuredContent/rows/0/a~1b/1"),
        ({"n": 10**400}, "/structuredContent/n"),
        ([LARGE], "/structuredContent/0"),
    ],
)
async def test_an_integer_that_javascript_would_round_is_refused_with_its_place(result: Any, place: str) -> None:
    provider = app()
    provider.answer("look", ToolResult(structured_content=result))
    async with kit(provider) as code_mode:
        error = (await code_mode.run("return await tools.app.look({})")).error
    assert error is not None
    assert error.code is Code.TOOL_OUTPUT_INVALID
    assert place in error.message
    assert error.details == {"path": place}
    assert len(error.message) < 400


@pytest.mark.proves("value.wire")
async def test_large_integers_that_are_exact_and_digits_in_texts_pass() -> None:
    value = {"id": str(LARGE), "exact": 2**60, "text": f"{LARGE}" * 3}
    async with kit(app()) as code_mode:
        result = await code_mode.run("return (await tools.app.echo(context)).structuredContent", context=value)
    assert result.value == value


@pytest.mark.proves("value.wire", "bridge.output-checked")
async def test_a_source_that_lets_mismatches_pass_gives_the_rounded_integer_with_a_note() -> None:
    provider = InMemoryProvider("app", [ToolDefinition(name="rows", output_mismatch="warn")])
    provider.answer("rows", ToolResult(structured_content={"id": LARGE}))
    async with kit(provider) as code_mode:
        result = await code_mode.run("return (await tools.app.rows({})).structuredContent.id")
    assert result.value == 2**53
    assert any("/structuredContent/id" in note and str(LARGE) in note for note in result.notes)


@pytest.mark.proves("value.wire", "api.local-results")
async def test_an_integer_of_a_python_function_is_never_rounded_in_silence() -> None:
    def snowflake() -> int:
        return LARGE

    async with kit(local("app", [snowflake])) as code_mode:
        result = await code_mode.run("return await tools.app.snowflake({}).catch(e => e.code)")
    assert result.value == Code.TOOL_OUTPUT_INVALID


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("context", [{"id": LARGE}, [[-LARGE]], float("nan"), {"a": float("inf")}, {"a": {1, 2}}])
async def test_a_context_that_javascript_cannot_hold_is_refused_before_anything_runs(context: Any) -> None:
    async with kit(app()) as code_mode:
        with pytest.raises(ConfigurationError):
            await code_mode.run("return 1", context=context)


@pytest.mark.proves("value.wire")
async def test_a_context_may_be_nested_as_deep_as_any_value() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    async with kit(app()) as code_mode:
        assert (await code_mode.run("return context", context=deep)).value == deep
        with pytest.raises(ConfigurationError):
            await code_mode.run("return 1", context=[deep])


# --- the final value --------------------------------------------------------------------------------------------------

CURES = {
    "new Map()": "Object.fromEntries",
    "new Set()": "[...set]",
    "10n": "String(",
    "NaN": "null",
    "() => 1": "return the value",
    "Symbol()": ".description",
    "new Date(NaN)": "check the date",
    "new Uint8Array(1)": "Array.from",
    "new ArrayBuffer(1)": "array or a string",
    "/x/": ".source",
    "Promise.resolve(1)": "await it",
    "[1].values()": "[...it]",
    "(async function* () {})()": "for await",
    "new WeakMap()": "array",
    "Object(1n)": ".valueOf()",
    "{ [Symbol('s')]: 1 }": "text as the name",
    "new Proxy(new Map(), {})": "behind it",
}


@pytest.mark.proves("value.refused")
@pytest.mark.parametrize("expression", CURES)
async def test_a_refusal_names_the_place_and_what_to_do_instead(expression: str) -> None:
    error = await failure_of(f"return {{ rows: [1, {{ 'the id': {expression} }}] }}")
    assert error.code is Code.OUTPUT_NOT_SERIALIZABLE
    assert error.details == {"path": '$.rows[1]["the id"]'}
    assert '$.rows[1]["the id"]: ' in error.message
    assert CURES[expression] in error.message


@pytest.mark.proves("value.refused", "result.location")
@pytest.mark.parametrize(
    ("program", "place"),
    [
        ("const rows: any = new Map();\n  ▸return { rows };", (2, 3)),
        ("const f = () => { return 1 };\n▸return 'x'.repeat(f() * 1e6);", (2, 1)),
        ("```ts\nconst f = () => { return 1 };\n▸return f;\n```", (3, 1)),
        ("if (context === null) return 1n;\nreturn 2n;", None),
        ("() => new Set()", None),
    ],
)
async def test_a_value_that_is_refused_is_found_at_the_only_return(program: str, place: tuple[int, int] | None) -> None:
    error = await failure_of(marked(program)[0] if place else program)
    assert error.code in (Code.OUTPUT_NOT_SERIALIZABLE, Code.OUTPUT_LIMIT_EXCEEDED)
    assert place_of(error) == place
    assert (error.frame is None) == (place is None)


@pytest.mark.proves("value.refused", "error.catchable")
@pytest.mark.parametrize("expression", CURES)
async def test_an_argument_that_cannot_be_sent_is_a_catchable_error_with_its_place(expression: str) -> None:
    provider = app()
    program = (
        f"try {{ await tools.app.echo({{ rows: [{expression}] }}) }}\n"
        "catch (e: any) { return [e instanceof ToolCallError, e.code, e.message] }"
    )
    async with kit(provider) as code_mode:
        caught, code, message = (await code_mode.run(program)).value
    assert caught
    assert code == Code.TOOL_INPUT_INVALID
    assert "$.rows[0]: " in message
    assert CURES[expression] in message
    assert provider.calls == []


@pytest.mark.proves("value.refused", "limit.final")
@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("return Array.from({ length: 1e6 }, (_, i) => i)", Code.OUTPUT_LIMIT_EXCEEDED),
        ("const a = []; a[4e9] = 1; return a", Code.OUTPUT_LIMIT_EXCEEDED),
        ("const a = []; a.length = 4e9; return { a }", Code.OUTPUT_LIMIT_EXCEEDED),
        ("return new Proxy([], { get: (_, k) => (k === 'length' ? 4e9 : 0) })", Code.OUTPUT_LIMIT_EXCEEDED),
        ("let v: any = 1; for (let i = 0; i < 201; i++) v = [v]; return v", Code.OUTPUT_NOT_SERIALIZABLE),
        ("let v: any = 1; for (let i = 0; i < 1e5; i++) v = { v }; return v", Code.OUTPUT_NOT_SERIALIZABLE),
        ("const a: any = {}; a.b = [a]; return a", Code.OUTPUT_NOT_SERIALIZABLE),
        ("const get = () => new Proxy({}, { get, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => "
         "({ enumerable: true, configurable: true }) }); return { a: get() }", Code.OUTPUT_NOT_SERIALIZABLE),
        ("return { toJSON() { for (;;) {} } }", Code.COMPUTE_LIMIT_EXCEEDED),
        ("return { get a() { for (;;) {} } }", Code.COMPUTE_LIMIT_EXCEEDED),
        ("return new Proxy({}, { ownKeys() { for (;;) {} } })", Code.COMPUTE_LIMIT_EXCEEDED),
        ("return { get a() { throw new Error('x') } }", Code.SANDBOX_EXCEPTION),
        ("return { toJSON() { return this.toJSON() } }", Code.STACK_LIMIT_EXCEEDED),
        ("return 'x'.repeat(262_142)", None),
        ("return 'x'.repeat(262_143)", Code.OUTPUT_LIMIT_EXCEEDED),
        ("return 'é'.repeat(131_071)", None),
        ("return 'é'.repeat(131_072)", Code.OUTPUT_LIMIT_EXCEEDED),
        ("const a = [1]; return Array(1000).fill([a, a])", None),
    ],
)  # fmt: skip
async def test_values_without_measure_end_by_their_own_code(program: str, code: Code | None) -> None:
    limits = {"compute_time_ms": 300} if code is Code.COMPUTE_LIMIT_EXCEEDED else {}
    async with kit(app(), limits=limits) as code_mode:
        result = await code_mode.run(program)
    assert (result.error and result.error.code) == code, result.error


# --- the console ------------------------------------------------------------------------------------------------------

PRINTED = {
    "'a text'": "a text",
    "{ a: 'b', c: [1, -0, null] }": '{"a":"b","c":[1,0,null]}',
    "undefined": "undefined",
    "-0": "-0",
    "{ a: undefined, b: NaN, c: -Infinity, d: 10n, e: Symbol('s') }": (
        '{"a":undefined,"b":NaN,"c":-Infinity,"d":10n,"e":Symbol(s)}'
    ),
    "new Map([['a', new Set([1, 'x'])]])": 'Map [["a",Set [1,"x"]]]',
    "[function named() {}, class A {}, () => 1]": "[[function named],[function A],[function]]",
    "[new Date(0), new Date(NaN), /x/]": '["1970-01-01T00:00:00.000Z",[an invalid Date],[a RegExp]]',
    "[new Uint8Array(2), Promise.resolve(1), [1].values()]": "[[a typed array],[a Promise],[an iterator]]",
    "(() => { const a: any = { n: 1 }; a.a = a; return a })()": '{"n":1,"a":[a cycle]}',
    "{ get a() { throw 1 }, b: 2 }": '{"a":[not readable],"b":2}',
    "{ toJSON: () => ({ told: 1 }) }": '{"told":1}',
    "[new TypeError('bad')]": '[{"name":"TypeError","message":"bad"}]',
    "tools.app.echo": "[tools.app.echo]",
    "new Proxy({}, { ownKeys() { throw 1 } })": "[a value that cannot be shown]",
    "[(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()]": "[[a revoked Proxy]]",
    "'\\ud800'.length": "1",
}


@pytest.mark.proves("log.shows")
@pytest.mark.parametrize("expression", PRINTED)
async def test_the_console_shows_a_value_as_far_as_it_can_be_read(expression: str) -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run(f"console.log({expression}); return 1")
    assert [entry.message for entry in result.logs] == [PRINTED[expression]]


@pytest.mark.proves("log.shows", "limit.logs")
@pytest.mark.parametrize(
    "expression",
    [
        "Array.from({ length: 1e5 }, (_, i) => ({ i }))",
        "'x'.repeat(1e6)",
        "{ a: 'x'.repeat(1e6), b: 1 }",
        "new Proxy([], { get: (_, k) => (k === 'length' ? 4e9 : k) })",
        "new Map(Array.from({ length: 1e5 }, (_, i) => [i, i]))",
        "...Array(1e4).fill({ a: 1 })",
        "Object.assign(new Error('x'.repeat(1e5)), { stack: 'y'.repeat(1e5) })",
        "Array(1e4).fill(new Error('x'.repeat(1e5)))",
        "(() => { let v: any = 1; for (let i = 0; i < 1e4; i++) v = [v]; return v })()",
    ],
)
async def test_what_the_console_shows_of_a_large_value_is_its_head_and_bounded(expression: str) -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run(f"console.log({expression}); return 1")
    assert result.ok, result.error
    (entry,) = result.logs
    assert 100 < len(entry.message) <= 16_500
    assert "…" in entry.message
