"""One Code Mode as an MCP server on standard input and output, in the protocol era its client opens with.

`initialize` is answered before anything of Code Mode is loaded: the sandbox, the compiler and the sources start beside
the server, and a call that comes too early waits for them. Nothing but protocol reaches standard output.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from codemodekit.contracts import ToolPolicy, ToolProvider
from codemodekit.limits import ExecutionLimits
from codemodekit.mcp_adapter import CodeModeSurface, register_code_mode_tools
from codemodekit.mcp_adapter.definitions import INSTRUCTIONS
from codemodekit.servers.signals import on_signal
from codemodekit.servers.standard_streams import InputLines, ProtocolOutput, standard_streams
from codemodekit.servers.starting import OpenCodeMode, Starting

__all__ = ["serve_code_mode_stdio", "serve_stdio"]


async def serve_code_mode_stdio(
    *,
    name: str,
    version: str,
    tool_policy: ToolPolicy,
    sources: Sequence[ToolProvider],
    limits: ExecutionLimits | None = None,
    search: bool = True,
    instructions: str | None = INSTRUCTIONS,
    **options: Any,
) -> None:
    """Serve these sources until the client closes standard input or the process is told to end.

    `options` go to `CodeMode` as they are. Without `limits` a run may take 120 s and a call 60 s.
    """

    def open_code_mode() -> AbstractAsyncContextManager[CodeModeSurface]:
        made = import_module("codemodekit.servers.assemble").code_mode_of(
            providers=sources, tool_policy=tool_policy, limits=limits, **options
        )
        return cast(AbstractAsyncContextManager[CodeModeSurface], made)

    await serve_stdio(
        name=name, version=version, open_code_mode=open_code_mode, search=search, instructions=instructions
    )


async def serve_stdio(
    *,
    name: str,
    version: str,
    open_code_mode: OpenCodeMode,
    search: bool = True,
    instructions: str | None = INSTRUCTIONS,
) -> None:
    """As `serve_code_mode_stdio`, for a Code Mode that is made by `open_code_mode` once the server is up.

    Raises:
        CodeModeKitError: it cannot be made.
    """
    starting = Starting()
    server: Server[Any] = Server(name, version=version, instructions=instructions)
    register_code_mode_tools(server, code_mode=starting, search=search)
    with standard_streams() as (lines, output), on_signal(lines.end):
        async with stdio_server(stdin=_asynchronous(lines), stdout=_asynchronous(output)) as (read, write):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(starting.hold, open_code_mode, lines.end)
                await server.run(read, write, server.create_initialization_options())
                starting.release()
            await anyio.to_thread.run_sync(output.end)
    starting.raise_failure()


def _asynchronous(stream: InputLines | ProtocolOutput) -> anyio.AsyncFile[str]:
    return anyio.wrap_file(cast(Any, stream))  # the SDK asks a stream for no more than these have
