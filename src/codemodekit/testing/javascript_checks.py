"""What JavaScript programs may rely on in every sandbox, and what they must not be able to do there.

One fixed list of globals, no way from text to code, `tools` as a proxy, one set of rules from values to JSON, limits
that hold, and logs that survive. Used like the checks of `sandbox_checks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from codemodekit._json import ABSENT, encode
from codemodekit.contracts import Answer, Calls, CodeSandbox, GuestCall, LogEntry
from codemodekit.testing.expecting import expect, expect_equal, in_time
from codemodekit.testing.playing import answered, error_of, guest_of, play, value_of
from codemodekit.testing.sandbox_checks import SandboxCheck, opened

__all__ = ["JAVASCRIPT_CHECKS", "JAVASCRIPT_GLOBALS"]

JAVASCRIPT_GLOBALS: Final = frozenset(
    {
        "Object", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Math", "JSON", "Reflect",
        "Proxy", "Promise", "Map", "Set", "WeakMap", "WeakSet", "Date", "RegExp", "Iterator", "Error",
        "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "AggregateError",
        "ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array",
        "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array",
        "BigUint64Array", "globalThis", "undefined", "NaN", "Infinity", "parseInt", "parseFloat", "isNaN",
        "isFinite", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent", "tools", "context",
        "console", "ToolCallError",
    }
)  # fmt: skip
"""Every global of a program; nothing else is there."""

_NAMES: Final[dict[str | None, Sequence[str]]] = {
    None: ["app", "wei rd", "then", "contacts"],
    "app": ["echo", "a.b", "toJSON"],
    "wei rd": ["größe/1"],
}


def _names(source: str | None) -> Sequence[str]:
    return _NAMES[source]


# --- globals and code -------------------------------------------------------------------------------------------------


async def offers_exactly_the_listed_globals(make: Callable[[], CodeSandbox]) -> None:
    """Own names of the global object, symbols aside."""
    async with opened(make) as sandbox:
        names = await value_of(sandbox, "return Object.getOwnPropertyNames(globalThis)")
    extra, missing = sorted(set(names) - JAVASCRIPT_GLOBALS), sorted(JAVASCRIPT_GLOBALS - set(names))
    expect(not extra and not missing, f"globals that ought not to be there: {extra}; that are missing: {missing}")


_ROUTES: Final = (
    "globalThis['ev' + 'al']('7')",
    "(0, globalThis['ev' + 'al'])('7')",
    "globalThis['Func' + 'tion']('return 7')()",
    "(() => {}).constructor('return 7')()",
    "new ((() => {}).constructor)('return 7')()",
    "Object.getPrototypeOf(function () {}).constructor('return 7')()",
    "Object.getPrototypeOf(async () => {}).constructor('return 7')()",
    "Object.getPrototypeOf(function* () {}).constructor('yield 7')().next().value",
    "Object.getPrototypeOf(async function* () {}).constructor('yield 7')()",
    "Reflect.construct(Object.getPrototypeOf(parseInt).constructor, ['return 7'])()",
    "(class {}).constructor('return 7')()",
    "(function () {}).bind().constructor('return 7')()",
    "console.log.constructor('return 7')()",
    "ToolCallError.constructor('return 7')()",
    "tools.app.echo.constructor.constructor.name('return 7')",
    "Object.getPrototypeOf(tools)?.constructor('return 7')()",
    "[].map.constructor('return 7')()",
    "Reflect.get(Proxy, 'constructor')('return 7')()",
    "Object.getOwnPropertyDescriptor(Array, Symbol.species).get.constructor('return 7')()",
    "JSON.parse.constructor.call(null, 'return 7')()",
    "'x'.replace(/x/, Object.getPrototypeOf(isNaN).constructor('return 7'))",
)


async def makes_no_code_from_text(make: Callable[[], CodeSandbox]) -> None:
    """None of the known routes from text to code gives anything that ran."""
    async with opened(make) as sandbox:
        for route in _ROUTES:
            verdict = "v === 7 || typeof v === 'function' ? 'ran' : 'no'"
            body = f"try {{ const v = {route}; return {verdict} }} catch {{ return 'no' }}"
            played = await play(sandbox, body, names=_names)
            ending = played.ending
            expect(getattr(ending, "json", None) == '"no"', f"{route} came to {ending!r}")


async def loads_no_modules(make: Callable[[], CodeSandbox]) -> None:
    """`import()` of anything fails."""
    async with opened(make) as sandbox:
        for name in ("std", "os", "qjs:os", "fs", "node:fs", "/etc/passwd", "data:text/javascript,export default 7"):
            played = await play(sandbox, f"try {{ await import({name!r}); return 'loaded' }} catch {{ return 'no' }}")
            expect(getattr(played.ending, "json", None) != '"loaded"', f"import({name!r}) worked")


async def keeps_its_own_globals(make: Callable[[], CodeSandbox]) -> None:
    """A program cannot replace or delete `tools`, `context`, `console` and `ToolCallError`."""
    body = """
    const out = [];
    for (const name of ['tools', 'context', 'console', 'ToolCallError']) {
      const before = globalThis[name];
      try { globalThis[name] = 1 } catch {}
      try { delete globalThis[name] } catch {}
      try { Object.defineProperty(globalThis, name, { value: 2 }) } catch {}
      out.push(globalThis[name] === before);
    }
    return out;
    """
    async with opened(make) as sandbox:
        expect_equal(await value_of(sandbox, body), [True] * 4, "whether each global stayed")


async def gives_each_run_its_own_world(make: Callable[[], CodeSandbox]) -> None:
    """What one program does to built-in objects, the next does not see; also when they run side by side."""
    poison = """
    globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = () => 'poisoned';
    await tools.app.echo({});
    return [1].map(x => x);
    """
    clean = "await tools.app.echo({}); return [typeof left, [1].map(x => x)[0], 'left' in {}]"
    async with opened(make) as sandbox:
        bodies = [poison, clean] * 8
        values = await asyncio.gather(*(value_of(sandbox, body) for body in bodies))
        values.append(await value_of(sandbox, clean))
    for value in values[1::2]:
        expect_equal(value, ["undefined", 1, False], "what a program sees of another")
    expect_equal(values[-1], ["undefined", 1, False], "what a program sees of one before it")


async def suffers_no_poison(make: Callable[[], CodeSandbox]) -> None:
    """Calls and results work for a program that has altered every built-in object the bridge could be using."""
    poison = """
    const bad = () => { throw new Error('poisoned') };
    const { getOwnPropertyNames } = Object;
    for (const type of [Object, Array, String, Map, WeakMap, Set, Promise, RegExp, Number, JSON, Reflect]) {
      for (const owner of [type, type.prototype]) {
        if (owner) for (const key of getOwnPropertyNames(owner)) {
          if (key === 'prototype' || key === 'constructor' || (owner === Promise.prototype && key === 'then')) continue;
          try { owner[key] = bad } catch {}
        }
      }
    }
    const r = await tools.app.echo({ i: 7, list: [1, 'x'] });
    return { i: r.structuredContent.i, list: r.structuredContent.list };
    """
    setters = """
    const { defineProperty } = Object;
    const steal = () => { throw new Error('stolen') };
    const trap = { __proto__: null, set: steal, get: () => 'stolen', configurable: true };
    const names = ['i', 'a', 'value', 'resolve', 'reject', 'site', 'code', 'source', 'trail', 'kind', 'sign', '0', '1'];
    for (const key of names) {
      for (const owner of [Object.prototype, Array.prototype, Promise.prototype]) defineProperty(owner, key, trap);
    }
    return (await tools.app.echo({ i: 7 })).structuredContent;
    """
    failing = """
    Array.prototype[Symbol.iterator] = function* () {};
    try { await tools.app.echo({}) } catch (error) { return [error.code, error.message] }
    """
    async with opened(make) as sandbox:
        refused = (await play(sandbox, failing, _refused)).ending
        expect_equal(getattr(refused, "json", None), '["TOOL_EXECUTION_FAILED","no"]', "the error of a failed call")
        expect_equal(await value_of(sandbox, poison), {"i": 7, "list": [1, "x"]}, "the value of a program with poison")
        expect_equal(await value_of(sandbox, setters), {"i": 7}, "the value of a program with setters")
        expect_equal(await value_of(sandbox, "return [1].map(x => x)"), [1], "the value of the next program")


# --- tools ------------------------------------------------------------------------------------------------------------


async def lists_sources_and_tools(make: Callable[[], CodeSandbox]) -> None:
    """`Object.keys`, `in` and spreading show what the host says exists; `then` and `toJSON` never do."""
    body = """
    const { app } = tools;
    const absent = [tools.then, app.then, app.echo.then, tools.toJSON, app.echo.toJSON, app[Symbol.iterator]];
    return [Object.keys(tools), Object.keys(app), Object.keys(tools['wei rd']), 'app' in tools, 'nope' in tools,
      'echo' in app, Object.keys({ ...app }), absent.map(each => typeof each), Object.keys(tools.nope),
      typeof tools.nope.tool];
    """
    async with opened(make) as sandbox:
        value = await value_of(sandbox, body, names=_names)
    wanted = [
        ["app", "wei rd", "contacts"], ["echo", "a.b"], ["größe/1"], True, False,
        True, ["echo", "a.b"], ["undefined"] * 6, [], "function",
    ]  # fmt: skip
    expect_equal(value, wanted, "what a program sees of its tools")


async def shows_names_in_texts(make: Callable[[], CodeSandbox]) -> None:
    """A tool or a source in a text is its own name, and nothing is called for it."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "return [`${tools}`, '' + tools.app, String(tools.app.echo)]", names=_names)
    expect_equal(getattr(played.ending, "json", None), '["tools","tools.app","tools.app.echo"]', "the texts")
    expect_equal(played.calls, (), "the calls made for them")


