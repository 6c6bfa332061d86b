"""An MCP server of your own, with a tool of its own, that offers Code Mode beside it.

The server stays yours: its name, its transport and its other tools are not touched.
"""

from __future__ import annotations

from typing import Literal

import anyio
from mcp.server.mcpserver import MCPServer

from codemodekit import CodeMode, allow_all_tool_calls, local, register_code_mode_tools

City = Literal["Bern", "Graz"]


def population(city: City) -> int:
    """People who live in a city."""
    return {"Bern": 134_000, "Graz": 303_000}[city]


def area(city: City) -> float:
    """Area of a city in square kilometres."""
    return {"Bern": 51.6, "Graz": 127.6}[city]


async def serve() -> None:
    server: MCPServer = MCPServer("atlas")

    @server.tool()
    def ping() -> str:
        """Whether the atlas is open."""
        return "open"

    cities = local("cities", [population, area])
    async with CodeMode(providers=[cities], tool_policy=allow_all_tool_calls()) as code_mode:
        register_code_mode_tools(server, code_mode=code_mode)
        await server.run_stdio_async()


if __name__ == "__main__":
    anyio.run(serve)
