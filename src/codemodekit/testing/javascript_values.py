"""How values cross the border of every sandbox for JavaScript: results, arguments and `context` as JSON, or refused.

Used like the checks of `sandbox_checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from codemodekit._json import ABSENT, loads
from codemodekit.contracts import CodeSandbox
from codemodekit.testing.expecting import expect, expect_equal
from codemodekit.testing.playing import error_of, names_of, play, refused, value_of
from codemodekit.testing.sandbox_checks import SandboxCheck, opened

__all__ = ["VALUE_CHECKS"]

_CONVERTED: Final[Sequence[tuple[str, Any]]] = (
    ("undefined", ABSENT),
    ("null", None),
    ("[undefined, , 1]", [None, None, 1]),
    ("{ a: undefined, b: null }", {"b": None}),
    ("-0", 0),
    ("[0.1, 1e21, -5, 2 ** 53]", [0.1, 1e21, -5, 2**53]),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("{ toJSON: () => ({ x: 1 }) }", {"x": 1}),
    ("new (class A { a = 1; #b = 2; get c() { return 3 } m() {} })", {"a": 1}),
    ("new TypeError('bad')", {"name": "TypeError", "message": "bad"}),
    ("[new Error('a', { cause: 1 })]", [{"name": "Error", "message": "a"}]),
    ("[Object(1), Object('s'), Object(false)]", [1, "s", False]),
    ("Object.assign(Object.create(null), { a: 1 })", {"a": 1}),
    ('JSON.parse(\'{"__proto__": {"a": 1}}\')', {"__proto__": {"a": 1}}),
    ("['ä𝄞', '\\ud800', '\\u2028', '\\0', '\"\\\\']", ["ä𝄞", "\ud800", "\u2028", "\0", '"\\']),
    ("{ '': 1, 'a b': 2, 5: 3 }", {"": 1, "a b": 2, "5": 3}),
    ("new Proxy({ a: 1 }, {})", {"a": 1}),
    ("[new Proxy([1, 2], {}), new Proxy(new Proxy([3], {}), {})]", [[1, 2], [3]]),
    ("(() => { const a = [1]; return [a, a] })()", [[1], [1]]),
    ("new (class B extends (class A { a = 1 }) { b = 2; static c = 3; set d(v) {} })", {"a": 1, "b": 2}),
    ("Object.create({ no: 1 }, { yes: { value: 2, enumerable: true }, hidden: { value: 3 } })", {"yes": 2}),
    ("Object.defineProperty({}, 'a', { get: () => 5, enumerable: true })", {"a": 5}),
    ("Object.defineProperty({}, Symbol('hidden'), { value: 5 })", {}),
    ("new AggregateError([1], 'm')", {"name": "AggregateError", "message": "m"}),
    ("new ToolCallError('m', { code: 'X' })", {"name": "ToolCallError", "message": "m"}),
    ("Object.setPrototypeOf(new Error('m'), null)", {"name": "Error", "message": "m"}),
    ("new Proxy(new RangeError('m'), {})", {"name": "RangeError", "message": "m"}),
    ("Object.setPrototypeOf([1], null)", [1]),
    ("Object.setPrototypeOf(new Date(0), null)", "1970-01-01T00:00:00.000Z"),
    ("Object.assign([1], { more: 2 })", [1]),
    ("[1e308, 5e-324, 1.5, 9007199254740993, 1e20]", [1e308, 5e-324, 1.5, 2**53, 10**20]),
    ("{ 'e\\u0301': 1, '\\u00e9': 2, '\\0': 3, '\\ud800': 4 }", {"e\u0301": 1, "\u00e9": 2, "\0": 3, "\ud800": 4}),
    ("{ ['__proto__']: 1, constructor: 2, toString: 3 }", {"__proto__": 1, "constructor": 2, "toString": 3}),
    ("[Object.create({ toJSON: () => 'inherited' })]", ["inherited"]),
    ("{ toJSON: 5 }", {"toJSON": 5}),
    ("[{ toJSON: () => undefined }]", [None]),
    ("Object.assign(new Map([[1, 2]]), { toJSON: () => 'told' })", "told"),
    ("(() => { Number.prototype.toJSON = String.prototype.toJSON = () => 0; return [1, 's'] })()", [1, "s"]),
    ("(() => { let v = 1; for (let i = 0; i < 199; i++) v = [v]; return v })().flat(Infinity)", [1]),
)

_REFUSED_VALUES: Final[Sequence[tuple[str, str]]] = (
    ("new Map([[1, 2]])", "$"),
    ("{ rows: [1, 2, new Set()] }", "$.rows[2]"),
    ("{ rows: [{ id: 10n }] }", "$.rows[0].id"),
    ("() => 1", "$"),
    ("{ a: Symbol('x') }", "$.a"),
    ("[NaN]", "$[0]"),
    ("{ a: { 'b c': -Infinity } }", '$.a["b c"]'),
    ("new Uint8Array(2)", "$"),
    ("[new ArrayBuffer(2)]", "$[0]"),
    ("(() => { const a = { b: {} }; a.b.c = a; return a })()", "$.b.c"),
    ("{ p: Promise.resolve(1) }", "$.p"),
    ("new Date(NaN)", "$"),
    ("/x/", "$"),
    ("{ toJSON: () => 1n }", "$"),
    ("Object(1n)", "$"),
    ("new WeakMap()", "$"),
    ("{ a: new Proxy(new Map(), {}) }", "$.a"),
    ("{ get a() { return NaN } }", "$.a"),
    ("[new WeakSet()]", "$[0]"),
    ("[new DataView(new ArrayBuffer(2))]", "$[0]"),
    ("[new BigInt64Array(1)]", "$[0]"),
    ("[Object(Symbol('s'))]", "$[0]"),
    ("{ a: class A {} }", "$.a"),
    ("{ a: async function* () {} }", "$.a"),
    ("{ a: { [Symbol('s')]: 1 } }", "$.a"),
    ("[(function* () {})()]", "$[0]"),
    ("[(async function* () {})()]", "$[0]"),
    ("[[1].values()]", "$[0]"),
    ("[new Map([[1, 2]]).entries()]", "$[0]"),
    ("[new Set([1]).values()]", "$[0]"),
    ("['abc'[Symbol.iterator]()]", "$[0]"),
    ("['abc'.matchAll(/b/g)]", "$[0]"),
    ("[Iterator.from([1]).map((each) => each)]", "$[0]"),
    ("[new Proxy(new Date(0), {})]", "$[0]"),
    ("[new Proxy(Promise.resolve(1), {})]", "$[0]"),
    ("[new Proxy(() => 1, {})]", "$[0]"),
    ("[(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()]", "$[0]"),
    ("Object.setPrototypeOf(new Map(), null)", "$"),
    ("{ toJSON() { return this } }", "$.toJSON"),
    ("[{ toJSON: () => Promise.resolve(1) }]", "$[0]"),
    ("[{ toJSON: () => new Set() }]", "$[0]"),
    ("tools.app.echo", "$"),
    ("{ a: tools }", "$.a.app.echo"),
    ("[ToolCallError]", "$[0]"),
    ("[console]", "$[0].log"),
    ("{ 'a.b': { '': [NaN] } }", '$["a.b"][""][0]'),
)


async def converts_what_has_a_json_form(make: Callable[[], CodeSandbox]) -> None:
    """Dates, errors, instances, boxed values and odd texts, in results and arguments alike."""
    async with opened(make) as sandbox:
        for expression, wanted in _CONVERTED:
            expect_equal(await value_of(sandbox, f"return {expression}"), wanted, f"the value of {expression}")
            if wanted is not ABSENT:
                body = f"const v = {expression}; await tools.app.echo({{ v }}); return {{ in: {{ an: [v] }} }}"
                called = await play(sandbox, body)
                expect_equal(called.calls[0].input, {"v": wanted}, f"the argument {expression}")
                inside = loads(getattr(called.ending, "json", None) or "null")
                expect_equal(inside, {"in": {"an": [wanted]}}, f"the value of {expression} deep inside")


async def refuses_what_has_no_json_form(make: Callable[[], CodeSandbox]) -> None:
    """Never changed in silence: the place is named, at any depth."""
    async with opened(make) as sandbox:
        for expression, path in _REFUSED_VALUES:
            error = (await error_of(sandbox, f"return {expression}", names=names_of)).error
            expect_equal((error.kind, error.path), ("not_serializable", path), f"the refusal of {expression}")
            expect(error.message, f"the refusal of {expression} has no words")
            called = await play(sandbox, f"await tools.app.echo({{ v: [{expression}] }})", refused, names=names_of)
            place, problem = f"at $.v[0]{path[1:]}: ", called.calls[0].problem or ""
            expect(place in problem, f"the problem of the argument {expression} is {problem!r}, which lacks {place!r}")


async def bounds_the_depth_of_values(make: Callable[[], CodeSandbox]) -> None:
    """200 levels pass, 201 are refused."""
    body = "let v = 1; for (let i = 0; i < {levels}; i++) v = [v]; return v"
    async with opened(make) as sandbox:
        await value_of(sandbox, body.replace("{levels}", "200"))
        error = (await error_of(sandbox, body.replace("{levels}", "201"))).error
    expect_equal(error.kind, "not_serializable", "the refusal of 201 levels")


async def bounds_the_size_of_values(make: Callable[[], CodeSandbox]) -> None:
    """A value beyond the limit fails, it is never cut."""
    async with opened(make) as sandbox:
        expect_equal(len(await value_of(sandbox, "return 'x'.repeat(998)", final_result_bytes=1000)), 998, "the length")
        expect_equal(len(await value_of(sandbox, "return Array(333).fill([])", final_result_bytes=1000)), 333, "a list")
        endless = "return new Proxy([], { get: (_, key) => (key === 'length' ? 1e9 : []) })"
        for body in ("return 'x'.repeat(1200)", "return Array(600).fill(1)", endless):
            error = (await error_of(sandbox, body, final_result_bytes=1000)).error
            expect_equal(error.kind, "output_limit", f"the ending of {body}")


async def says_which_arguments_cannot_be_sent(make: Callable[[], CodeSandbox]) -> None:
    """The call is made, with the problem and its place instead of an input."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "await tools.app.echo({ a: [new Map()] })", refused)
        problem = played.calls[0].problem or ""
        expect("$.a[0]" in problem and "Map" in problem, f"the problem is {problem!r}")
        expect_equal(played.calls[0].input, None, "its input")
        played = await play(sandbox, "await tools.app.echo({ a: 'x'.repeat(5000) })", refused, total_bridge_bytes=1000)
        expect_equal((played.calls[0].oversize, played.calls[0].input), (True, None), "a call with too much")