async def reaches_every_name(make: Callable[[], CodeSandbox]) -> None:
    """Dots are a path, brackets take any name, `$call` takes any pair; a call without arguments sends `{}`."""
    body = """
    await tools.app.echo();
    await tools.app.a.b({ n: 1 });
    await tools.app['a.b']({ n: 2 });
    await tools['wei rd']['größe/1']({ n: 3 });
    await tools.$call('app', 'then', { n: 4 });
    const { app: { echo } } = tools;
    await echo({ n: 5 }, 'more', 'arguments');
    """
    async with opened(make) as sandbox:
        calls = (await play(sandbox, body, names=_names)).calls
    wanted = [
        ("app", "echo", {}), ("app", "a.b", {"n": 1}), ("app", "a.b", {"n": 2}), ("wei rd", "größe/1", {"n": 3}),
        ("app", "then", {"n": 4}), ("app", "echo", {"n": 5}),
    ]  # fmt: skip
    expect_equal([(call.source, call.tool, call.input) for call in calls], wanted, "the calls")
    expect_equal([call.id for call in calls], [1, 2, 3, 4, 5, 6], "the numbers of the calls")


async def gives_all_calls_of_a_step_at_once(make: Callable[[], CodeSandbox]) -> None:
    """Answers may come one by one and in any order."""
    body = "return (await Promise.all([1, 2, 3].map(n => tools.app.echo({ n })))).map(r => r.structuredContent.n)"
    async with opened(make) as sandbox, guest_of(sandbox, body) as guest:
        first = await in_time(guest.step(()), "the first step")
        expect_equal(len(first.calls), 3, "the number of calls")
        for call in (first.calls[2], first.calls[0]):
            expect_equal(await in_time(guest.step([answered(call)]), "a step"), Calls(()), "a step in between")
        last = await in_time(guest.step([answered(first.calls[1])]), "the last step")
        expect_equal(getattr(last, "json", None), "[1,2,3]", "the value")


