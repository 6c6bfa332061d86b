"""A server that type-checks says so to its client, and takes its compiler with it however it ends."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from .processes import descendants, gone, needs_proc
from .serving import served, write

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOLS = """
sent = []
def send(to: str, text: str) -> int:
    sent.append(to)
    return len(sent)
tools = [send]
"""

HOST = """
import asyncio
from codemodekit import CodeMode, TypeScriptChecker, allow_all_tool_calls, local

async def main():
    async with CodeMode(
        providers=[local("app", [])], tool_policy=allow_all_tool_calls(), type_checker=TypeScriptChecker()
    ) as code_mode:
        while not (await code_mode.check("return 1")).checked:
            pass
        print("checking", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@needs_proc
@pytest.mark.proves("typecheck.catches", "typecheck.isolated")
async def test_a_client_reads_what_is_wrong_before_anything_was_sent(tmp_path: Path) -> None:
    (tmp_path / "mailing.py").write_text(TOOLS, encoding="utf-8")
    write(
        tmp_path / "codemode.json",
        {"python": {"mail": "mailing:tools"}, "policy": "allow-all", "typecheck": True},
    )
    program = "await tools.mail.send({ to: 'a', text: 'b' });\nreturn tools.mail.send({ to: 'a', body: 'b' });"
    async with served(tmp_path) as server:
        with anyio.fail_after(60):
            while (result := await server.run(program))["error"]["code"] != "TYPE_ERROR":
                pass  # on a machine that is very busy the compiler may not be up in time for the first
        sent = await server.value("return (await tools.mail.send({ to: 'a', text: 'b' })).structuredContent")
        compilers = [pid for pid, line in descendants(os.getpid()).items() if "--lsp" in line]
    assert result["error"]["location"]["line"] == 2
    assert result["error"]["details"]["errors"][0]["kind"] == "wrongField"
    assert (result["calls"], result["rerun"]) == ([], "safe")
    assert sent >= 1
    assert len(compilers) == 1
    await gone(compilers)


@needs_proc
@pytest.mark.proves("typecheck.isolated")
async def test_the_compiler_ends_with_a_host_that_is_killed() -> None:
    async with await anyio.open_process([sys.executable, "-c", HOST]) as host:
        assert host.stdout is not None
        assert await host.stdout.receive() == b"checking\n"
        compilers = [pid for pid, line in descendants(host.pid).items() if "--lsp" in line]
        host.send_signal(signal.SIGKILL)
    assert len(compilers) == 1
    await gone(compilers)
