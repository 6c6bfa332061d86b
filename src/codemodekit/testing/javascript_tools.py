"""What JavaScript programs may rely on of `tools` in every sandbox: names, calls, and errors that calls end with.

Used like the checks of `sandbox_checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from codemodekit.contracts import Answer, Calls, CodeSandbox, GuestCall
from codemodekit.testing.expecting import expect, expect_equal, in_time
from codemodekit.testing.playing import answered, error_of, guest_of, names_of, play, refused, value_of
from codemodekit.testing.sandbox_checks import SandboxCheck, opened

__all__ = ["TOOL_CHECKS"]


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
        value = await value_of(sandbox, body, names=names_of)
    wanted = [
        ["app", "wei rd", "contacts"], ["echo", "a.b"], ["größe/1"], True, False,
        True, ["echo", "a.b"], ["undefined"] * 6, [], "function",
    ]  # fmt: skip
    expect_equal(value, wanted, "what a program sees of its tools")


async def shows_names_in_texts(make: Callable[[], CodeSandbox]) -> None:
    """A tool or a source in a text is its own name, and nothing is called for it."""
    async with opened(make) as sandbox:
        played = await play(sandbox, "return [`${tools}`, '' + tools.app, String(tools.app.echo)]", names=names_of)
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
        calls = (await play(sandbox, body, names=names_of)).calls
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
        expect_equal(await value_of(sandbox, caught, refused), wanted, "the error in the program")
        error = (await error_of(sandbox, "await tools.app.other({});\nawait tools.app.echo({})", refused)).error
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
        second = await in_time(guest.step([refused(first.calls[0])]), "the second step")
    expect_equal([each.call_id for each in second.unhandled], [1], "the calls whose failure nobody handled")


def _refused_first(call: GuestCall) -> Answer:
    return refused(call) if call.id == 1 else answered(call)


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


TOOL_CHECKS: Final[tuple[SandboxCheck, ...]] = (
    lists_sources_and_tools,
    shows_names_in_texts,
    reaches_every_name,
    gives_all_calls_of_a_step_at_once,
    throws_tool_call_errors,
    reports_rejections_nobody_handled,
    tells_of_rejections_while_waiting,
    shows_that_nothing_will_ever_settle,
    gives_calls_nobody_awaits,
)
"""How programs call tools."""