def _refused(call: GuestCall) -> Answer:
    fields = {"message": "no", "code": "TOOL_EXECUTION_FAILED", "phase": "tool", "source": call.source,
              "tool": call.tool, "details": {"a": 1}}  # fmt: skip
    return Answer(call.id, False, encode(fields))


async def throws_tool_call_errors(make: Callable[[], CodeSandbox]) -> None:
    """A failed call rejects with a ToolCallError that carries the host's fields; uncaught, its call is known."""
    caught = """
    try { await tools.app.echo({}) } catch (e) {
      const kinds = [e instanceof ToolCallError, e instanceof Error];
      return [...kinds, e.name, e.message, e.code, e.phase, e.source, e.tool, e.details];
    }
    """
    wanted = [True, True, "ToolCallError", "no", "TOOL_EXECUTION_FAILED", "tool", "app", "echo", {"a": 1}]
    async with opened(make) as sandbox:
        expect_equal(await value_of(sandbox, caught, _refused), wanted, "the error in the program")
        error = (await error_of(sandbox, "await tools.app.other({});\nawait tools.app.echo({})", _refused)).error
        expect_equal((error.kind, error.call_id), ("tool", 1), "the error the program ended with")
        expect(error.frames and error.frames[0].line == 2, f"its frames lead elsewhere: {error.frames!r}")
        forged = (
            "throw Object.assign(new ToolCallError('x'), { code: 'MEMORY_LIMIT_EXCEEDED', call: 1, kind: 'memory' })"
        )
        error = (await error_of(sandbox, forged)).error
        expect_equal((error.kind, error.call_id), ("exception", None), "a forged error")


