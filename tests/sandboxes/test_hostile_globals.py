"""What a program can do to the objects of the language, and what it can reach through them: each of them is tried.

The walk finds every object that hangs on the globals, and those that only syntax leads to (generators, iterators,
async functions), with every property that can be changed.
"""

from __future__ import annotations

from typing import Any

import pytest

from codemodekit.code_mode import CodeMode
from codemodekit.contracts import ToolResult
from codemodekit.diagnostics import DiagnosticCode as Code
from codemodekit.errors import ToolError
from codemodekit.testing import JAVASCRIPT_GLOBALS
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio

WALK = """
const { getOwnPropertyDescriptor: describe, getPrototypeOf, defineProperty } = Object;
const { ownKeys, construct } = Reflect;
const seen = new Set<any>(), callables: any[] = [], spots: any[] = [];
const walk = (owner: any, path: string) => {
  if ((typeof owner !== 'object' && typeof owner !== 'function') || owner === null || seen.has(owner)) return;
  seen.add(owner);
  if (typeof owner === 'function') callables.push([owner, path]);
  for (const key of ownKeys(owner)) {
    const at = `${path}.${String(key)}`, found = describe(owner, key)!;
    if (found.configurable || found.writable) spots.push({ owner, key, at, found });
    for (const each of [found.value, found.get, found.set]) walk(each, at);
  }
  walk(getPrototypeOf(owner), `${path}.[[Prototype]]`);
};
const own = new Set<PropertyKey>(['tools', 'context', 'console', 'ToolCallError', 'globalThis']);
for (const name of ownKeys(globalThis)) if (!own.has(name)) walk((globalThis as any)[name], String(name));
[async () => {}, function* () {}, async function* () {}, (function* () {})(), (async function* () {})(),
  [].values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), ''.matchAll(/x/g),
  Iterator.from({ next() {} } as any), ([] as any).values().map(() => 0), getPrototypeOf(Int8Array)]
  .forEach((each, i) => walk(each, `syntax${i}`));
for (const name of ownKeys(globalThis)) {
  const found = describe(globalThis, name)!;
  if (found.configurable) spots.push({ owner: globalThis, key: name, at: `globalThis.${String(name)}`, found });
}
"""

USE = """
const poisoned = () => { throw 'poisoned' };
const chosen = spots.filter(each => context.spots.includes(each.at));
for (let i = 0; i < chosen.length; i++) {
  const { owner, key, found } = chosen[i];
  const how: any = { __proto__: null, value: poisoned };
  defineProperty(owner, key, found.configurable ? { __proto__: null, get: poisoned, set: poisoned } as any : how);
}
console.log('before', { a: [1, 'x'] }, null, 10n);
const { structuredContent } = await tools.app.look({ n: 1, list: ['x', { y: null }] });
let code;
try { await tools.app.fail({}) } catch (e: any) { code = e.code }
console.log('after');
return { n: structuredContent.n, list: structuredContent.list, code };
"""

OWN_HARM = {
    "Array.prototype.Symbol(Symbol.iterator)",
    "Array.prototype.length",
    "Promise.prototype.constructor",
    "globalThis.Promise",
}
"""What the program above itself goes by: destructuring, lists, `await`."""


async def ending(code_mode: CodeMode, spots: list[str]) -> Any:
    result = await code_mode.run(WALK + USE, context={"spots": spots})
    return result.error or (result.value, [entry.message for entry in result.logs])


@pytest.mark.proves("sandbox.poisoning")
@pytest.mark.slow
async def test_calls_results_errors_and_logs_survive_the_poisoning_of_each_property_there_is() -> None:
    provider = app()
    provider.answer("fail", ToolError("no"))
    provider.answer("look", ToolResult(structured_content={"n": 1, "list": ["x", {"y": None}]}))
    value = {"n": 1, "list": ["x", {"y": None}], "code": Code.TOOL_EXECUTION_FAILED}
    wanted = (value, ['before {"a":[1,"x"]} null 10n', "after"])
    async with kit(provider) as code_mode:
        found = (await code_mode.run(f"{WALK}\nreturn spots.map(each => each.at)")).value
        spots = [spot for spot in found if spot not in OWN_HARM]
        assert len(spots) > 700
        for start in range(0, len(spots), 12):
            some = spots[start : start + 12]
            if await ending(code_mode, some) != wanted:
                assert {spot: how for spot in some if (how := await ending(code_mode, [spot])) != wanted} == {}
                raise AssertionError(f"these break it together: {some}")


@pytest.mark.proves("sandbox.poisoning")
@pytest.mark.parametrize("spot", sorted(OWN_HARM))
async def test_a_program_that_harms_itself_still_ends_as_a_program(spot: str) -> None:
    async with kit(app()) as code_mode:
        result = await code_mode.run(WALK + USE, context={"spots": [spot]})
        after = await code_mode.run("return [1].map(x => x)")
    assert result.ok or (result.error is not None and result.error.code is Code.SANDBOX_EXCEPTION)
    assert after.value == [1]


