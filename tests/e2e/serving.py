"""`codemodekit serve` as a process behind the official client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from .processes import descendants

__all__ = ["BIN", "SERVERS", "Served", "raw_server", "served", "write"]

BIN: Final = Path(sys.executable).parent
SERVERS: Final = Path(__file__).parents[1] / "servers"

_LONGEST_S: Final = 30.0
"""For one answer."""


@dataclass(frozen=True, slots=True)
class Served:
    """A client that is connected to a `serve` process."""

    client: Client

    async def call(self, code: str, context: Any = None) -> CallToolResult:
        """Run a program; the answer as the client gets it."""
        return await self.client.call_tool("run_typescript", {"code": code, "context": context})

    async def run(self, code: str, context: Any = None) -> dict[str, Any]:
        """Run a program; the run result."""
        return structured(await self.call(code, context))

    async def value(self, code: str, context: Any = None) -> Any:
        """Run a program that has to succeed; what it returned."""
        result = await self.run(code, context)
        assert result["ok"], result["error"]
        return result.get("value")

    async def search(self, query: str, **options: Any) -> dict[str, Any]:
        """What search_tools finds."""
        return structured(await self.client.call_tool("search_tools", {"query": query, **options}))


def structured(answer: CallToolResult) -> dict[str, Any]:
    """The structured content of an answer, which both tools always give."""
    assert isinstance(answer.structured_content, dict), answer
    return answer.structured_content


@asynccontextmanager
async def served(folder: Path, *options: str, mode: Any = "auto") -> AsyncIterator[Served]:
    """Serve in a folder; what the server writes to standard error goes to `serve.log` there."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "codemodekit", "serve", *options],
        cwd=folder,
        env={"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}", "PYTHONWARNINGS": "error"},
    )
    with (folder / "serve.log").open("w", encoding="utf-8") as log:
        transport = stdio_client(parameters, errlog=log)
        async with Client(transport, mode=mode, read_timeout_seconds=_LONGEST_S) as client:
            yield Served(client)


def raw_server(script: dict[str, Any], **entry: Any) -> dict[str, Any]:
    """A config entry for the scripted server, which does what no SDK would."""
    return {"command": sys.executable, "args": [str(SERVERS / "mcp_raw_server.py"), json.dumps(script)], **entry}


def write(file: Path, value: Any) -> Path:
    """The file, with the value as JSON in it."""
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def child_of_this_process(words: str) -> int:
    """The one process below this one whose command line has these words.

    Raises:
        LookupError: there is none, or more than one.
    """
    found = [pid for pid, command in descendants(os.getpid()).items() if words in command]
    if len(found) != 1:
        raise LookupError(f"{words!r}: {found}")
    return found[0]
