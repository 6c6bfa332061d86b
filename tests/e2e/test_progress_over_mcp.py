"""Progress of real runs at a real client, over a wire: from an upstream's words to the client's callback."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server

from codemodekit import CodeMode, allow_all_tool_calls, local, mcp, register_code_mode_tools
from codemodekit.contracts import ToolProvider
from codemodekit.providers.local import ToolContext

pytestmark = pytest.mark.anyio

FIXTURE = str(Path(__file__).parents[1] / "servers" / "mcp_fixture_server.py")

TOOLS = """
async def talk(call) -> int:
    "Says how far it is."
    for step in ("one", "two"):
        call.report_progress(step)
    return 2

from codemodekit import ToolContext
talk.__annotations__["call"] = ToolContext
tools = [talk]
"""


@pytest.mark.slow
@pytest.mark.proves("surface.progress")
async def test_a_served_run_sends_its_stations_in_order_when_asked_and_none_else(tmp_path: Path) -> None:
    (tmp_path / "talking_tools.py").write_text(TOOLS, encoding="utf-8")
    config = tmp_path / "codemode.json"
    config.write_text(json.dumps({"python": {"app": "talking_tools:tools"}, "policy": "allow-all"}), encoding="utf-8")
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    server = StdioServerParameters(command=sys.executable, args=["-m", "codemodekit", "serve", "--config", str(config)])
    async with Client(server) as client:
        code = {"code": "return (await tools.app.talk({})).structuredContent"}
        told = await client.call_tool("run_typescript", code, progress_callback=listen)
        before = len(heard)
        untold = await client.call_tool("run_typescript", code)
    for answer in (told, untold):
        assert answer.structured_content is not None
        assert answer.structured_content["value"] == 2
    assert [message for _, _, message in heard] == [
        "compiled", "started", "tool queued: app.talk", "tool started: app.talk", "tool progress: app.talk: one",
        "tool progress: app.talk: two", "tool finished (completed): app.talk", "finished",
    ]  # fmt: skip
    numbers = [progress for progress, _, _ in heard]
    assert numbers == sorted(set(numbers))
    assert {total for _, total, _ in heard} == {None}
    assert len(heard) == before


@pytest.mark.slow
@pytest.mark.proves("surface.progress", "limit.progress", "observe.advisory")
async def test_whatever_a_program_calls_its_tools_progress_stays_whole_short_and_on_one_line(tmp_path: Path) -> None:
    """The names in a message are the program's own text: half characters would break the connection."""
    config = tmp_path / "codemode.json"
    config.write_text(json.dumps({"python": {"app": "json:loads"}, "policy": "allow-all"}), encoding="utf-8")
    heard: list[str] = []

    async def listen(_progress: float, _total: float | None, message: str | None) -> None:
        heard.append(message or "")

    program = """
    for (const name of ["\\ud800", "a\\nb\\u001b[31m", "ä".repeat(5000), "\\u2028"])
      await tools.$call(name, name, {}).catch(() => 0);
    return 7;
    """
    server = StdioServerParameters(command=sys.executable, args=["-m", "codemodekit", "serve", "--config", str(config)])
    async with Client(server) as client:
        with anyio.fail_after(30):
            answer = await client.call_tool("run_typescript", {"code": program}, progress_callback=listen)
    assert answer.structured_content is not None
    assert answer.structured_content["value"] == 7
    assert [text.partition(":")[0] for text in heard[2:]] == ["tool finished (rejected)"] * 4 + ["finished"]
    for text in heard:
        assert len(text.encode("utf-8")) <= 1024
        assert all(character.isprintable() for character in text)


def serving(*sources: ToolProvider) -> tuple[CodeMode, Server[Any]]:
    code_mode = CodeMode(providers=sources, tool_policy=allow_all_tool_calls())
    server: Server[Any] = Server("consumer", version="1")
    register_code_mode_tools(server, code_mode=code_mode)
    return code_mode, server


@pytest.mark.slow
@pytest.mark.proves("surface.progress", "mcp.cancel-progress")
async def test_an_upstreams_words_arrive_and_its_numbers_do_not() -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    code_mode, server = serving(mcp.stdio("up", sys.executable, ["-W", "ignore", FIXTURE, "stdio"]))
    async with code_mode, Client(server) as client:
        await client.call_tool("run_typescript", {"code": "await tools.up.steps({})"}, progress_callback=listen)
    words = [message for _, _, message in heard if message is not None and message.startswith("tool progress")]
    assert words
    assert all(word.startswith("tool progress: up.steps: ") for word in words)
    numbers = [progress for progress, _, _ in heard]
    assert numbers == sorted(set(numbers))  # the upstream says 1 of 2 each time
    assert {total for _, total, _ in heard} == {None}


@pytest.mark.proves("observe.advisory", "surface.progress")
async def test_a_client_that_takes_no_progress_gets_its_result_all_the_same() -> None:
    async def hang(_progress: float, _total: float | None, _message: str | None) -> None:
        await anyio.sleep_forever()

    async def work(context: ToolContext) -> int:
        context.report_progress("half")
        return 7

    code_mode, server = serving(local("app", [work]))
    async with code_mode, Client(server) as client:
        with anyio.fail_after(10):
            answer = await client.call_tool(
                "run_typescript",
                {"code": "return (await tools.app.work({})).structuredContent"},
                progress_callback=hang,
            )
    assert answer.structured_content is not None
    assert answer.structured_content["value"] == 7
