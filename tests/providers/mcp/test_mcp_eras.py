"""One server, both protocols, all transports: the same tools, results, failures and changes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_helpers import Upstream, a_call, fixture_stdio, names, outcome, raw_stdio, until, upstream

from codemodekit.contracts import ToolResult, ToolSession
from codemodekit.errors import ToolCallFailed
from codemodekit.providers.mcp.sources import mcp

pytestmark = pytest.mark.anyio

MODES = ("2026-07-28", "2025-11-25")


@asynccontextmanager
async def connected(kind: str, mode: Any, log: Path) -> AsyncIterator[ToolSession]:
    if kind == "stdio":
        async with fixture_stdio(mode=mode, env={"FIXTURE_LOG": str(log)}).connect() as session:
            yield session
    else:
        async with upstream(kind, log) as server, server.provider(mode=mode).connect() as session:
            yield session


@pytest.mark.proves("mcp.eras", "mcp.transports")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_everything_works_the_same(kind: str, mode: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with connected(kind, mode, log) as session:
        assert session.protocol_version == mode  # type: ignore[attr-defined]
        await check_listing(session)
        await check_results(session)
        await check_failures(session)
        await check_progress(session)
        await check_cancellation(session, log)
        await check_changes(session)


async def check_listing(session: ToolSession) -> None:
    listing = await session.list_tools()
    found = {tool.name: tool for tool in listing.definitions}
    assert {"contacts.find", "größe/1"} <= found.keys()
    assert [name for name, tool in found.items() if not tool.model_visible] == ["panel"]
    assert found["echo"].sideband["_meta"]["vendor/rank"] == 1
    assert (found["echo"].annotations.title, found["echo"].annotations.read_only) == ("Echo", True)
    assert found["echo"].output_schema == {"type": "object", "properties": {"x": {}}}
    assert listing.notes == ()


async def check_results(session: ToolSession) -> None:
    echoed = await outcome(session, "echo", {"x": 2**60})
    assert isinstance(echoed, ToolResult)
    assert (echoed.structured_content, echoed.content) == ({"x": 2**60}, ({"type": "text", "text": "echo"},))
    assert echoed.sideband["original"]["_meta"]["trace"] == "t-1"
    gallery = await outcome(session, "gallery")
    assert isinstance(gallery, ToolResult)
    assert gallery.content == (
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "A"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
    )


async def check_failures(session: ToolSession) -> None:
    failed, refused = await outcome(session, "fail"), await outcome(session, "refuse")
    assert isinstance(failed, ToolCallFailed)
    assert isinstance(refused, ToolCallFailed)
    assert (failed.message, failed.upstream_code) == ("no such row; sent with Bearer [redacted]", None)
    assert refused.upstream_code == -32050


async def check_progress(session: ToolSession) -> None:
    heard: list[str] = []
    await session.call(a_call("steps", report=heard.append))
    await until(lambda: heard == ["one", "two"])


async def check_cancellation(session: ToolSession, log: Path) -> None:
    def logged(line: str) -> bool:
        return log.exists() and line in log.read_text(encoding="utf-8")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.call, a_call("slow"))
        await until(lambda: logged("slow started"))
        tasks.cancel_scope.cancel()
    await until(lambda: logged("slow cancelled"))


async def check_changes(session: ToolSession) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.call, a_call("grow"))
        with anyio.fail_after(5):
            await session.wait_for_change()
    assert any(name.startswith("grown") for name in names(await session.list_tools()))


@pytest.mark.proves("mcp.list-changed")
async def test_changes_before_anyone_waits_are_not_missed_and_told_once() -> None:
    async with fixture_stdio().connect() as session:
        before = names(await session.list_tools())
        for _ in range(3):
            await session.call(a_call("grow"))
        with anyio.fail_after(5):
            await session.wait_for_change()
        assert len(names(await session.list_tools())) == len(before) + 3
        with anyio.move_on_after(0.5) as quiet:
            await session.wait_for_change()
        assert quiet.cancelled_caught


@pytest.mark.proves("mcp.eras")
async def test_automatic_negotiation_prefers_the_newer_protocol() -> None:
    time = Path(sys.executable).with_name("mcp-server-time")
    async with mcp.stdio("time", str(time), ["--local-timezone", "UTC"]).connect() as session:
        assert session.protocol_version == "2026-07-28"  # type: ignore[attr-defined]
        assert names(await session.list_tools()) == ["get_current_time", "convert_time"]
        result = await outcome(session, "get_current_time", {"timezone": "Europe/Vienna"})
        assert isinstance(result, ToolResult)


@pytest.mark.proves("mcp.eras")
async def test_an_older_server_may_refuse_the_newer_protocol_with_the_number_of_a_closed_connection() -> None:
    refusal = {"code": -32000, "message": "Bad Request: Unsupported protocol version"}
    script = {"tools": ["a"], "errors": {"server/discover": refusal}}
    async with raw_stdio(script, mode="auto").connect() as session:
        assert session.protocol_version == "2025-11-25"  # type: ignore[attr-defined]
        assert names(await session.list_tools()) == ["a"]


@pytest.mark.proves("mcp.headers")
async def test_arguments_that_belong_into_headers_are_sent_there_too() -> None:
    async with upstream("http") as server, server.provider(mode="2026-07-28").connect() as session:
        await session.list_tools()
        result = await outcome(session, "routed", {"tenant": "acme"})
        assert isinstance(result, ToolResult)
        assert result.content == ({"type": "text", "text": "acme"},)


@pytest.mark.proves("mcp.headers")
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_arguments_http_cannot_carry_fail_their_call_only(kind: str) -> None:
    async with upstream(kind) as server, server.provider().connect() as session:
        assert isinstance(await outcome(session, "echo", {"x": "\ud800"}), ToolCallFailed)
        assert isinstance(await outcome(session, "echo", {"x": 1}), ToolResult)


@pytest.mark.proves("error.secrets")
def test_the_address_of_a_server_is_not_shown() -> None:
    assert "127.0.0.1" not in repr(Upstream("http").provider(headers={"X-Key": "hush-hush"}))
