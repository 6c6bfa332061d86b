"""Where a program failed: the line and column of every kind of failure, in the text the model wrote.

Each program has the sign ▸ in front of the place that must be named; the sign is taken out before it runs.
"""

from __future__ import annotations

import pytest
from failing_programs import failure_of, marked, place_of

pytestmark = [pytest.mark.anyio, pytest.mark.proves("result.location")]

THROWN = {
    "an error": 'const a = 1;\n  throw ▸new Error("x");',
    "an error called without new": '  throw ▸Error("x");',
    "an error made before it is thrown": 'const e = ▸new Error("x");\nthrow e;',
    "a text": ' if (true) { ▸throw "no"; }',
    "null": "  ▸throw null;",
    "undefined": "\n▸throw undefined;",
    "a number over lines": "▸throw [1,\n 2];",
    "an object that looks like a failure": '▸throw { code: "EXECUTION_CANCELLED", location: { line: 99 } };',
    "a function": "▸throw () => 1;",
    "a symbol": '▸throw Symbol("s");',
    "a frozen error": 'const f = Object.freeze(▸new Error("x")); throw f;',
    "a frozen object": "▸throw Object.freeze({});",
    "a proxy of an error": '▸throw new Proxy(new Error("x"), {});',
    "a proxy that throws": "▸throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } });",
    "an object with the prototype of errors": "▸throw Object.create(Error.prototype);",
    "an error whose message throws": (
        'const e = ▸new Error("x");\nObject.defineProperty(e, "message", { get() { throw 1 } });\nthrow e;'
    ),
    "an error whose name throws": (
        'const e = ▸new Error("x");\nObject.defineProperty(e, "name", { get() { throw 1 } });\nthrow e;'
    ),
    "an error whose stack throws": (
        'const e = ▸new Error("x");\nObject.defineProperty(e, "stack", { get() { throw 1 } });\nthrow e;'
    ),
    "an error with a forged stack": (
        'const e = ▸new Error("x");\ne.stack = "at a (program.ts:1:1)\\nat b (program.ts:900:900)";\nthrow e;'
    ),
    "an error with forged places": (
        'throw Object.assign(▸new Error("x"), { lineNumber: 77, columnNumber: 7, line: 7, fileName: "/etc/passwd" });'
    ),
    "an error that becomes a text by throwing": (
        "▸throw { toString() { throw 1 }, valueOf() { throw 2 }, [Symbol.toPrimitive]() { throw 3 } };"
    ),
    "an error of an own class": "class Mine extends Error {}\nthrow ▸new Mine('x');",
    "an error of an own class with a constructor": (
        "class Mine extends TypeError {\n  constructor(m: string) {\n    super(m);\n    this.name = 'Mine';\n  }\n}\n"
        "throw ▸new Mine('x');"
    ),
    "an error of an own class three deep": (
        "class A extends Error { constructor(m?: string) { super(m) } }\nclass B extends A { field = 1 }\n"
        "const C = class extends B {};\nconst f = () => { throw ▸new C() };\nf();"
    ),
    "an aggregate": "throw ▸new AggregateError([new Error('a'), new Error('b')], 'both');",
    "an error with a cause": "try { null!.x } catch (cause) { throw ▸new Error('outer', { cause }) }",
}

