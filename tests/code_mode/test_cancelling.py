"""A run that is cancelled: by its caller, by a scope around it, by the closing of its host."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from codemodekit.bridge.receipts import Rerun
from codemodekit.code_mode import CodeMode, RunEvent
from codemodekit.contracts import Allow, PolicyRequest
from codemodekit.errors import ClosedError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.sandboxes.quickjs import QuickJsSandbox
from codemodekit.testing import InMemoryProvider
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio

WAITS = "await Promise.all([1, 2, 3].map(i => tools.app.hold({ i })))"


async def ended(task: asyncio.Task[Any]) -> None:
    async with asyncio.timeout(5):
        await asyncio.wait({task})


@pytest.mark.proves("api.cancel")
async def test_cancelling_the_caller_cancels_guest_queue_and_calls() -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider, limits={"max_concurrent_tool_calls": 2}) as code_mode:
        running = asyncio.create_task(code_mode.run(WAITS))
        await provider.called(2)
        running.cancel()
        await ended(running)
        assert running.cancelled()
        assert len(provider.calls) == len(provider.cancelled) == 2
        assert (await code_mode.run("return 1")).value == 1


@pytest.mark.proves("api.cancel")
async def test_cancelling_ends_a_program_that_computes() -> None:
    async with kit(app(), limits={"compute_time_ms": 60_000}) as code_mode:
        events: list[str] = []
        started = asyncio.Event()

        def listen(event: Any) -> None:
            events.append(event.kind)
            started.set()

        running = asyncio.create_task(code_mode.run("for (;;) {}", on_progress=listen))
        await started.wait()
        running.cancel()
        await ended(running)
        assert running.cancelled()
        assert events[-1] == "finished"
        assert (await code_mode.run("return 1")).value == 1


@pytest.mark.proves("api.cancel")
async def test_a_scope_cancels_the_run_inside_it_and_nothing_else() -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider) as code_mode:
        beside = asyncio.create_task(code_mode.run("return (await tools.app.hold({ i: 9 })).structuredContent.i"))
        await provider.called()
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                await provider.called(4)
                scope.cancel()

            canceller = asyncio.create_task(cancel())
            await code_mode.run(WAITS)
        await canceller
        assert scope.cancelled_caught
        assert {call.input["i"] for call in provider.cancelled} == {1, 2, 3}
        provider.gate("hold").open()
        assert (await beside).value == 9


@pytest.mark.proves("api.cancel")
async def test_a_timeout_around_a_run_is_the_callers_own() -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider) as code_mode:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(None) as limit:

                async def expire() -> None:
                    await provider.called(3)
                    limit.reschedule(asyncio.get_running_loop().time())

                expiring = asyncio.create_task(expire())
                await code_mode.run(WAITS)
        await expiring
        assert len(provider.cancelled) == 3


@pytest.mark.proves("api.cancel")
async def test_a_run_cancelled_while_it_asks_the_policy_calls_nobody() -> None:
    asked = asyncio.Event()

    async def policy(_request: PolicyRequest) -> Allow:
        asked.set()
        await asyncio.get_running_loop().create_future()
        return Allow()

    provider = app()
    async with kit(provider, policy=policy) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.app.echo({})"))
        await asked.wait()
        running.cancel()
        await ended(running)
    assert running.cancelled()
    assert provider.calls == []


@pytest.mark.proves("api.close", "result.receipt")
async def test_closing_the_host_ends_its_runs_with_a_result_and_their_receipt() -> None:
    provider = app()
    provider.gate("hold")
    async with kit(provider, limits={"compute_time_ms": 60_000}) as code_mode:
        waiting = asyncio.create_task(
            code_mode.run("console.log('here'); await tools.app.echo({}); await tools.app.hold({})")
        )
        answered = asyncio.Event()

        def listen(event: RunEvent) -> None:
            if event.kind == "tool_finished":
                answered.set()

        computing = asyncio.create_task(code_mode.run("await tools.app.echo({}); for (;;) {}", on_progress=listen))
        await provider.called(3)
        await answered.wait()
        async with asyncio.timeout(5):
            await code_mode.aclose()
            results = [await waiting, await computing]
    for result in results:
        assert result.error is not None
        assert result.error.code == "EXECUTION_CANCELLED"
        assert result.error.correlation_id
    assert [row.status for row in results[0].calls] == ["completed", "unfinished"]
    assert [row.status for row in results[1].calls] == ["completed"]
    assert [result.rerun for result in results] == [Rerun.UNKNOWN, Rerun.UNSAFE]
    assert [entry.message for entry in results[0].logs] == ["here"]


@pytest.mark.proves("api.close")
async def test_a_closed_host_says_so_and_closes_twice() -> None:
    code_mode = CodeMode(providers=[app()], tool_policy=allow_all_tool_calls())
    with pytest.raises(ClosedError):
        await code_mode.run("return 1")
    await code_mode.start()
    await code_mode.start()
    assert (await code_mode.run("return 1")).value == 1
    await code_mode.aclose()
    await code_mode.aclose()
    with pytest.raises(ClosedError):
        await code_mode.run("return 1")
    with pytest.raises(ClosedError):
        await code_mode.start()


@pytest.mark.proves("api.close")
async def test_a_host_that_was_never_used_closes() -> None:
    code_mode = CodeMode(providers=[InMemoryProvider()], tool_policy=allow_all_tool_calls())
    async with asyncio.timeout(5):
        await code_mode.aclose()


@pytest.mark.proves("result.one-outcome")
async def test_completion_that_races_with_cancelling_gives_one_ending() -> None:
    """Whichever commits first wins: a result that was returned is whole, and an event of the end comes once."""
    provider = app()
    gate = provider.gate("hold")
    endings: list[list[str]] = []
    async with kit(provider) as code_mode:
        for _ in range(30):
            kinds: list[str] = []
            endings.append(kinds)
            calls = len(provider.calls)
            running = asyncio.create_task(
                code_mode.run(
                    "await tools.app.hold({}); return 1", on_progress=lambda event, to=kinds: to.append(event.kind)
                )
            )
            await provider.called(calls + 1)
            gate.open()
            for _ in range(len(endings) % 7):
                await asyncio.sleep(0)
            running.cancel()
            await ended(running)
            assert running.cancelled() or running.result().value == 1
    assert [kinds.count("finished") for kinds in endings] == [1] * 30
    assert all(kinds[-1] == "finished" for kinds in endings)


@pytest.mark.proves("api.cancel", "sandbox.fresh")
async def test_runs_cancelled_in_masses_leave_the_sandbox_whole() -> None:
    provider = app()
    provider.gate("hold")
    sandbox = QuickJsSandbox(workers=2)
    code_mode = CodeMode(
        providers=[provider], tool_policy=allow_all_tool_calls(), sandbox=sandbox,
        limits=ExecutionLimits(compute_time_ms=60_000),
    )  # fmt: skip
    async with code_mode:
        await code_mode.settled(5)
        programs = ["for (;;) {}", WAITS, "while (true) await null", "return 1"]
        tasks = [asyncio.create_task(code_mode.run(programs[number % 4])) for number in range(40)]
        await provider.called(6)
        for task in tasks:
            task.cancel()
        async with asyncio.timeout(10):
            await asyncio.wait(tasks)
        assert (await code_mode.run("return 1")).value == 1
