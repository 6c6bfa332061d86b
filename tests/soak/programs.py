"""The programs of the soak: each kind with how often it comes, and the codes it may end by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["KINDS", "Kind"]

OK: Final = "ok"
_UPSTREAM: Final = (
    "SOURCE_UNAVAILABLE",
    "TOOL_EXECUTION_FAILED",
    "TOOL_CALL_TIMEOUT",
    "EXECUTION_TIMEOUT",
    "TOOL_NOT_FOUND",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """`weight`: of a thousand runs. `ends`: the codes it may end by, or `ok`."""

    name: str
    weight: int
    code: str
    ends: tuple[str, ...] = (OK,)


KINDS: Final = (
    Kind("value", 200, "const x: number = context?.n ?? 1; return { x, list: [1, 2, 3].map((n) => n * x) }"),
    Kind("one call", 170, "return (await tools.app.echo({ n: context.n })).structuredContent"),
    Kind("calls in turn", 90, "let s = 0; for (let i = 0; i < 5; i++) s += (await tools.app.twice({ n: i })).structuredContent; return s"),
    Kind("calls at once", 90, "return (await Promise.all([1, 2, 3, 4, 5, 6].map((n) => tools.memory.echo({ n })))).length", (OK, *_UPSTREAM)),
    Kind("waiting calls", 60, "await Promise.all([1, 2].map(() => tools.app.wait({}))); return tools.app.echo({ n: 1 })"),
    Kind("real server", 90, "return await tools.child.mirror({ n: context.n })", (OK, *_UPSTREAM)),
    Kind("caught failure", 50, "try { await tools.app.fail({}) } catch (e) { return e.code }"),
    Kind("unawaited calls", 30, "tools.app.echo({ n: 1 }); tools.app.fail({}); Promise.reject(new Error('x')); return 1"),
    Kind("names and logs", 40, "for (let i = 0; i < 300; i++) console.log('line', i, 'x'.repeat(100)); return Object.keys(tools.app)"),
    Kind("enum and class", 30, "enum E { A, B } class C { constructor(private x: number) {} get y() { return this.x } } return new C(E.B).y"),
    Kind("thrown", 30, "throw new TypeError('thrown')", ("SANDBOX_EXCEPTION",)),
    Kind("syntax", 20, "const x: = 3", ("COMPILE_ERROR",)),
    Kind("unsafe", 10, "return eval('1')", ("UNSAFE_SYNTAX",)),
    Kind("bad input", 20, "return await tools.app.echo({ m: 1 })", ("TOOL_INPUT_INVALID",)),
    Kind("no such tool", 10, "return await tools.app.ecko({})", ("TOOL_NOT_FOUND",)),
    Kind("too many calls", 8, "for (let i = 0; i < 40; i++) await tools.app.echo({ n: i })", ("TOOL_CALL_LIMIT_EXCEEDED",)),
    Kind("call too slow", 8, "return await tools.app.hang({})", ("TOOL_CALL_TIMEOUT",)),
    Kind("hanging server", 4, "return await tools.child.hang({})", ("TOOL_CALL_TIMEOUT", *_UPSTREAM)),
    Kind("wall", 4, "for (;;) { try { await tools.app.hang({}) } catch {} }", ("EXECUTION_TIMEOUT", "TOOL_CALL_LIMIT_EXCEEDED")),
    Kind("compute", 6, "for (;;) {}", ("COMPUTE_LIMIT_EXCEEDED",)),
    Kind("memory", 6, "const all = []; for (;;) all.push(new Array(10000).fill(1))", ("MEMORY_LIMIT_EXCEEDED", "COMPUTE_LIMIT_EXCEEDED")),
    Kind("stack", 6, "const f = (n) => f(n + 1) + 1; return f(0)", ("STACK_LIMIT_EXCEEDED",)),
    Kind("output", 6, "return 'x'.repeat(100000)", ("OUTPUT_LIMIT_EXCEEDED",)),
    Kind("large result", 4, "return (await tools.app.large({})).structuredContent.length", ("TOOL_OUTPUT_LIMIT_EXCEEDED",)),
    Kind("not JSON", 4, "return new Map()", ("OUTPUT_NOT_SERIALIZABLE",)),
    Kind("never settled", 4, "await new Promise(() => {})", ("NEVER_SETTLED",)),
)  # fmt: skip
