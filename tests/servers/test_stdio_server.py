"""The stdio server as a real process, spoken to line by line and through the official client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from codemodekit.servers.standard_streams import MAX_LINE_BYTES

TOOLS = '''
import os
def greet(name: str) -> str:
    """Greets someone."""
    print("printed by a tool")
    os.write(1, b"written by a tool\\n")
    return f"Hello {name}"
tools = [greet]
'''

SILENT = """
import os, sys
with open(sys.argv[1], "w") as told:
    told.write("started")
    told.flush()
    sys.stdin.read()
"""

STUBBORN = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "w") as told:
    told.write("started")
    told.flush()
    sys.stdin.read()
    told.write("ending")
    told.flush()
    signal.pause()
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def write_config(folder: Path, servers: dict[str, Any] | None = None) -> None:
    (folder / "greeting_tools.py").write_text(TOOLS)
    config = {"python": {"app": "greeting_tools:tools"}, "mcpServers": servers or {}, "policy": "allow-all"}
    (folder / "codemode.json").write_text(json.dumps(config))


@contextmanager
def serving(folder: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, *(command or ("-m", "codemodekit", "serve"))],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[bytes], *messages: dict[str, Any] | bytes) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    message: dict[str, Any] = json.loads(process.stdout.readline())
    return message


@pytest.mark.proves("surface.eras")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_runs_a_program_and_searches(tmp_path: Path, mode: Any) -> None:
    write_config(tmp_path)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "codemodekit", "serve"], cwd=tmp_path, env={"PYTHONWARNINGS": "error"}
    )
    with anyio.fail_after(30):
        async with Client(parameters, mode=mode) as client:
            ran = await client.call_tool(
                "run_typescript",
                {"code": "return (await tools.app.greet({name: context})).structuredContent", "context": "Ada"},
            )
            found = await client.call_tool("search_tools", {"query": "greet"})
    assert ran.structured_content is not None
    assert ran.structured_content["value"] == "Hello Ada"
    assert found.structured_content is not None
    assert [result["callable"] for result in found.structured_content["results"]] == ["tools.app.greet"]


@pytest.mark.proves("cli.stdout")
def test_nothing_but_protocol_reaches_standard_output(tmp_path: Path) -> None:
    write_config(tmp_path)
    call = {"name": "run_typescript", "arguments": {"code": "await tools.app.greet({name: 'Ada'}); return 1"}}
    with serving(tmp_path) as process:
        send(process, b"noise\n\n{}\n[]\n\xff\n", INITIALIZE)
        assert receive(process)["id"] == 1
        send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        send(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        assert receive(process)["result"]["structuredContent"]["value"] == 1
        out, err = process.communicate(timeout=10)
        assert (out, process.returncode) == (b"", 0)
        assert b"printed by a tool" in err
        assert b"written by a tool" in err


@pytest.mark.proves("surface.client-gone")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", None])
def test_a_client_that_stops_to_read_does_not_keep_the_server(tmp_path: Path, how: str | None) -> None:
    write_config(tmp_path)
    large = {"name": "run_typescript", "arguments": {"code": "return 'x'.repeat(200_000)"}}
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 1
        send(process, *({"jsonrpc": "2.0", "id": 2 + n, "method": "tools/call", "params": large} for n in range(4)))
        assert process.stdout is not None
        assert process.stdout.read(1) == b"{"  # more than a pipe holds is on its way
        if how is None:
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, how))
        assert process.wait(timeout=10) == 0


@pytest.mark.proves("surface.client-gone")
def test_a_client_that_no_longer_reads_ends_the_server(tmp_path: Path) -> None:
    write_config(tmp_path)
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 1
        assert process.stdout is not None
        process.stdout.close()
        send(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert process.wait(timeout=10) == 0


@pytest.mark.proves("value.wire")
def test_half_a_surrogate_pair_is_answered(tmp_path: Path) -> None:
    write_config(tmp_path)
    call = {
        "name": "run_typescript",
        "arguments": {"code": "return context", "context": ["\ud800", "\U0001f600", "\\ud800"]},
    }
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        receive(process)
        send(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        answer = receive(process)
    assert answer["result"]["structuredContent"]["value"] == ["\ufffd", "\U0001f600", "\\ud800"]


@pytest.mark.proves("surface.client-gone")
def test_a_message_without_end_ends_the_connection(tmp_path: Path) -> None:
    write_config(tmp_path)
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        receive(process)
        with pytest.raises(BrokenPipeError):
            send(process, b"x" * (MAX_LINE_BYTES + (1 << 22)))
        assert process.wait(timeout=10) == 0


@pytest.mark.proves("catalog.independent")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None])
def test_a_silent_upstream_delays_nothing_and_is_ended_with_the_server(
    tmp_path: Path, how: signal.Signals | None
) -> None:
    os.mkfifo(tmp_path / "alive")
    (tmp_path / "silent.py").write_text(SILENT)
    write_config(tmp_path, {"silent": {"command": sys.executable, "args": ["silent.py", "alive"], "cwd": "."}})
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 1
        with (tmp_path / "alive").open() as alive:
            assert alive.read(len("started")) == "started"
            if how is None:
                assert process.stdin is not None
                process.stdin.close()
            else:
                process.send_signal(how)
            assert alive.read() == ""  # the child has let go of its end
        assert process.wait(timeout=10) == 0


@pytest.mark.proves("mcp.processes")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(("first", "second"), [("SIGHUP", None), ("SIGINT", "SIGTERM")])
def test_signals_leave_no_upstream_behind_that_will_not_go(tmp_path: Path, first: str, second: str | None) -> None:
    os.mkfifo(tmp_path / "alive")
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    write_config(tmp_path, {"stubborn": {"command": sys.executable, "args": ["stubborn.py", "alive"], "cwd": "."}})
    with serving(tmp_path) as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 1
        with (tmp_path / "alive").open() as alive:
            assert alive.read(len("started")) == "started"
            process.send_signal(getattr(signal, first))
            assert alive.read(len("ending")) == "ending"
            if second is not None:
                process.send_signal(getattr(signal, second))
            assert process.wait(timeout=10) == 0
            assert alive.read() == ""  # the child has let go of its end


@pytest.mark.proves("surface.client-gone")
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs a signal that Windows has not")
def test_a_hang_up_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    write_config(tmp_path)
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with serving(tmp_path, "-c", ignoring, sys.executable, "-m", "codemodekit", "serve") as process:
        send(process, INITIALIZE)
        assert receive(process)["id"] == 1
        process.send_signal(signal.SIGHUP)
        send(process, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert receive(process)["id"] == 2


@pytest.mark.proves("api.close")
def test_a_code_mode_that_cannot_be_made_ends_the_server_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import anyio\n"
        "from codemodekit.errors import SandboxError\n"
        "from codemodekit.servers.stdio import serve_stdio\n"
        "def fail():\n    raise SandboxError('no guest')\n"
        "async def main():\n"
        "    await serve_stdio(name='x', version='1', open_code_mode=fail)\n"
        "try:\n    anyio.run(main)\n"
        "except SandboxError as error:\n    raise SystemExit(f'ended: {error}')\n"
    )
    with serving(tmp_path, "broken.py") as process:
        send(process, INITIALIZE)
        assert process.wait(timeout=10) == 1
        assert process.stderr is not None
        assert process.stderr.read().strip() == b"ended: no guest"
