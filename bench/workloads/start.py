"""A server on standard input and output, from its start to its answer to `initialize`, with upstreams of several moods.

Ours is `codemodekit serve`; the peer is a script with a FastMCP proxy of the same upstreams in code mode. The line that
is sent and the line that is waited for are the same for both.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from bench.workload import Bound, Figure, Measure, Sizes, Workload, require

__all__ = ["WORKLOAD"]

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST_S = 60
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
_SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]
_ENDS = [sys.executable, "-c", "raise SystemExit(3)"]
_MOODS = {
    "silent": "1 upstream that never answers",
    "real": "2 real upstreams (git, time)",
    "broken": "5 dead, missing or silent upstreams",
}


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return tuple(Figure(name=name, title=title, unit="s", targets=(Bound(0.8),)) for name, title in _MOODS.items())


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    def command(config: Path) -> list[str]:
        return [sys.executable, "-m", "codemodekit", "serve", "--mcp-config", str(config), "--policy", "allow-all"]

    with _configs() as configs:
        yield _measure({name: command(config) for name, config in configs.items()})


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    with _configs() as configs:
        # only where all upstreams answer: a proxy waits for one that does not, and its client waits with it
        yield _measure({"real": [sys.executable, "-m", "bench.peer_stdio", str(configs["real"])]})


def _measure(commands: Mapping[str, Sequence[str]]) -> Measure:
    async def measure() -> Mapping[str, float]:
        return {name: await _start(command) for name, command in commands.items()}

    return measure


async def _start(command: Sequence[str]) -> float:
    start = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=_ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        async with asyncio.timeout(_LONGEST_S):
            line = await process.stdout.readline()
        seconds = time.perf_counter() - start
        require(line.startswith(b"{") and "serverInfo" in json.loads(line).get("result", {}), line)
        return seconds
    finally:
        process.stdin.close()
        await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(10):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@contextmanager
def _configs() -> Iterator[dict[str, Path]]:
    """A config file of each mood."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))  # bound and not listening: whoever connects is refused
        servers: dict[str, dict[str, Any]] = {
            "silent": {"sleeper": _stdio(_SLEEPS)},
            "real": {"git": _stdio([_installed("mcp-server-git")]), "time": _stdio([_installed("mcp-server-time")])},
            "broken": {
                "dead": _stdio(_ENDS),
                "missing": _stdio(["no-such-command-anywhere"]),
                "refusing": {"type": "http", "url": f"http://127.0.0.1:{refusing.getsockname()[1]}/mcp"},
                "sleeper": _stdio(_SLEEPS),
                "second-sleeper": _stdio(_SLEEPS),
            },
        }
        yield {name: _written(Path(folder) / f"{name}.json", each) for name, each in servers.items()}


def _stdio(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _installed(name: str) -> str:
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    require(found is not None, f"{name} is not installed")
    assert found is not None
    return found


def _written(path: Path, servers: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


WORKLOAD = Workload(
    name="start",
    title="Server on stdio, start to `initialize`",
    figures=_figures,
    ours=_ours,
    peer=_peer,
    most_rounds=7,
)
