"""Sources over their lives, as a program and whoever runs it see them: late, hung, killed, dying, empty, many."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_helpers import code_mode_over, fixture_stdio, raw_command, raw_stdio, until, upstream

from codemodekit.bridge import pinned
from codemodekit.catalog.health import Reconnect, SourceState
from codemodekit.code_mode.code_mode import CodeMode
from codemodekit.code_mode.events import RunEvent
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.mcp.sources import McpToolProvider, mcp

pytestmark = pytest.mark.anyio

FAST = Reconnect(initial_s=0.05, maximum_s=0.2)
SLOW = Reconnect(initial_s=600, maximum_s=600)


def named(name: str, script: dict[str, Any], **more: Any) -> McpToolProvider:
    """A scripted server under a name."""
    return mcp.stdio(name, *raw_command(script), mode="2025-11-25", **more)


def state(code_mode: CodeMode, source: str) -> SourceState:
    return next(health.state for health in code_mode.health() if health.source == source)


@pytest.mark.proves("catalog.independent", "catalog.waits")
async def test_a_fast_source_answers_at_once_beside_a_slow_one_which_is_waited_for() -> None:
    slow = named("slow", {"tools": ["mirror"], "delays": {"initialize": 1.5}})
    fast = named("fast", {"tools": ["mirror"]})
    program = """
    const order = [];
    const call = async (name) => order.push((await tools[name].mirror({ name })).structuredContent.name);
    await Promise.all([call("slow"), call("fast").then(() => call("fast"))]);
    return order;
    """
    async with CodeMode(providers=[slow, fast], tool_policy=allow_all_tool_calls()) as code_mode:
        result = await code_mode.run(program)
    assert result.value == ["fast", "fast", "slow"]


@pytest.mark.proves("catalog.independent", "catalog.waits")
async def test_a_hung_source_is_waited_for_to_the_bound_and_named_with_its_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pinned.CONNECT_SECONDS == 10
    monkeypatch.setattr(pinned, "CONNECT_SECONDS", 0.2)
    hung = named("hung", {"ignore": ["initialize"]})
    fast = named("fast", {"tools": ["mirror"]})
    program = """
    const failed = await tools.hung.mirror({}).catch((error) => [error.code, error.message]);
    return [...failed, (await tools.fast.mirror({ a: 1 })).structuredContent];
    """
    async with CodeMode(providers=[hung, fast], tool_policy=allow_all_tool_calls()) as code_mode:
        await until(lambda: state(code_mode, "fast") is SourceState.HEALTHY)
        result = await code_mode.run(program)
    assert result.value == ["SOURCE_UNAVAILABLE", "source 'hung' is connecting", {"a": 1}]
    assert [(call.status, call.code) for call in result.calls] == [
        ("rejected", "SOURCE_UNAVAILABLE"),
        ("completed", None),
    ]


@pytest.mark.proves("mcp.processes", "catalog.reconnect", "result.receipt", "result.no-replay")
async def test_a_server_that_dies_in_flight_fails_its_calls_as_unknown_and_comes_back() -> None:
    async with code_mode_over(fixture_stdio(), reconnect=FAST) as code_mode:
        program = """
        const failures = await Promise.allSettled([tools.fixture.slow({}), tools.fixture.die({})]);
        return failures.map(({ status, reason }) => [status, reason?.code]);
        """
        result = await code_mode.run(program)
        assert result.value == [["rejected", "SOURCE_UNAVAILABLE"]] * 2
        assert [call.status for call in result.calls] == ["unknown"] * 2
        assert result.rerun == "unknown"
        await until(lambda: state(code_mode, "fixture") is not SourceState.HEALTHY)
        await until(lambda: state(code_mode, "fixture") is SourceState.HEALTHY)
        again = await code_mode.run("return (await tools.fixture.echo({ x: 1 })).structuredContent")
    assert again.value == {"x": 1}


@pytest.mark.proves("catalog.idle-death", "catalog.health")
async def test_a_server_killed_while_idle_is_told_at_once_and_its_calls_do_not_wait(tmp_path: Path) -> None:
    idle = raw_stdio({"tools": ["mirror"], "stubborn": str(tmp_path / "pids")})
    async with code_mode_over(idle, reconnect=SLOW) as code_mode:
        for pid in (tmp_path / "pids").read_text(encoding="ascii").split():
            os.kill(int(pid), signal.SIGKILL)
        await until(lambda: code_mode.health()[0].next_retry_s is not None)
        health = code_mode.health()[0]
        result = await code_mode.run("return await tools.raw.mirror({}).catch((error) => error.message)")
    assert (health.state, health.tools) == (SourceState.UNAVAILABLE, 1)
    assert health.last_error == "the server process was killed by signal 9"
    assert result.value == "source 'raw' is unavailable (the server process was killed by signal 9)"
    assert result.rerun == "safe"


@pytest.mark.proves("catalog.independent", "catalog.reconnect", "catalog.health")
async def test_of_three_servers_one_dies_at_every_start_and_the_others_notice_nothing(tmp_path: Path) -> None:
    dying = named("dying", {"starts": str(tmp_path / "starts"), "pages_by_start": [{}], "stderr": "no disk", "exit": 3})
    others = [named("a", {"tools": ["mirror"]}), named("b", {"tools": ["mirror"]})]
    async with code_mode_over(dying, *others, reconnect=FAST) as code_mode:
        await until(lambda: len((tmp_path / "starts").read_text(encoding="ascii")) >= 4)
        program = """
        const codes = [];
        for (const name of ["a", "dying", "b"]) {
          codes.push(await tools[name].mirror({}).then(() => "well", (error) => error.code));
        }
        return codes;
        """
        result = await code_mode.run(program)
        health = {each.source: each for each in code_mode.health()}
    assert result.value == ["well", "SOURCE_UNAVAILABLE", "well"]
    assert health["dying"].last_error == "the server process exited with code 3"
    assert {health["a"].state, health["b"].state} == {SourceState.HEALTHY}


def pages(*names: str) -> dict[str, Any]:
    return {"": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}}


@pytest.mark.proves("catalog.empty-restart")
async def test_a_server_that_restarts_empty_keeps_its_tools_marked_unavailable_until_it_lists_some(
    tmp_path: Path,
) -> None:
    script = {
        "starts": str(tmp_path / "starts"),
        "pages_by_start": [pages("die", "mirror"), {}],
        "calls": {"die": {"exit": 1}},
        "later": {"when": str(tmp_path / "ready"), "pages": pages("fresh", "mirror")},
    }
    async with code_mode_over(raw_stdio(script), reconnect=FAST) as code_mode:
        await code_mode.run("await tools.raw.die({})")
        await until(lambda: len((tmp_path / "starts").read_text(encoding="ascii")) == 2)
        before = code_mode.snapshot().revision
        # The second process runs and has listed nothing, or is about to.
        result = await code_mode.run(
            "return [Object.keys(tools.raw), await tools.raw.mirror({}).catch((error) => error.code)]"
        )
        assert result.value == [["die", "mirror"], "SOURCE_UNAVAILABLE"]
        assert (code_mode.health()[0].state, code_mode.health()[0].tools) == (SourceState.UNAVAILABLE, 2)
        (tmp_path / "ready").touch()
        await until(lambda: state(code_mode, "raw") is SourceState.HEALTHY)
        assert code_mode.snapshot().revision != before
        again = await code_mode.run("return [Object.keys(tools.raw), (await tools.raw.mirror({})).structuredContent]")
    assert again.value == [["fresh", "mirror"], {}]


@pytest.mark.proves("mcp.cancel-progress", "limit.call-time")
async def test_a_call_that_takes_too_long_is_cancelled_at_its_server_and_the_next_one_is_well() -> None:
    calls = {"hang": {"hang": True}, "cancelled": {"counted": "notifications/cancelled"}}
    source = raw_stdio({"tools": ["hang", "cancelled"], "calls": calls})
    async with code_mode_over(source, limits=ExecutionLimits(tool_call_time_ms=100)) as code_mode:
        late = await code_mode.run("return await tools.raw.hang({}).catch((error) => error.code)")
        assert late.value == "TOOL_CALL_TIMEOUT"
        with anyio.fail_after(5):
            while True:
                counted = await code_mode.run("return (await tools.raw.cancelled({})).structuredContent.count")
                if counted.value == 1:
                    break


@pytest.mark.proves("mcp.cancel-progress", "api.cancel")
async def test_a_run_that_is_cancelled_is_cancelled_at_its_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with code_mode_over(fixture_stdio(env={"FIXTURE_LOG": str(log)})) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.fixture.slow({})"))
        await until(lambda: log.exists() and "slow started" in log.read_text(encoding="utf-8"))
        running.cancel()
        await asyncio.wait([running])
        await until(lambda: "slow cancelled" in log.read_text(encoding="utf-8"))


@pytest.mark.proves("mcp.cancel-progress")
async def test_progress_of_a_server_reaches_the_listener_in_its_words_alone() -> None:
    told: list[RunEvent] = []
    async with code_mode_over(fixture_stdio()) as code_mode:
        await code_mode.run("await tools.fixture.steps({})", on_progress=told.append)
    messages = [event.message for event in told if event.kind == "tool_progress"]
    assert messages == ["one", "two"]


@pytest.mark.proves("mcp.processes", "error.secrets")
async def test_a_child_process_gets_what_is_configured_and_a_safe_base_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUR_OWN_TOKEN", "do not hand on")
    monkeypatch.setenv("SHELL", "() { echo; }")
    source = raw_stdio({"tools": ["env"], "calls": {"env": {"env": True}}}, env={"GIVEN": "yes", "PATH": "/given"})
    async with code_mode_over(source) as code_mode:
        result = await code_mode.run("return (await tools.raw.env({})).structuredContent")
    base = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert {"GIVEN": "yes", "PATH": "/given"}.items() <= result.value.items()
    assert result.value.keys() <= base | {"GIVEN"}
    assert "SHELL" not in result.value  # what looks like a function of a shell is not handed on


@pytest.mark.slow
@pytest.mark.proves("catalog.independent")
async def test_twenty_servers_are_started_and_called_at_once() -> None:
    sources = [named(f"s{number}", {"tools": ["mirror"]}) for number in range(20)]
    program = """
    const calls = Object.keys(tools).map((name) => tools[name].mirror({ name }));
    return (await Promise.all(calls)).map((result) => result.structuredContent.name);
    """
    async with CodeMode(providers=sources, tool_policy=allow_all_tool_calls()) as code_mode:
        result = await code_mode.run(program)
        health = code_mode.health()
    assert result.value == [f"s{number}" for number in range(20)]
    assert {each.state for each in health} == {SourceState.HEALTHY}


@pytest.mark.proves("catalog.idle-death", "mcp.processes")
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_behind_a_url_that_dies_in_flight_fails_its_calls_as_unknown(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with upstream(kind, log) as server, code_mode_over(server.provider(), reconnect=SLOW) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.up.slow({})"))
        await until(lambda: log.exists() and "slow started" in log.read_text(encoding="utf-8"))
        server.kill()
        result = await running
    assert result.error is not None
    assert (result.error.code, result.calls[0].status) == ("SOURCE_UNAVAILABLE", "unknown")