async def reports_rejections_nobody_handled(make: Callable[[], CodeSandbox]) -> None:
    """With the result; one that is handled later is none."""
    body = """
    Promise.reject(new Error('lost'));
    const later = Promise.reject(new Error('found'));
    tools.app.echo({});
    await tools.app.echo({});
    later.catch(() => 0);
    return 1;
    """
    async with opened(make) as sandbox:
        ending = (await play(sandbox, body, _refused_first)).ending
    unhandled = ending.unhandled if ending is not None else ()
    told = sorted((each.kind, each.message, each.call_id) for each in unhandled)
    expect_equal(told, [("exception", "lost", None), ("tool", "no", 1)], "the rejections")


async def tells_of_rejections_while_waiting(make: Callable[[], CodeSandbox]) -> None:
    """A program that is ended, or that waits for nothing, never comes to tell them itself: its steps do."""
    async with opened(make) as sandbox, guest_of(sandbox, "tools.app.echo({}); await new Promise(() => {})") as guest:
        first = await in_time(guest.step(()), "the first step")
        expect_equal(getattr(first, "unhandled", None), (), "rejections before any")
        second = await in_time(guest.step([_refused(first.calls[0])]), "the second step")
    expect_equal([each.call_id for each in second.unhandled], [1], "the calls whose failure nobody handled")


def _refused_first(call: GuestCall) -> Answer:
    return _refused(call) if call.id == 1 else answered(call)


async def shows_that_nothing_will_ever_settle(make: Callable[[], CodeSandbox]) -> None:
    """A step without calls while none is under way."""
    async with opened(make) as sandbox:
        for body in (
            "await new Promise(() => {})",
            "await { then() {} }",
            "await tools.app.echo({}); await new Promise(() => {})",
        ):
            expect_equal((await play(sandbox, body)).ending, None, f"the ending of {body!r}")


async def gives_calls_nobody_awaits(make: Callable[[], CodeSandbox]) -> None:
    """Calls made in the last step come with the ending."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "tools.app.echo({ n: 1 }); return 1")
        expect_equal([call.input for call in played.calls], [{"n": 1}], "the calls")
        played = await play(sandbox, "tools.app.echo({ n: 1 }); throw new Error('x')")
        expect_equal([call.input for call in played.calls], [{"n": 1}], "the calls of a program that throws")


async def says_which_arguments_cannot_be_sent(make: Callable[[], CodeSandbox]) -> None:
    """The call is made, with the problem and its place instead of an input."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "await tools.app.echo({ a: [new Map()] })", _refused)
        problem = played.calls[0].problem or ""
        expect("$.a[0]" in problem and "Map" in problem, f"the problem is {problem!r}")
        expect_equal(played.calls[0].input, None, "its input")
        played = await play(sandbox, "await tools.app.echo({ a: 'x'.repeat(5000) })", _refused, total_bridge_bytes=1000)
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