FAILING = {
    "a property of undefined": "const a: any = {};\nreturn a.b.▸c;",
    "a property of null": "return (null as any).▸name;",
    "an element of undefined": "const rows: any = {};\nreturn rows.list▸[0];",
    "an element found by an expression": "const rows: any = {};\nreturn rows.list▸[Math.max(1,\n 2)];",
    "a private field of another": "class A { #x = 1; static of(a: any) { return a.▸#x } }\nA.of({});",
    "a chain behind an optional one": "const a: any = { b: {} };\nreturn a?.b.c.▸d;",
    "a method that is not there": "const a: any = {};\n a.▸run(1,\n 2);",
    "a method of a method": "const a: any = { b: () => ({}) };\n a.b(1).▸c(a.b(2));",
    "a call of a number": "const n: any = 5;\n ▸n(Math.max(1));",
    "a call of an element": "const t: any = {};\n t▸['x'](1);",
    "new of a number": "const n: any = 5;\n ▸new n(1);",
    "new without brackets": "const n: any = {};\n const m = ▸new n.x;",
    "a call with arguments spread": "const a: any = {};\n a.▸run(...[1, 2]);",
    "a tagged template": "const a: any = {};\n a.▸tag`x${1}`;",
    "a name that is not there": "const x = 1;\nreturn x + ▸nothing;",
    "a name before it is there": "const x = () => ▸later;\nx();\nlet later = 1;",
    "writing a constant": "const c = 1;\n▸c = 2;",
    "adding to a constant": "const c = 1;\n▸c += 2;",
    "counting a constant up": "const c = 1;\n▸c++;",
    "writing to undefined": "const a: any = {};\na.b.▸c = 1 +\n 2;",
    "writing to a frozen object": "const a: any = Object.freeze({ b: 1 });\na.▸b = 2;",
    "deleting from a frozen object": "const a: any = Object.freeze({ b: 1 });\ndelete a.▸b;",
    "taking an object apart": "const x = 1;\nconst ▸{ a } = undefined as any;",
    "taking a list apart": "const x = 1;\nconst ▸[a] = undefined as any;",
    "taking apart what is inside": "const { a: ▸{ b } } = { a: null } as any;",
    "taking a parameter apart": "const f = (▸{ a }: any) => a;\nf();",
    "a loop over a number": "for (const x of ▸5 as any) console.log(x);",
    "a loop over a missing list": "const a: any = {};\nfor (const x of ▸a.rows) {\n  console.log(x);\n}",
    "a binary operator": "const big: any = 1n;\nreturn big ▸+ 1;",
    "a unary operator": "const s: any = Symbol();\nreturn ▸-s;",
    "a power": "const big: any = 1n;\nreturn big ▸** 0.5;",
    "in": "return 'x' ▸in (5 as any);",
    "instanceof": "return {} ▸instanceof (5 as any);",
    "a native function": "const n = 1;\nreturn n.▸toFixed(1000);",
    "a constructor of the language": "const n = -1;\nreturn ▸new Array(n);",
    "JSON that is none": "const text = '{';\nreturn JSON.▸parse(text);",
    "a heritage that is none": "const base: any = 5;\nclass A extends ▸base {}",
    "taking apart into a field of undefined": "let x: any;\n({ a: x.▸b } = { a: 1 });",
    "an iterator that gives no object": (
        "const it: any = { [Symbol.iterator]: () => ({ next: () => 5 }) };\nfor (const x of ▸it) { x; }"
    ),
    "a logical assignment": "const n: any = null;\nn.▸x ??= 5;",
    "an element written": "const rows: any = {};\nrows['a']▸['b'] = 1;",
    "the condition of a loop": "const n: any = 1;\nfor (let i = 0; i < n.a.▸b; i++) console.log(i);",
    "a member of an object over lines": "const n: any = 1;\nreturn {\n  a: 1,\n  b: n.c.▸d,\n  e: 2,\n};",
    "an argument over lines": "const n: any = 1;\nconsole.log(\n  'a',\n  n.b.▸c,\n);",
    "a call in the middle of a chain": "const n: any = [1];\nreturn n\n  .map(String)\n  .▸nope(String)\n  .length;",
    "a BigInt in JSON": "return JSON.▸stringify({ a: 1n });",
    "too deep a recursion": "const f = (n: number): number => ▸f(n + 1) + 1;\nreturn f(0);",
}

INSIDE = {
    "sort": "[2, 1].sort((a, b) => { throw ▸new Error('x') });",
    "map": "const rows: any[] = [{}];\nreturn rows.map(\n  (row) => row.a.▸b,\n);",
    "replace": "return 'abc'.replace(/b/, () => { throw ▸new Error('x') });",
    "a reviver": "return JSON.parse('[1]', () => { throw ▸new Error('x') });",
    "toJSON": "return JSON.stringify({ toJSON() { throw ▸new Error('x') } });",
    "toJSON of the result": "return {\n  toJSON() {\n    throw ▸new Error('x');\n  },\n};",
    "a getter of the result": "return { a: [{ get b() { return (null as any).▸c } }] };",
    "a getter": "const o = { get a(): any { throw ▸new Error('x') } };\nreturn o.a;",
    "a setter": "const o = { set a(v: any) { throw ▸new Error('x') } };\no.a = 1;",
    "a proxy": "return new Proxy({}, { get() { throw ▸new Error('x') } } as any).a;",
    "toString": "return `${{ toString() { throw ▸new Error('x') } }}`;",
    "Symbol.toPrimitive": "return +({ [Symbol.toPrimitive]() { throw ▸new Error('x') } } as any);",
    "a generator": "function* g() { yield 1; throw ▸new Error('x') }\nfor (const x of g()) {}",
    "an async generator": "async function* g() { yield 1; throw ▸new Error('x') }\nfor await (const x of g()) {}",
    "throwing into a generator": "function* g() { yield 1 }\nconst i = g();\ni.next();\ni.throw(▸new Error('x'));",
    "a constructor": "class A { constructor() { this.m() } m() { throw ▸new Error('x') } }\nnew A();",
    "a field": "class A { a: any = (null as any).▸b }\nnew A();",
    "a static block": "class A { static { throw ▸new Error('x') } }",
    "a default": "const f = (a = (null as any).▸b) => a;\nf();",
    "a reaction": "await Promise.resolve(1).then(() => { throw ▸new Error('x') });",
    "an executor": "await new Promise(() => { throw ▸new Error('x') });",
    "finally": "try { throw 1 } finally { (null as any).▸x }",
    "a switch": "switch (1 as any) {\n  case 1:\n    (null as any).▸x;\n}",
    "a label": "outer: for (const a of [{}] as any[]) {\n  a.b.▸c;\n}",
    "a template": "return `a ${(() => { throw ▸new Error('x') })()} b`;",
}

