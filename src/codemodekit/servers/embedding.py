"""An MCP server that offers nothing but Code Mode, for a host that runs or mounts it as it likes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from codemodekit.contracts import ToolPolicy, ToolProvider
from codemodekit.limits import ExecutionLimits
from codemodekit.mcp_adapter import register_code_mode_tools
from codemodekit.mcp_adapter.definitions import INSTRUCTIONS
from codemodekit.servers.assemble import code_mode_of
from codemodekit.servers.http.principals import principal_of
from codemodekit.servers.starting import Starting

__all__ = ["create_code_mode_mcp"]


def create_code_mode_mcp(
    *,
    name: str,
    version: str,
    tool_policy: ToolPolicy,
    sources: Sequence[ToolProvider],
    limits: ExecutionLimits | None = None,
    search: bool = True,
    instructions: str | None = INSTRUCTIONS,
    **options: Any,
) -> MCPServer[None]:
    """A server with `run_typescript` and `search_tools`, whose sources live as long as it runs.

    Run it (`await server.run_stdio_async()`), mount it (`server.streamable_http_app()`), or add tools of your own
    first. `options` go to `CodeMode` as they are.

    Raises:
        ConfigurationError: no policy, or a duplicate or empty source name.
    """
    made = code_mode_of(providers=sources, tool_policy=tool_policy, limits=limits, **options)
    current = Starting()

    @asynccontextmanager
    async def lifespan(_: MCPServer[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(current.hold, lambda: made, lambda: None)
            try:
                yield
            finally:
                current.release()

    server = MCPServer(name, version=version, instructions=instructions, lifespan=lifespan)
    register_code_mode_tools(server, code_mode=current, search=search, principal_of=principal_of)
    return server