# --- values to JSON ---------------------------------------------------------------------------------------------------

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
)


async def converts_what_has_a_json_form(make: Callable[[], CodeSandbox]) -> None:
    """Dates, errors, instances, boxed values and odd texts, in results and arguments alike."""
    async with opened(make) as sandbox:
        for expression, wanted in _CONVERTED:
            expect_equal(await value_of(sandbox, f"return {expression}"), wanted, f"the value of {expression}")
            if wanted is not ABSENT:
                called = await play(sandbox, f"await tools.app.echo({{ v: {expression} }})")
                expect_equal(called.calls[0].input, {"v": wanted}, f"the argument {expression}")


async def refuses_what_has_no_json_form(make: Callable[[], CodeSandbox]) -> None:
    """Never changed in silence: the place is named, at any depth."""
    async with opened(make) as sandbox:
        for expression, path in _REFUSED_VALUES:
            error = (await error_of(sandbox, f"return {expression}")).error
            expect_equal((error.kind, error.path), ("not_serializable", path), f"the refusal of {expression}")
            expect(error.message, f"the refusal of {expression} has no words")


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


# --- limits -----------------------------------------------------------------------------------------------------------

_SMALL: Final[dict[str, Any]] = {"compute_time_ms": 200, "memory_bytes": 16 << 20}

_BOMBS: Final[Sequence[tuple[str, str]]] = (
    ("for (;;) {}", "compute"),
    ("for (;;) { try { for (;;) {} } catch {} }", "compute"),
    ("while (true) { await null }", "compute"),
    ("return /^(a+)+$/.test('a'.repeat(40) + 'b')", "compute"),
    ("return { toJSON() { for (;;) {} } }", "compute"),
    ("return { get a() { for (;;) {} } }", "compute"),
    ("return new Proxy({}, { ownKeys() { for (;;) {} } })", "compute"),
    ("await { then() { for (;;) {} } }", "compute"),
    ("await tools.app.echo({}); for (;;) {}", "compute"),
    ("console.log({ toJSON() { for (;;) {} } })", "compute"),
    ("const k = []; for (;;) k.push('x'.repeat(1 << 16) + k.length)", "memory"),
    ("const k = []; for (;;) { try { k.push(new Array(1 << 16).fill(k.length)) } catch {} }", "memory"),
    ("return new Uint8Array(1 << 30).length", "memory"),
    ("const f = () => f(); f()", "stack"),
    ("let v = []; for (let i = 0; i < 1e5; i++) v = [v]; v.toString()", "stack"),
)


async def ends_programs_at_their_limits(make: Callable[[], CodeSandbox]) -> None:
    """Compute, memory and stack; a program cannot catch its end, and the next is unharmed."""
    async with opened(make) as sandbox:
        for body, kind in _BOMBS:
            # A slow machine must not reach the compute limit before the limit that is meant.
            limits = _SMALL if kind == "compute" else {**_SMALL, "compute_time_ms": 20_000}
            error = (await error_of(sandbox, body, **limits)).error
            expect_equal(error.kind, kind, f"the ending of {body}")
            expect_equal(await value_of(sandbox, "return 1", **_SMALL), 1, f"the program after {body}")


async def lets_a_program_survive_its_own_recursion(make: Callable[[], CodeSandbox]) -> None:
    """A stack overflow can be caught, as in every engine."""
    async with opened(make) as sandbox:
        body = "const f = () => f(); try { f() } catch (e) { return [e.name, 1 + 1] }"
        expect_equal(await value_of(sandbox, body), ["RangeError", 2], "the value after a caught overflow")


