"""Limits, logs, time, chance and places of failures of JavaScript programs in every sandbox.

Used like the checks of `sandbox_checks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from codemodekit.contracts import Calls, CodeSandbox, LogEntry
from codemodekit.testing.expecting import expect, expect_equal, in_time
from codemodekit.testing.playing import answered, error_of, guest_of, play, value_of
from codemodekit.testing.sandbox_checks import SandboxCheck, opened

__all__ = ["LIMIT_CHECKS"]

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


LIMIT_CHECKS: Final[tuple[SandboxCheck, ...]] = (
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
"""What ends programs, and what is left of them."""