@pytest.mark.proves("sandbox.poisoning")
@pytest.mark.parametrize(
    "poison",
    [
        "Object.defineProperty(Error, Symbol.hasInstance, { value() { throw 1 } });",
        "Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } });",
        "Object.defineProperty(Promise.prototype, 'constructor', { get() { throw 1 } });",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw 1 }, configurable: true });",
        "Object.defineProperty(Error.prototype, 'stack', { get() { throw 1 } });",
        "Object.defineProperty(Error.prototype, 'message', { get() { throw 1 } });",
        "Object.defineProperty(Error.prototype, 'name', { get() { throw 1 } });",
        "Object.prototype.toJSON = () => { throw 1 };",
        "Object.defineProperty(Array.prototype, '0', { set() { throw 1 } });",
        "Object.defineProperty(Object.prototype, 'kind', { value: 'memory' });",
        "Object.defineProperty(Object.prototype, 'stack', { value: 'at (program.ts:1:1)' });",
    ],
)
async def test_the_diagnostic_of_a_program_that_poisoned_what_describes_it_is_right(poison: str) -> None:
    async with kit(app()) as code_mode:
        error = (await code_mode.run(f"{poison}\n  throw new TypeError('x');")).error
    assert error is not None
    assert error.code is Code.SANDBOX_EXCEPTION
    assert error.message.endswith(": x") or "message" in poison
    assert error.location is not None
    assert (error.location.line, error.location.column) == (2, 9)


GIVE_BACK_A_NUMBER = ("Number", "parse", "Math", "JSON.parse", "Object", "BigInt")
"""Functions that make 7 of the text '7'."""


@pytest.mark.proves("sandbox.no-text-to-code")
async def test_no_function_that_can_be_reached_makes_code_of_a_text() -> None:
    program = f"""{WALK}
    const text = 'return 7', made: string[] = [];
    const ran = (value: any, deep = 0): boolean => {{
      if (value === 7) return true;
      if (typeof value !== 'function' || deep > 1) return false;
      try {{ return ran(value(), deep + 1) }} catch {{ return false }}
    }};
    const tried = [
      (f: any) => f(text), (f: any) => f('7'), (f: any) => f('a', text), (f: any) => f.call(null, text),
      (f: any) => construct(f, [text]), (f: any) => construct(f, ['a', text]),
      (f: any) => construct(Object, [], f).constructor(text), (f: any) => f.constructor(text),
      (f: any) => f.constructor.constructor(text), (f: any) => construct(f.constructor, [text]),
    ];
    for (const [f, path] of callables) for (const [i, call] of tried.entries()) {{
      try {{ if (ran(call(f))) made.push(`${{path}} (${{i}})`) }} catch {{}}
    }}
    return [callables.length, made];
    """
    async with kit(app()) as code_mode:
        result = await code_mode.run(program)
    assert result.ok, result.error
    number, made = result.value
    assert number > 500
    assert [each for each in made if not each.startswith(GIVE_BACK_A_NUMBER)] == []


@pytest.mark.proves("sandbox.no-text-to-code", "sandbox.globals")
@pytest.mark.parametrize(
    "name",
    [
        "setTimeout", "setInterval", "eval", "Function", "AsyncFunction", "GeneratorFunction", "WebAssembly", "Worker",
        "SharedArrayBuffer", "Atomics", "process", "require", "fetch", "queueMicrotask", "FinalizationRegistry",
        "WeakRef",
        "DOMException", "performance", "structuredClone", "print", "scriptArgs", "std", "os", "bjson", "navigator",
    ],
)  # fmt: skip
async def test_what_is_not_on_the_list_is_not_there(name: str) -> None:
    assert name not in JAVASCRIPT_GLOBALS
    async with kit(app()) as code_mode:
        result = await code_mode.run(f"return [typeof (globalThis as any).{name}, '{name}' in globalThis]")
    assert result.value == ["undefined", False]


@pytest.mark.proves("sandbox.names")
async def test_then_is_hidden_at_every_level_and_awaiting_a_source_calls_nothing() -> None:
    program = """
    const { app, nope }: any = tools;
    const kept = [];
    for (const each of [tools, app, app.look, app.look.deeper, nope, nope.x]) {
      kept.push(each.then, 'then' in each, (await each) === each, (await Promise.resolve(each)) === each);
    }
    return kept;
    """
    provider = app()
    async with kit(provider) as code_mode:
        result = await code_mode.run(program)
    assert result.value == [None, False, True, True] * 6
    assert result.calls == ()
    assert provider.calls == []


@pytest.mark.proves("sandbox.names", "limit.compute", "limit.memory")
@pytest.mark.parametrize(
    "program",
    [
        "for (let i = 0; ; i++) Object.keys((tools as any)['source' + i]);",
        "for (;;) Object.keys(tools);",
        "for (let i = 0; ; i++) 'x' in (tools as any)['source' + i];",
        "for (let i = 0; ; i++) (tools as any).app['tool' + i];",
        "let at: any = tools.app.look; for (;;) at = at.deeper;",
    ],
)
async def test_asking_for_names_without_end_is_metered(program: str) -> None:
    async with kit(app(), limits={"compute_time_ms": 300, "memory_bytes": 16 << 20}) as code_mode:
        error = (await code_mode.run(program)).error
    assert error is not None
    assert error.code in (Code.COMPUTE_LIMIT_EXCEEDED, Code.MEMORY_LIMIT_EXCEEDED)
