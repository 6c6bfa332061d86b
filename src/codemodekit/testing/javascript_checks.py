"""What JavaScript programs may rely on in every sandbox, and what they must not be able to do there.

One fixed list of globals, no way from text to code and a world of its own for each run; what is in `javascript_tools`,
`javascript_values` and `javascript_limits` belongs to it. Used like the checks of `sandbox_checks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from codemodekit.contracts import CodeSandbox
from codemodekit.testing.expecting import expect, expect_equal
from codemodekit.testing.javascript_limits import LIMIT_CHECKS
from codemodekit.testing.javascript_tools import TOOL_CHECKS
from codemodekit.testing.javascript_values import VALUE_CHECKS
from codemodekit.testing.playing import names_of, play, refused, value_of
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
            played = await play(sandbox, body, names=names_of)
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
        caught = (await play(sandbox, failing, refused)).ending
        expect_equal(getattr(caught, "json", None), '["TOOL_EXECUTION_FAILED","no"]', "the error of a failed call")
        expect_equal(await value_of(sandbox, poison), {"i": 7, "list": [1, "x"]}, "the value of a program with poison")
        expect_equal(await value_of(sandbox, setters), {"i": 7}, "the value of a program with setters")
        expect_equal(await value_of(sandbox, "return [1].map(x => x)"), [1], "the value of the next program")


JAVASCRIPT_CHECKS: Final[tuple[SandboxCheck, ...]] = (
    offers_exactly_the_listed_globals,
    makes_no_code_from_text,
    loads_no_modules,
    keeps_its_own_globals,
    gives_each_run_its_own_world,
    suffers_no_poison,
    *TOOL_CHECKS,
    *VALUE_CHECKS,
    *LIMIT_CHECKS,
)
"""Every check of what JavaScript programs may rely on."""
