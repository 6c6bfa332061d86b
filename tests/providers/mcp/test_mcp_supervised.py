"""MCP sources under the catalogue's supervision: lost ones come back, and one failure is one source's."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from mcp_helpers import outcome, raw_stdio, until, upstream

from codemodekit.catalog.health import Reconnect, SourceState
from codemodekit.catalog.manager import CatalogManager
from codemodekit.contracts import ToolResult
from codemodekit.errors import SourceLost
from codemodekit.providers.mcp.sources import mcp

pytestmark = pytest.mark.anyio

FAST = Reconnect(initial_s=0.05, maximum_s=0.2)
PAGES = {"": {"tools": [{"name": "mirror", "inputSchema": {"type": "object"}}, {"name": "bare"}]}}


@pytest.mark.proves("catalog.reconnect", "catalog.idle-death")
async def test_a_killed_child_process_comes_back_and_a_missing_one_harms_nobody(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    providers = [raw_stdio({"pages": PAGES, "stubborn": str(pids)}), mcp.stdio("missing", "no-such-command-here")]
    manager = CatalogManager(providers, reconnect=FAST)
    await manager.start()
    try:
        await manager.settled(10)
        assert manager.available() == ("raw",)
        health = {source.source: source for source in manager.health()}
        assert (health["raw"].tools, health["raw"].quarantined) == (1, 1)
        assert "was not found" in str(health["missing"].last_error)
        first = manager.session("raw")
        assert first is not None
        for pid in pids.read_text(encoding="ascii").split():
            os.kill(int(pid), signal.SIGKILL)
        await until(lambda: manager.session("raw") not in (None, first))
        again = manager.session("raw")
        assert again is not None
        assert isinstance(await outcome(again, "mirror", {"a": 1}), ToolResult)
        assert isinstance(await outcome(first, "mirror"), SourceLost)
    finally:
        await manager.aclose()
    assert not manager.available()


@pytest.mark.proves("catalog.reconnect")
async def test_a_server_behind_a_url_comes_back_after_its_restart() -> None:
    async with upstream("http") as server:
        manager = CatalogManager([server.provider()], reconnect=FAST)
        await manager.start()
        try:
            await manager.settled(10)
            server.kill()
            await until(lambda: manager.state("up") is SourceState.UNAVAILABLE)
            await server.start()
            await until(lambda: manager.state("up") is SourceState.HEALTHY)
            session = manager.session("up")
            assert session is not None
            assert isinstance(await outcome(session, "echo", {"x": 1}), ToolResult)
        finally:
            await manager.aclose()