async def charges_no_compute_time_for_waiting(make: Callable[[], CodeSandbox]) -> None:
    """A guest that waits for longer than its compute limit goes on afterwards."""
    body = "for (let i = 0; i < 3; i++) await tools.app.echo({}); return 1"
    async with opened(make) as sandbox, guest_of(sandbox, body, compute_time_ms=150) as guest:
        step = await in_time(guest.step(()), "the first step")
        while isinstance(step, Calls):
            # The waiting itself: another guest computes until its own limit, which is longer.
            await error_of(sandbox, "for (;;) {}", compute_time_ms=200)
            step = await in_time(guest.step([answered(step.calls[0])]), "a step")
        expect_equal(getattr(step, "json", None), "1", "the value")


async def harms_nobody_beside_a_bomb(make: Callable[[], CodeSandbox]) -> None:
    """A program with twenty calls, while bombs go off around it."""
    body = "let s = 0; for (let i = 0; i < 20; i++) s += (await tools.app.echo({ i })).structuredContent.i; return s"
    async with opened(make) as sandbox:
        good = value_of(sandbox, body)
        bombs = (error_of(sandbox, bomb, **_SMALL) for bomb, _ in _BOMBS[::4])
        value, *_ = await asyncio.gather(good, *bombs)
    expect_equal(value, sum(range(20)), "the value of the program beside")


# --- logs, time and chance --------------------------------------------------------------------------------------------


async def keeps_what_is_printed(make: Callable[[], CodeSandbox]) -> None:
    """All five levels, any values; also of a program that was killed."""
    body = """
    console.log('a', 1, { b: [2] }, undefined, null, 10n, Symbol('s'), () => 1);
    console.info('i'); console.warn('w'); console.error('e'); console.debug('d');
    console.log(new Map([[1, 2]]), new Set([3]), -0, NaN);
    """
    async with opened(make) as sandbox:
        logs = (await play(sandbox, body)).logs
        expect_equal([entry.level for entry in logs], ["log", "info", "warn", "error", "debug", "log"], "the levels")
        expect(logs[0].message.startswith('a 1 {"b":[2]} undefined null 10n Symbol(s)'), f"printed {logs[0].message!r}")
        killed = await play(sandbox, "console.log('before'); for (;;) {}", **_SMALL)
        expect_equal(killed.logs, (LogEntry("log", "before"),), "the logs of a program that was killed")
        async with guest_of(sandbox, "console.log('waits'); await tools.app.echo({})") as guest:
            await in_time(guest.step(()), "the first step")
            expect_equal(guest.logs, (LogEntry("log", "waits"),), "the logs of a program that waits")
            await in_time(guest.close(), "closing")
            expect_equal(guest.logs, (LogEntry("log", "waits"),), "the logs of one that was closed meanwhile")


async def keeps_head_and_tail_of_many_logs(make: Callable[[], CodeSandbox]) -> None:
    """A marker between them says how many were dropped; also by bytes, also after a kill."""
    many = "for (let i = 0; i < 1000; i++) console.log('n' + i);"
    async with opened(make) as sandbox:
        for body in (many, f"{many} for (;;) {{}}"):
            logs = (await play(sandbox, body, log_entries=10, **_SMALL)).logs
            levels, texts = [entry.level for entry in logs], [entry.message for entry in logs]
            expect_equal(levels.count("dropped"), 1, "the number of markers")
            at = levels.index("dropped")
            expect("990" in texts[at], f"the marker says {texts[at]!r}")
            kept = texts[:at] + texts[at + 1 :]
            expect_equal(kept, [f"n{i}" for i in (*range(at), *range(990 + at, 1000))], "the entries that were kept")
            expect(0 < at < 10, "the marker stands between head and tail")
        big = "for (let i = 0; i < 100; i++) console.log(i + 'x'.repeat(1000))"
        logs = (await play(sandbox, big, log_bytes=10_000)).logs
        size = sum(len(entry.message.encode()) for entry in logs)
        expect(2_000 < size <= 10_200, f"{size} bytes of logs are kept, of at most 10000")
        expect(logs[0].message.startswith("0x") and logs[-1].message.startswith("99x"), "head or tail is missing")


