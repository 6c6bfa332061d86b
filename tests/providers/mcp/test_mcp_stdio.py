"""MCP servers as child processes: how they end, misbehave and are left."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_helpers import alive, names, outcome, raw_command, raw_stdio, until

from codemodekit.contracts import ToolResult
from codemodekit.errors import SourceLost, ToolResultInvalid, ToolResultTooLarge
from codemodekit.providers.mcp import lines
from codemodekit.providers.mcp.sources import mcp

pytestmark = pytest.mark.anyio

TOOL = {"name": "t", "inputSchema": {"type": "object"}}


def pid_script(path: Path) -> dict[str, Any]:
    return {"stubborn": str(path), "pages": {"": {"tools": [TOOL]}}}


async def lost(provider: Any) -> SourceLost:
    """How connecting fails."""
    with pytest.raises(SourceLost) as caught:
        with anyio.fail_after(10):
            async with provider.connect():
                pass
    return caught.value


@pytest.mark.proves("catalog.health")
async def test_a_command_that_does_not_exist_is_named() -> None:
    assert "command 'no-such-command-here' was not found" in str(await lost(mcp.stdio("x", "no-such-command-here")))


@pytest.mark.proves("catalog.health")
async def test_a_missing_working_directory_is_not_mistaken_for_a_missing_command(tmp_path: Path) -> None:
    failure = await lost(mcp.stdio("x", sys.executable, cwd=tmp_path / "gone"))
    assert "working directory does not exist" in str(failure)
    assert str(tmp_path) not in str(failure)


@pytest.mark.proves("catalog.health")
async def test_a_file_that_may_not_be_executed_is_said_to_be_one(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/bin/sh\n", encoding="ascii")
    assert "may not be executed" in str(await lost(mcp.stdio("x", str(script))))


@pytest.mark.proves("catalog.health")
async def test_a_server_that_exits_at_once_says_its_code_and_the_host_sees_its_last_words() -> None:
    failure = await lost(raw_stdio({"exit": 7, "stderr": "cannot read TOKEN=hush-hush"}, secrets=["hush-hush"]))
    assert str(failure) == "the server process exited with code 7"
    assert failure.__notes__ == ["last output of the server:\ncannot read TOKEN=[redacted]"]


@pytest.mark.proves("mcp.processes")
async def test_a_server_that_never_answers_is_given_up_and_gone(tmp_path: Path) -> None:
    silent = {**pid_script(tmp_path / "pids"), "ignore": ["initialize", "server/discover"]}
    failure = await lost(raw_stdio(silent, connect_timeout_s=0.7))
    assert "did not answer within 0.7 seconds" in str(failure)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text(encoding="ascii").split()]
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.proves("mcp.eras")
async def test_a_server_silent_to_the_newer_protocol_is_spoken_to_in_the_older_one() -> None:
    provider = raw_stdio({"ignore": ["server/discover"], "pages": {"": {"tools": [TOOL]}}}, mode="auto")
    with anyio.fail_after(8):  # the SDK's own way takes ten seconds
        async with provider.connect() as session:
            assert names(await session.list_tools()) == ["t"]


@pytest.mark.proves("mcp.eras")
async def test_a_server_that_speaks_another_newer_version_is_spoken_to_in_the_older_one() -> None:
    odd = {"supportedVersions": ["2031-01-01"], "capabilities": {}, "resultType": "complete", "ttlMs": 0}
    provider = raw_stdio({"discover": odd, "pages": {"": {"tools": [TOOL]}}}, mode="auto")
    async with provider.connect() as session:
        assert names(await session.list_tools()) == ["t"]


@pytest.mark.proves("mcp.eras")
async def test_a_server_of_the_newer_protocol_that_starts_slowly_is_found_out() -> None:
    offer = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete", "ttlMs": 0}
    script = {
        "ignore_first": ["server/discover"],
        "errors": {"initialize": {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"]}}},
        "discover": {**offer, "cacheScope": "private"},
    }
    async with raw_stdio(script, mode="auto").connect() as session:
        assert session.protocol_version == "2026-07-28"  # type: ignore[attr-defined]


@pytest.mark.proves("mcp.eras")
async def test_a_server_without_the_pinned_protocol_is_not_used() -> None:
    assert str(await lost(raw_stdio({}, mode="2026-07-28"))) == "connecting failed: Method not found"


@pytest.mark.proves("mcp.hostile")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("elicitation/create", {"message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 9}),
        ("roots/list", {}),
        ("vendor/anything", {}),
    ],
)
async def test_a_server_that_asks_for_something_is_refused_and_does_not_hang(method: str, params: Any) -> None:
    async with raw_stdio({"calls": {"t": {"ask": method, "params": params}}}).connect() as session:
        result = await outcome(session, "t")
    assert isinstance(result, ToolResult)
    assert "error" in result.structured_content


@pytest.mark.proves("mcp.hostile")
async def test_noise_on_stdout_changes_nothing_and_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    noise = ["starting...", "", "{", '{"level":"info","id":2}', "[1]", "\x00\xff", '{"jsonrpc":"2.0"}']
    async with raw_stdio({"noise": noise, "pages": {"": {"tools": [TOOL]}}}).connect() as session:
        assert names(await session.list_tools()) == ["t"]
    assert not [record for record in caplog.records if record.name.startswith(("mcp", "client"))]


@pytest.mark.proves("catalog.idle-death")
async def test_the_death_of_an_idle_server_is_noticed(tmp_path: Path) -> None:
    async with raw_stdio({"pages": {"": {"tools": [TOOL]}}, "stubborn": str(tmp_path / "p")}).connect() as session:
        await session.list_tools()
        child, grandchild = map(int, (tmp_path / "p").read_text(encoding="ascii").split())
        os.kill(grandchild, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        with anyio.fail_after(5), pytest.raises(SourceLost, match="killed by signal 9"):
            await session.wait_for_change()
        assert isinstance(await outcome(session, "t"), SourceLost)


@pytest.mark.proves("catalog.idle-death", "mcp.processes")
async def test_the_death_of_a_server_is_noticed_although_what_it_started_holds_its_output(tmp_path: Path) -> None:
    async with raw_stdio({"pages": {"": {"tools": [TOOL]}}, "stubborn": str(tmp_path / "p")}).connect() as session:
        await session.list_tools()
        child, grandchild = map(int, (tmp_path / "p").read_text(encoding="ascii").split())
        os.kill(child, signal.SIGKILL)
        with anyio.fail_after(10), pytest.raises(SourceLost, match="killed by signal 9"):
            await session.wait_for_change()
        assert alive(grandchild)
    await until(lambda: not alive(grandchild))


@pytest.mark.proves("mcp.processes")
async def test_a_server_that_a_launcher_left_behind_goes_on(tmp_path: Path) -> None:
    script = {"pages": {"": {"tools": [TOOL]}}, "stderr": "up"}
    command, arguments = raw_command(script)
    launcher = "import subprocess,sys; subprocess.Popen(sys.argv[1:])"  # and exits
    source = mcp.stdio("x", sys.executable, ["-S", "-W", "ignore", "-c", launcher, command, *arguments])
    async with source.connect() as session:
        assert names(await session.list_tools()) == ["t"]
        with anyio.move_on_after(1.5) as quiet:
            await session.wait_for_change()
        assert quiet.cancelled_caught
        assert isinstance(await outcome(session, "mirror", {"a": 1}), ToolResult)


@pytest.mark.proves("mcp.processes")
async def test_a_server_that_dies_in_a_call_ends_the_call_and_the_session() -> None:
    async with raw_stdio({"calls": {"die": {"exit": 3}}}).connect() as session:
        failure = await outcome(session, "die")
        assert isinstance(failure, SourceLost)
        assert str(failure) == "the server process exited with code 3"
        with anyio.fail_after(5), pytest.raises(SourceLost, match="exited with code 3"):
            await session.wait_for_change()


@pytest.mark.proves("mcp.processes")
async def test_a_server_that_will_not_go_is_killed_with_its_children(tmp_path: Path) -> None:
    with anyio.fail_after(8):
        async with raw_stdio(pid_script(tmp_path / "pids")).connect():
            pids = [int(pid) for pid in (tmp_path / "pids").read_text(encoding="ascii").split()]
            assert all(map(alive, pids))
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.proves("mcp.processes")
async def test_children_of_a_server_that_was_killed_do_not_outlive_it(tmp_path: Path) -> None:
    with pytest.raises(SourceLost):
        async with raw_stdio(pid_script(tmp_path / "pids")).connect():
            child, grandchild = map(int, (tmp_path / "pids").read_text(encoding="ascii").split())
            os.kill(child, signal.SIGKILL)
            await until(lambda: not alive(child))
            assert alive(grandchild)
            raise SourceLost("left")
    await until(lambda: not alive(grandchild))


@pytest.mark.proves("mcp.processes", "error.secrets")
async def test_the_child_gets_the_configured_environment_and_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_OWN_SECRET", "do not hand on")
    show = "import os,sys; sys.stderr.write(str([os.environ.get(n) for n in ('OUR_OWN_SECRET', 'GIVEN')])); sys.exit(4)"
    failure = await lost(mcp.stdio("x", sys.executable, ["-S", "-c", show], env={"GIVEN": "yes"}))
    assert "[None, 'yes']" in failure.__notes__[0]


@pytest.mark.proves("mcp.processes")
async def test_cancelling_the_owner_while_connecting_leaves_nothing_behind(tmp_path: Path) -> None:
    script = {**pid_script(tmp_path / "pids"), "ignore": ["initialize"]}
    async with anyio.create_task_group() as tasks:

        async def own() -> None:
            async with raw_stdio(script).connect():
                pytest.fail("a silent server counts as connected")

        tasks.start_soon(own)
        await until(lambda: (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) == 2)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text(encoding="ascii").split()]
        tasks.cancel_scope.cancel()
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.proves("mcp.processes")
async def test_the_callers_own_failure_leaves_the_connection_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with raw_stdio({}).connect():
            raise KeyError("mine")


@pytest.mark.proves("mcp.hostile")
class TestAnswersThatCannotBeRead:
    """Each fails its own call at once; the server stays in use."""

    @pytest.mark.parametrize(
        "line",
        [
            pytest.param('{"jsonrpc":"2.0","id":$ID,"result":' + "[" * 3000 + "]" * 3000 + "}", id="deep"),
            pytest.param('{"jsonrpc":"2.0","id":$ID,"result":{"x":' + "1" * 5000 + "}}", id="a number of 5000 digits"),
            pytest.param('{"result":{"x":truth},"jsonrpc":"2.0","id":$ID}', id="not JSON"),
            pytest.param('{"jsonrpc":"2.0","id":$ID,"result":[]}', id="not an object"),
            pytest.param('{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":NaN}}', id="NaN"),
            pytest.param('{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":1e999}}', id="infinite"),
        ],
    )
    async def test_unreadable(self, line: str) -> None:
        async with raw_stdio({"calls": {"odd": {"line": line}}}).connect() as session:
            assert isinstance(await outcome(session, "odd"), ToolResultInvalid)
            assert isinstance(await outcome(session, "mirror", {"a": 1}), ToolResult)

    async def test_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "MAX_MESSAGE_BYTES", 100_000)
        calls = {"big": {"size": 900_000}, "fits": {"size": 90_000}}
        async with raw_stdio({"calls": calls}).connect() as session:
            failure = await outcome(session, "big")
            assert isinstance(failure, ToolResultTooLarge)
            assert "longer than 100000 bytes" in failure.message
            assert isinstance(await outcome(session, "fits"), ToolResult)


@pytest.mark.proves("value.wire")
async def test_values_come_back_exactly_as_they_were_sent() -> None:
    value = {"whole": 1, "real": 1.0, "big": 2**80, "none": None, "half": "\ud800", "": {"__proto__": [], "ü\0": -0.0}}
    async with raw_stdio({}).connect() as session:
        result = await outcome(session, "mirror", value)
    assert isinstance(result, ToolResult)
    assert json.dumps(result.structured_content) == json.dumps(value)