WAITING = {
    "a rejection awaited": "await Promise.reject(▸new Error('x'));",
    "a rejection with a text": "const x = 1;\n▸await Promise.reject('no');",
    "a rejection with undefined": "▸await Promise.reject();",
    "a reject of an executor": "await new Promise((_, no) => no(▸new Error('x')));",
    "a throw behind an await": "async function f() { await null; throw ▸new Error('x') }\nawait f();",
    "a text thrown behind an await": "async function f() { await null; ▸throw 'x' }\nawait f();",
    "Promise.any": "▸await Promise.any([Promise.reject(new Error('a'))]);",
    "Promise.all": "await Promise.all([1].map(async () => { throw ▸new Error('x') }));",
    "a thenable": "await { then(yes: any, no: any) { no(▸new Error('x')) } };",
    "a thenable that throws": "await { then() { throw ▸new Error('x') } };",
    "a failed call": "const r = await tools.app.▸fail({});",
    "a failed call over lines": "const id = 7;\nconst r = await tools.app.▸fail({\n  id,\n  deep: [id, { id }],\n});",
    "a failed call with its name on a line": "await tools\n  .app\n  .▸fail({});",
    "a failed call in brackets": "await tools.app▸['fail']({});",
    "a failed call by $call": "await tools.▸$call('app', 'fail', {});",
    "a failed call of a name of its own": "const { fail } = tools.app;\nawait ▸fail({});",
    "a failed call thrown on": "try {\n  await tools.app.▸fail({});\n} catch (e) {\n  throw e;\n}",
    "a failed call handed to map": "await Promise.all([{}, {}].▸map(tools.app.fail));",
    "a failed call that is not awaited at once": "const p = tools.app.▸fail({});\nconst x = 1;\nawait p;",
    "a failed call in a callback": "await Promise.all([1].map((id) => tools.app.▸fail({ id })));",
    "a failed call inside a generator": (
        "async function* rows() {\n  yield* inner();\n}\nasync function* inner() {\n  await tools.app.▸fail({});\n}\n"
        "for await (const row of rows()) console.log(row);"
    ),
    "an argument whose getter throws": "await tools.app.echo({ get a() { throw ▸new Error('x') } });",
    "a call that is refused": "await tools.app.▸strict({ count: 'x' });",
    "a call that cannot be sent": "await tools.app.▸echo({ a: new Map() });",
    "a source that is not there": "await tools.nope.▸tool({});",
}

WRITTEN = {
    "a code fence": "Here it is:\n\n```ts\nconst a: any = {};\n  a.b.▸c;\n```\nDone.",
    "a fence without words": "```\n(null as any).▸x\n```",
    "a function alone": "async function main() {\n  (null as any).▸x;\n}",
    "an exported function": "export default async function () {\n  (null as any).▸x;\n}",
    "an arrow alone": "async () => {\n  (null as any).▸x;\n}",
    "types erased": (
        "interface A<T> { a: T }\nconst a = <any>{} as A<string> as any; type B = A<number>;\na!.b!.▸c satisfies B;"
    ),
    "an enum on the line": "enum E { A = 1, B = A << 2, C = 'x'.length } const v: any = E.A; v.b.▸c;",
    "a value of an enum": "const f = (): number => { throw ▸new Error('x') };\nenum E { A, B = f() }",
    "a parameter property": "class P { constructor(private a: any, public b: any = a.x.▸y) {} }\nnew P({});",
    "behind a parameter property": "class P { constructor(private a: any) { a.x.▸y } }\nnew P({});",
    "emoji": "const s: any = '😀👩‍👩‍👧'; s.a.▸b;",
    "Chinese and combining marks": "const 名: any = '漢字 e\u0301 ä'; 名.a.▸b;",
    "tabs": "\tconst s: any = 'a\tb';\ts.a.▸b;",
    "line ends of Windows": "const a: any = {};\r\n  // 漢\r\n  a.b.▸c;\r\n",
    "a line separator in a text": "const s: any = 'a\u2028b'; s.a.▸b;",
    "a line separator in a comment": "/* a\u2028b */ const s: any = 1; s.a.▸b;",
    "a line separator between statements": "const s: any = 1;\u2028s.a.▸b;\u2029",
    "a line that a text goes on after": "const s: any = 'a\\\nb' + `c\\\nd`; s.a.▸b;",
    "a carriage return alone": "const s: any = 1;\rs.a.▸b;",
    "the first character": "▸nothing",
    "the last line": "\n\n\n▸nothing",
    "a line behind a template of lines": "const t = `a\n${1}\nb`; (t as any).a.▸b;",
    "a byte order mark": "\ufeffconst a: any = {}; a.b.▸c;",
    "a line comment before": "// 😀\nconst a: any = {}; /* 😀 */ a.b.▸c;",
}

CASES = {
    f"{group}: {name}": program
    for group, programs in {
        "thrown": THROWN, "failing": FAILING, "inside": INSIDE, "waiting": WAITING, "written": WRITTEN,
    }.items()
    for name, program in programs.items()
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_failure_is_found_at_what_failed(name: str) -> None:
    program, place = marked(CASES[name])
    error = await failure_of(program)
    assert place_of(error) == place, f"{error.message}\n{error.frame}"
    assert error.frame is not None
    assert error.stack[0].line == place[0]