async def seeds_chance_anew(make: Callable[[], CodeSandbox]) -> None:
    """`Math.random` follows the seed: same seed, same numbers; another, others; all between 0 and 1."""
    body = "return [Math.random(), Math.random(), Math.random()]"
    async with opened(make) as sandbox:
        first, again, other = [await value_of(sandbox, body, seed=seed) for seed in (7, 7, 8)]
    expect_equal(again, first, "the numbers of one seed")
    expect(other != first, "two seeds give the same numbers")
    expect(all(0 <= number < 1 for number in (*first, *other)), f"numbers outside of 0 to 1: {first} {other}")
    expect(len({*first, *other}) == 6, f"numbers repeat: {first} {other}")


async def says_where_a_program_failed(make: Callable[[], CodeSandbox]) -> None:
    """Frames in the coordinates of the JavaScript, innermost first, columns in UTF-16 units."""
    body = "function inner() {\n  const s = '𝄞'; null.x;\n}\nconst o = { m() { inner() } };\no.m();"
    async with opened(make) as sandbox:
        error = (await error_of(sandbox, body)).error
    expect_equal(error.name, "TypeError", "the name of the error")
    async with opened(make) as sandbox:
        forged = "const e = new Error('x'); e.stack = 'at f (program.ts:' + '1'.repeat(5000) + ':1)'; throw e"
        expect_equal(
            (await error_of(sandbox, forged)).error.message, "x", "the message of an error with a forged stack"
        )
    lines = [frame.line for frame in error.frames]
    expect_equal(lines[:3], [3, 5, 6], "the lines of its frames")
    expect_equal(error.frames[0].function, "inner", "the innermost function")
    wanted = range(len("  const s = 'XX'; ") + 1, len("  const s = 'XX'; null.x") + 1)
    expect(error.frames[0].column in wanted, f"the column is {error.frames[0].column}, expected one of {wanted}")


async def tells_a_syntax_error_from_the_rest(make: Callable[[], CodeSandbox]) -> None:
    """The engine's own parser has the last word, before anything runs."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "console.log('ran');\nlet a; let a;")
        expect_equal(getattr(getattr(played.ending, "error", None), "kind", None), "syntax", "the ending")
        expect_equal(played.logs, (), "the logs of a program that never ran")
        error = (await error_of(sandbox, "JSON.parse('{')")).error
        expect_equal((error.kind, error.name), ("exception", "SyntaxError"), "a SyntaxError at run time")


JAVASCRIPT_CHECKS: Final[tuple[SandboxCheck, ...]] = (
    offers_exactly_the_listed_globals,
    makes_no_code_from_text,
    loads_no_modules,
    keeps_its_own_globals,
    gives_each_run_its_own_world,
    suffers_no_poison,
    lists_sources_and_tools,
    shows_names_in_texts,
    reaches_every_name,
    gives_all_calls_of_a_step_at_once,
    throws_tool_call_errors,
    reports_rejections_nobody_handled,
    tells_of_rejections_while_waiting,
    shows_that_nothing_will_ever_settle,
    gives_calls_nobody_awaits,
    says_which_arguments_cannot_be_sent,
    bounds_the_values_of_all_arguments,
    passes_the_context,
    converts_what_has_a_json_form,
    refuses_what_has_no_json_form,
    bounds_the_depth_of_values,
    bounds_the_size_of_values,
    ends_programs_at_their_limits,
    lets_a_program_survive_its_own_recursion,
    charges_no_compute_time_for_waiting,
    harms_nobody_beside_a_bomb,
    keeps_what_is_printed,
    keeps_head_and_tail_of_many_logs,
    seeds_chance_anew,
    says_where_a_program_failed,
    tells_a_syntax_error_from_the_rest,
)
"""Every check of what JavaScript programs may rely on."""