async def bounds_the_values_of_all_arguments(make: Callable[[], CodeSandbox]) -> None:
    """A value takes far more room on the host than its text: each counts as 64 bytes of the bridge's bound."""
    body = """
    const list = Array(60).fill([]);
    for (const i of [1, 2, 3]) await tools.app.echo({ list }).catch(() => 0);
    """
    async with opened(make) as sandbox:
        played = await play(sandbox, body, total_bridge_bytes=64 * 150)
    expect_equal([call.oversize for call in played.calls], [False, False, True], "which call is too much")


async def passes_the_context(make: Callable[[], CodeSandbox]) -> None:
    """A JSON value as it is; null without one."""
    context = {"user": 7, "texts": ["ä𝄞", "\ud800", "\x00"], "__proto__": {"x": 1}, "deep": [[[]]], "n": -1.5e300}
    async with opened(make) as sandbox:
        expect_equal(await value_of(sandbox, "return context", context=context), context, "the context")
        expect_equal(await value_of(sandbox, "return [context]"), [None], "no context")


VALUE_CHECKS: Final[tuple[SandboxCheck, ...]] = (
    converts_what_has_a_json_form,
    refuses_what_has_no_json_form,
    bounds_the_depth_of_values,
    bounds_the_size_of_values,
    says_which_arguments_cannot_be_sent,
    bounds_the_values_of_all_arguments,
    passes_the_context,
)
"""How values become JSON and back."""
