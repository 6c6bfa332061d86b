"""Our two tools on the official SDK's own Streamable HTTP app, on a free port of this machine: what the suite talks to.

Prints the address as its first line, and serves until its standard input ends.
"""

from __future__ import annotations

import socket
import sys
import threading

import anyio
import uvicorn
from mcp.server.lowlevel import Server

from codemodekit import CodeMode, allow_all_tool_calls, local, register_code_mode_tools


def double(number: int) -> int:
    """Twice the number."""
    return number * 2


async def main() -> None:
    async with CodeMode(providers=[local("app", [double])], tool_policy=allow_all_tool_calls()) as code_mode:
        server: Server[object] = Server("codemodekit", version="0", instructions="Two tools.")
        register_code_mode_tools(server, code_mode=code_mode)
        listening = socket.create_server(("127.0.0.1", 0))
        web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning", lifespan="on"))
        threading.Thread(target=_end_with_input, args=(web,), daemon=True).start()
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        await web.serve(sockets=[listening])


def _end_with_input(web: uvicorn.Server) -> None:
    sys.stdin.read()
    web.should_exit = True
    web.force_exit = True


if __name__ == "__main__":
    anyio.run(main)
