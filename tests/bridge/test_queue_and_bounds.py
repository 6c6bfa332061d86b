"""Eight at once, first come first served; sizes of what crosses the bridge; what tools may do to it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codemodekit.contracts import ToolCall, ToolResult
from codemodekit.providers.local import ToolContext, local
from codemodekit.testing import InMemoryProvider
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio


class Turnstile:
    """Answers of a tool, given one by one."""

    def __init__(self, provider: InMemoryProvider) -> None:
        self.futures: dict[int, asyncio.Future[Any]] = {}
        provider.answer("hold", self.wait)

    def wait(self, call: ToolCall) -> asyncio.Future[Any]:
        number = call.input["i"]
        self.futures[number] = asyncio.get_running_loop().create_future()
        return self.futures[number]

    def release(self, number: int) -> None:
        self.futures[number].set_result({"i": number})


MANY = (
    "return (await Promise.all([...Array(20).keys()].map(i => tools.app.hold({ i })))).map(r => r.structuredContent.i)"
)


@pytest.mark.proves("limit.concurrency")
async def test_eight_calls_run_at_once_and_the_rest_wait_their_turn() -> None:
    provider = app()
    turnstile = Turnstile(provider)
    async with kit(provider) as code_mode:
        running = asyncio.create_task(code_mode.run(MANY))
        await provider.called(8)
        for number in (5, 0, 7):  # whoever leaves, the next in line comes in
            arrived = len(provider.calls)
            assert len(turnstile.futures) == arrived
            turnstile.release(number)
            await provider.called(arrived + 1)
            assert len(provider.calls) == arrived + 1
        for number in range(20):
            while number not in turnstile.futures:
                await provider.called(len(provider.calls) + 1)
            if not turnstile.futures[number].done():
                turnstile.release(number)
        result = await running
    assert result.value == list(range(20))
    assert [call.input["i"] for call in provider.calls] == list(range(20))


@pytest.mark.proves("limit.call-time", "bridge.order")
async def test_the_clock_of_a_call_starts_when_it_is_dispatched() -> None:
    provider = app()
    turnstile = Turnstile(provider)
    limits = {"max_concurrent_tool_calls": 1, "tool_call_time_ms": 200}
    async with kit(provider, limits=limits) as code_mode:
        program = "return (await Promise.allSettled([0, 1].map(i => tools.app.hold({ i })))).map(r => r.status)"
        running = asyncio.create_task(code_mode.run(program))
        await provider.called(2)  # the second comes in when the first has run out of time
        turnstile.release(1)
        result = await running
    assert result.value == ["rejected", "fulfilled"]


@pytest.mark.proves("limit.concurrency")
async def test_a_denied_or_failed_call_gives_its_place_to_the_next() -> None:
    provider = app()
    provider.answer("fail", *[RuntimeError("x")] * 50)
    async with kit(provider, limits={"max_concurrent_tool_calls": 1, "max_tool_calls": 50}) as code_mode:
        program = """
        const calls = [...Array(20).keys()].map(i => i % 2 ? tools.app.fail({}) : tools.app.echo({ i }));
        return (await Promise.allSettled(calls)).map(r => r.status);
        """
        result = await code_mode.run(program)
    assert result.value == ["fulfilled", "rejected"] * 10


@pytest.mark.proves("limit.call-time")
async def test_a_tool_that_ignores_cancelling_gets_its_answer_ignored() -> None:
    release = asyncio.Event()
    entered: list[str] = []

    async def stubborn() -> str:
        entered.append("stubborn")
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                entered.append("asked to stop")
        return "late"

    async def quick() -> str:
        return "quick"

    async with kit(local("app", [stubborn, quick]), limits={"tool_call_time_ms": 50}) as code_mode:
        program = """
        const first = await tools.app.stubborn({}).catch(e => e.code);
        return [first, (await tools.app.quick({})).structuredContent];
        """
        result = await code_mode.run(program)
        again = await code_mode.run("return (await tools.app.quick({})).structuredContent")
        release.set()
    assert result.value == ["TOOL_CALL_TIMEOUT", "quick"]
    assert [row.status for row in result.calls] == ["timedOut", "completed"]
    assert again.value == "quick"
    assert "asked to stop" in entered


@pytest.mark.proves("limit.wall")
async def test_a_run_ends_although_its_tool_does_not() -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with kit(local("app", [stubborn]), limits={"wall_time_ms": 400}) as code_mode:
        async with asyncio.timeout(5):
            result = await code_mode.run("await tools.app.stubborn({})")
        release.set()
    assert result.error is not None
    assert (result.error.code, result.calls[0].status) == ("EXECUTION_TIMEOUT", "unfinished")


@pytest.mark.proves("limit.results")
async def test_results_of_exactly_the_limit_pass_and_one_byte_more_does_not() -> None:
    provider = app()
    frame = len('{"content":[],"structuredContent":""}')
    provider.answer("echo", "x" * (1000 - frame), "x" * (1001 - frame))
    async with kit(provider, limits={"tool_result_bytes": 1000}) as code_mode:
        program = """
        const { structuredContent } = await tools.app.echo({});
        return [structuredContent.length, await tools.app.echo({}).catch(e => e.code)];
        """
        result = await code_mode.run(program)
    assert result.value == [1000 - frame, "TOOL_OUTPUT_LIMIT_EXCEEDED"]
    assert [row.result_bytes for row in result.calls] == [1000, None]


@pytest.mark.proves("limit.bridge")
async def test_inputs_and_results_share_one_budget() -> None:
    provider = app()
    provider.answer("echo", "x" * 400)
    async with kit(provider, limits={"total_bridge_bytes": 1000}) as code_mode:
        program = """
        const out = [];
        const call = () => tools.app.echo({ a: 'x'.repeat(100) });
        for (let i = 0; i < 3; i++) out.push(await call().then(() => 'ok', e => e.code));
        return out;
        """
        result = await code_mode.run(program)
    assert result.value == ["ok", "BRIDGE_LIMIT_EXCEEDED", "BRIDGE_LIMIT_EXCEEDED"]
    assert [row.status for row in result.calls] == ["completed", "failed", "rejected"]


@pytest.mark.proves("bridge.exact-result")
async def test_the_program_sees_content_and_structure_and_nothing_else() -> None:
    provider = app()
    blocks = ({"type": "text", "text": "t"}, {"type": "hologram", "beam": [1]})
    provider.answer("echo", ToolResult(content=blocks, structured_content={"a": 1}, sideband={"_meta": "secret"}))
    seen: list[tuple[ToolCall, ToolResult]] = []
    async with kit(provider, on_trusted_result=lambda call, result: seen.append((call, result))) as code_mode:
        result = await code_mode.run("return await tools.app.echo({})")
    assert result.value == {"content": list(blocks), "structuredContent": {"a": 1}}
    ((call, whole),) = seen
    assert call.tool == "echo"
    assert whole.sideband == {"_meta": "secret"}


@pytest.mark.proves("api.trusted-side")
async def test_a_host_that_chokes_on_a_result_does_not_harm_the_call() -> None:
    def choke(_call: ToolCall, _result: ToolResult) -> None:
        raise RuntimeError("the host's own trouble")

    records: list[Any] = []
    async with kit(app(), on_trusted_result=choke, on_diagnostic=records.append) as code_mode:
        result = await code_mode.run("return (await tools.app.echo({ a: 1 })).structuredContent")
    assert result.value == {"a": 1}
    assert [str(record.exception) for record in records] == ["the host's own trouble"]


@pytest.mark.proves("bridge.output-checked")
async def test_a_result_that_only_may_differ_passes_with_a_note() -> None:
    provider = app()
    provider.answer("lenient", {"count": "one"})
    async with kit(provider) as code_mode:
        result = await code_mode.run("return (await tools.app.lenient({})).structuredContent")
    assert result.value == {"count": "one"}
    assert any("app.lenient" in note and "/count" in note for note in result.notes)


ODD: list[Any] = [
    {"__proto__": {"polluted": True}, "constructor": 1, "then": 2, "toJSON": 3},
    {"": [], "a\x00b": "\x00", "\ud800": "lone \udfff", "\u2028": "\u2029", "𝄞": "ä"},
    [-0.0, 1e308, 5e-324, 2**53, -(2**53), True, None],
    "x" * 300_000,
    [[[[{}]]]],
]


@pytest.mark.proves("value.wire")
@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
async def test_odd_values_cross_both_ways_unchanged(value: Any) -> None:
    provider = app()
    async with kit(provider, limits={"final_result_bytes": 2**20}) as code_mode:
        program = """
        const back = (await tools.app.echo({ value: context })).structuredContent.value;
        return [back, {}.polluted === undefined];
        """
        result = await code_mode.run(program, context=value)
    assert result.ok, result.to_wire()
    assert provider.calls[0].input == {"value": value}
    assert result.value == [value, True]


@pytest.mark.proves("value.wire")
async def test_two_hundred_levels_cross_both_ways_and_more_are_refused() -> None:
    provider = app()
    deep: Any = 1
    for _ in range(250):
        deep = [deep]
    provider.answer("look", ToolResult(structured_content=deep))
    async with kit(provider) as code_mode:
        program = """
        const nest = n => { let v = 1; for (let i = 0; i < n; i++) v = [v]; return v };
        const sent = await tools.app.echo({ v: nest(199) });
        const tooDeep = await tools.app.echo({ v: nest(200) }).catch(e => e.code);
        const given = await tools.app.look({}).catch(e => e.code);
        return [sent.structuredContent.v.flat(Infinity), tooDeep, given];
        """
        result = await code_mode.run(program)
    assert result.value == [[1], "TOOL_INPUT_INVALID", "TOOL_OUTPUT_INVALID"]


@pytest.mark.proves("observe.events", "api.local-tools")
async def test_a_tool_in_a_thread_reports_progress_to_a_coroutine_on_the_loop() -> None:
    loop = asyncio.get_running_loop()
    heard: list[tuple[str | None, bool]] = []

    def work(context: ToolContext) -> int:
        context.report_progress("half way")
        context.report_progress(7)  # type: ignore[arg-type] # what a careless tool does
        return 1

    async def listen(event: Any) -> None:
        if event.kind == "tool_progress":
            heard.append((event.message, asyncio._get_running_loop() is loop))

    async with kit(local("app", [work])) as code_mode:
        result = await code_mode.run("return (await tools.app.work({})).structuredContent", on_progress=listen)
    assert result.value == 1
    assert heard == [("half way", True)]
