"""Receipts of runs that a client cancels or leaves, as the host's observer and the audit log tell them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from tests.e2e.serving import served, write

from codemodekit.code_mode import ObserverEvent
from codemodekit.mcp_adapter import register_code_mode_tools
from scripted_kit import app, kit

pytestmark = pytest.mark.anyio

PROGRAM = "await tools.app.echo({}); tools.app.hold({ n: 1 }); await tools.app.hold({ n: 2 }); await tools.app.echo({})"
TOOLS = """
import asyncio
from codemodekit import ToolContext

async def hold(context: ToolContext) -> str:
    context.report_progress("holding")
    await asyncio.sleep(600)
    return "never"

def quick() -> int:
    return 1

tools = [hold, quick]
"""


@pytest.mark.proves("surface.cancel", "result.receipt", "result.one-outcome")
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_run_whose_client_cancels_the_request_ends_with_its_calls_as_they_were(mode: Any) -> None:
    provider, observed, over = app(), list[ObserverEvent](), asyncio.Event()
    provider.gate("hold")

    async def observe(event: ObserverEvent) -> None:
        observed.append(event)
        if event.kind == "execution_completed":
            over.set()

    async with kit(provider, limits={"max_concurrent_tool_calls": 1}, observer=observe) as code_mode:
        server = MCPServer("test")
        register_code_mode_tools(server, code_mode=code_mode)
        async with Client(server, mode=mode) as client:
            asking = asyncio.create_task(client.call_tool("run_typescript", {"code": PROGRAM}))
            await provider.called(2)
            asking.cancel()
            async with asyncio.timeout(5):
                await over.wait()
            assert len(provider.calls) == 2
            assert len(provider.cancelled) == 1
    assert [(event.status, event.code) for event in observed if event.kind == "tool_call_completed"] == [
        ("completed", None), ("unfinished", None), ("rejected", "EXECUTION_CANCELLED"),
    ]  # fmt: skip
    assert (observed[-1].kind, observed[-1].status) == ("execution_completed", "cancelled")


@pytest.mark.slow
@pytest.mark.proves("surface.client-gone", "result.receipt", "result.rerun", "observe.audit")
async def test_a_run_whose_client_is_gone_leaves_its_receipt_in_the_audit_log(tmp_path: Path) -> None:
    (tmp_path / "cmk_receipts.py").write_text(TOOLS, encoding="utf-8")
    config = {"python": {"app": "cmk_receipts:tools"}, "policy": "allow-all", "audit": "audit.jsonl"}
    write(tmp_path / "codemode.json", config)
    held = asyncio.Event()

    async def hear(_progress: float, _total: float | None, message: str | None) -> None:
        if "holding" in (message or ""):
            held.set()

    program = {"code": "await tools.app.quick({}); await tools.app.hold({})"}
    async with served(tmp_path) as server:
        asking = asyncio.create_task(server.client.call_tool("run_typescript", program, progress_callback=hear))
        async with asyncio.timeout(20):
            await held.wait()
    await asyncio.gather(asking, return_exceptions=True)
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["tool"], line["status"]) for line in lines if line["event"] == "call"] == [
        ("quick", "completed"), ("hold", "unfinished"),
    ]  # fmt: skip
    ends = [line for line in lines if line["event"] == "run"]
    assert [(end["code"], end.get("rerun", "unknown")) for end in ends] == [("EXECUTION_CANCELLED", "unknown")]
