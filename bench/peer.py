"""The peer's side of the workloads: a FastMCP server under its CodeMode transform, which runs Python in pydantic-monty.

Imported only where it is installed and wanted. It is called at the height at which we are: `FastMCP.call_tool` in the
same process, without a client or a transport between.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult

from bench.catalogues import ToolText
from bench.workload import require

__all__ = ["MONTY_LIMITS", "ReadyTool", "execute", "ready_tools", "search", "server_of"]

MONTY_LIMITS: Any = {"max_feed_duration_secs": 600.0, "max_memory": 1 << 30, "max_suspensions": 1_000_000}


class ReadyTool(Tool):
    """A tool from a description that is given, with nothing read from a function."""

    answer: Any = None

    async def run(self, arguments: dict[str, Any], context: Any = None) -> ToolResult:
        return ToolResult(content=[], structured_content=self.answer)


class _ReadyTools(Provider):
    """All tools at once: `add_tool` takes seconds for thousands, for it compares each with all that are there."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__()
        self._tools = {tool.name: tool for tool in tools}

    async def _list_tools(self) -> Sequence[Tool]:
        return list(self._tools.values())

    async def _get_tool(self, name: str, version: Any = None) -> Tool | None:
        return self._tools.get(name)


def server_of(tools: Sequence[Tool]) -> FastMCP[Any]:
    """A server of these tools in code mode; its limits let the work through."""
    server: FastMCP[Any] = FastMCP("peer", providers=[_ReadyTools(tools)])
    server.add_transform(
        CodeMode(max_tool_calls=None, sandbox_provider=MontySandboxProvider(limits=dict(MONTY_LIMITS)))
    )
    return server


def ready_tools(texts: Sequence[ToolText]) -> list[Tool]:
    """The peer's tools for these texts."""
    return [
        ReadyTool(name=text.name, description=text.description, parameters=text.input, output_schema=text.output)
        for text in texts
    ]


async def execute(server: FastMCP[Any], program: str, expected: Any) -> None:
    """Run a program that must return this value."""
    result = await server.call_tool("execute", {"code": program})
    require(not result.is_error and json.loads(result.content[0].text) == expected, result)


async def search(server: FastMCP[Any], query: str) -> str:
    """The answer of its search tool, five results at most as ours."""
    result = await server.call_tool("search", {"query": query, "limit": 5})
    require(not result.is_error, result)
    return str(result.content[0].text)
