"""However a server ends, nothing of it stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from codemodekit import CodeMode, allow_all_tool_calls, mcp

from .processes import GONE_WITHIN_S, alive, descendants, gone, needs_proc
from .serving import raw_server, write

pytestmark = [needs_proc, pytest.mark.anyio, pytest.mark.slow]

TOOLS = """
import threading
def hang() -> None:
    print("hanging", flush=True)
    threading.Event().wait()
tools = [hang]
"""

CLIENT = """
import subprocess, sys
command = [sys.executable, "-m", "codemodekit", "serve"]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
    server.stdin.write(sys.stdin.buffer.readline() + sys.stdin.buffer.readline())
    server.stdin.flush()
    server.stdout.readline()
    sys.stdout.buffer.write(server.stdout.readline())
    sys.stdout.flush()
    sys.stdin.read()
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}

End = Callable[[subprocess.Popen[bytes]], None]


def close_input(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


def terminate(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)


@contextmanager
def serve(folder: Path, config: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """A server that has answered `initialize`."""
    write(folder / "codemode.json", {**config, "policy": "allow-all"})
    with subprocess.Popen(
        [sys.executable, "-m", "codemodekit", "serve"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            send(process, INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert receive(process)["id"] == 1
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    message: dict[str, Any] = json.loads(process.stdout.readline())
    return message


def run(code: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "run_typescript", "arguments": {"code": code}},
    }


def written_pids(file: Path) -> list[int]:
    return [int(pid) for pid in file.read_text(encoding="ascii").split()] if file.exists() else []


@pytest.mark.proves("mcp.processes")
@pytest.mark.parametrize("end", [close_input, terminate])
async def test_servers_and_what_they_started_end_with_us_even_if_they_will_not(
    tmp_path: Path, python_servers: dict[str, Any], end: End
) -> None:
    stubborn = raw_server({"stubborn": str(tmp_path / "pids"), "calls": {"hello": {"result": {"content": []}}}})
    with serve(tmp_path, {"mcpServers": {"time": python_servers["time"], "stubborn": stubborn}}) as process:
        ready = 'await tools.time.get_current_time({ timezone: "UTC" }); return Object.keys(tools)'
        send(process, run(ready))
        assert receive(process)["result"]["structuredContent"]["ok"]
        with anyio.fail_after(10):
            while len(started := written_pids(tmp_path / "pids")) < 2:  # noqa: ASYNC110 -- another process writes them
                await anyio.sleep(0.02)
        children = list(descendants(process.pid))
        assert set(started) <= set(children)
        end(process)
        assert process.wait(timeout=GONE_WITHIN_S) == 0
        await gone(children)


@pytest.mark.proves("mcp.processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_command_that_is_interrupted_ends_the_servers_it_started(
    tmp_path: Path, number: signal.Signals
) -> None:
    lasting = raw_server(
        {"stubborn": str(tmp_path / "pids"), "pages": {"": {"tools": [{"name": "never", "inputSchema": {}}]}}}
    )
    write(tmp_path / "codemode.json", {"mcpServers": {"lasting": lasting}, "policy": "allow-all"})
    with subprocess.Popen(  # noqa: ASYNC220 -- nothing else runs in this loop
        [sys.executable, "-m", "codemodekit", "run", "-", "--json"], cwd=tmp_path, stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"await tools.lasting.never({})")
        process.stdin.close()
        with anyio.fail_after(10):
            while len(started := written_pids(tmp_path / "pids")) < 2:  # noqa: ASYNC110 -- another process writes them
                await anyio.sleep(0.02)
        process.send_signal(number)
        assert process.wait(timeout=GONE_WITHIN_S) == 1
        await gone(started)


@pytest.mark.proves("surface.client-gone")
@pytest.mark.parametrize("end", [close_input, terminate])
async def test_a_function_that_never_returns_does_not_keep_the_server(tmp_path: Path, end: End) -> None:
    (tmp_path / "hanging_tools.py").write_text(TOOLS)
    with serve(tmp_path, {"python": {"app": "hanging_tools:tools"}}) as process:
        send(process, run("await tools.app.hang({})"))
        assert process.stderr is not None
        assert process.stderr.readline() == b"hanging\n"
        end(process)
        assert process.wait(timeout=GONE_WITHIN_S) == 0


@pytest.mark.proves("surface.client-gone", "mcp.processes")
async def test_a_client_that_is_killed_takes_the_server_and_its_servers_along(
    tmp_path: Path, python_servers: dict[str, Any]
) -> None:
    write(tmp_path / "codemode.json", {"mcpServers": {"time": python_servers["time"]}, "policy": "allow-all"})
    with client(tmp_path) as process:
        send(process, INITIALIZE, run('return await tools.time.get_current_time({ timezone: "UTC" })'))
        assert process.stdout is not None
        assert b"completed" in process.stdout.readline()
        below = list(descendants(process.pid))
        assert len(below) == 3  # the server, its server, and the shell that watches over that
        assert all(map(alive, below))
        process.kill()
        await gone(below)


def client(folder: Path) -> subprocess.Popen[bytes]:
    """A client that passes two messages on, and the answer to the second one back."""
    return subprocess.Popen([sys.executable, "-c", CLIENT], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.proves("mcp.processes")
async def test_a_server_that_is_killed_leaves_no_process_that_will_not_go(
    tmp_path: Path, python_servers: dict[str, Any]
) -> None:
    stubborn = raw_server({"stubborn": str(tmp_path / "pids"), "calls": {"hello": {"result": {"content": []}}}})
    with serve(tmp_path, {"mcpServers": {"time": python_servers["time"], "stubborn": stubborn}}) as process:
        with anyio.fail_after(10):
            while len(started := written_pids(tmp_path / "pids")) < 2:  # noqa: ASYNC110 -- another process writes them
                await anyio.sleep(0.02)
        send(process, run('await tools.time.get_current_time({ timezone: "UTC" })'))
        assert receive(process)["result"]["structuredContent"]["ok"]
        below = list(descendants(process.pid))
        assert set(started) <= set(below)
        process.kill()
        await gone(below)


@pytest.mark.proves("mcp.processes")
async def test_what_watches_over_servers_is_gone_when_they_are(python_servers: dict[str, Any]) -> None:
    async with CodeMode(
        providers=[mcp.stdio("time", python_servers["time"]["command"])], tool_policy=allow_all_tool_calls()
    ) as code_mode:
        await code_mode.settled(20)
        below = descendants(os.getpid())
        assert any("codemodekit-guardian" in command for command in below.values())
    assert not any("codemodekit-guardian" in command for command in descendants(os.getpid()).values())
