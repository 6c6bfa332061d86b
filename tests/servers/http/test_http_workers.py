"""`codemodekit serve --http` as processes: several workers behind one address, over their lives."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from http_hosts import TOKEN
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.proves("host.workers", "host.ends")]

TOOLS = "import os\n\n\ndef pid() -> int:\n    return os.getpid()\n\n\ntools = [pid]\n"
CONFIG = '{"python": {"app": "worker_tools:tools"}, "policy": "allow-all"}'
PROGRAM = "return (await tools.app.pid({})).structuredContent"


@asynccontextmanager
async def serving(folder: Path, *options: str) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    (folder / "worker_tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "codemode.json").write_text(CONFIG, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "codemodekit", "serve", "--http", "127.0.0.1:0", "--auth-token-env", "TOKENS", *options,
        cwd=folder, env={**os.environ, "TOKENS": TOKEN}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        with anyio.fail_after(60):
            line = (await process.stderr.readline()).decode()
        found = re.search(r"http://\S+/mcp", line)
        assert found is not None, line
        yield found[0], process
    finally:
        if process.returncode is None:
            process.terminate()
            with anyio.move_on_after(30, shield=True):
                await process.communicate()
        if process.returncode is None:
            process.kill()


async def answer(address: str) -> Any:
    """The process that ran a program, over a connection of its own; None if nobody answered."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
            async with Client(streamable_http_client(address, http_client=http), read_timeout_seconds=20) as client:
                result = await client.call_tool("run_typescript", {"code": PROGRAM})
    except Exception:
        return None
    assert isinstance(result.structured_content, dict)
    return result.structured_content.get("value")


async def answers_until(address: str, seen: set[int], enough: int) -> set[int]:
    """Every process that answers, until there are enough that were not seen before."""
    found: set[int] = set()
    with anyio.fail_after(90):
        while len(found - seen) < enough:
            one = await answer(address)
            found |= {one} if isinstance(one, int) else set()
    return found


async def test_a_worker_that_dies_is_replaced_and_all_end_with_their_parent(tmp_path: Path) -> None:
    async with serving(tmp_path, "--workers", "2") as (address, process):
        first = await answers_until(address, set(), 2)
        victim = min(first)
        os.kill(victim, signal.SIGKILL)
        later = await answers_until(address, first, 1)
        process.terminate()
        with anyio.fail_after(40):
            assert await process.wait() == 0
    assert process.pid not in first | later
    assert [pid for pid in (first | later) - {victim} if _is_alive(pid)] == []


async def test_workers_that_cannot_start_end_the_whole_with_an_error(tmp_path: Path) -> None:
    async with serving(tmp_path, "--workers", "2") as (_, process):
        (tmp_path / "codemode.json").write_text("{}", encoding="utf-8")  # read again by each worker
        with anyio.fail_after(60):
            assert await process.wait() == 1


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
