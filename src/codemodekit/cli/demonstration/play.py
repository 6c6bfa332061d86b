"""The demo itself: `codemodekit serve` as a process, the official MCP client in front of it, programs through both.

What happens is told to a `Listener` as it happens, and is a `Report` in the end. Knows nothing of terminals.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Protocol, TextIO

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from codemodekit.cli.demonstration.programs import Act
from codemodekit.cli.demonstration.stage import Stage
from codemodekit.cli.tokens import token_costs
from codemodekit.errors import CodeModeKitError
from codemodekit.mcp_adapter.definitions import RUN, SEARCH
from codemodekit.servers.config import load_config

__all__ = ["Listener", "Performance", "Report", "play"]

_CONNECTING_S: Final = 20.0
_ASK_AGAIN_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Performance:
    """One program that was run."""

    act: Act
    result: dict[str, Any]
    """The run result, in wire form."""

    @property
    def ok(self) -> bool:
        """Whether it ended as it was written to."""
        return self.act.ended_as_written(self.result)

    def to_wire(self) -> dict[str, Any]:
        act = self.act
        wire = {"title": act.title, "code": act.code, "context": act.context, "ok": self.ok, "result": self.result}
        return wire if act.fails_with is None else {**wire, "failsWith": act.fails_with}


@dataclass(frozen=True, slots=True)
class Report:
    """All of a demo."""

    notes: tuple[str, ...]
    connected: dict[str, Any]
    """`protocolVersion`, `milliseconds` from starting the process to its first answer, and names of its `tools`."""
    catalogue: dict[str, Any]
    """The answer of search_tools to `*`."""
    programs: tuple[Performance, ...]
    tokens: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Whether all went as it should."""
        return all(each.ok for each in self.programs) and not self.tokens["unavailable"]

    def to_wire(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "notes": list(self.notes),
            "connected": self.connected,
            "catalogue": self.catalogue,
            "programs": [each.to_wire() for each in self.programs],
            "tokens": self.tokens,
        }


class Listener(Protocol):
    """Is told what happens."""

    def doing(self, what: str) -> AbstractContextManager[None]:
        """Something that takes a moment goes on inside."""

    def connected(self, connected: Mapping[str, Any]) -> None: ...

    def catalogue(self, found: Mapping[str, Any]) -> None: ...

    def about_to_run(self, act: Act) -> None: ...

    def ran(self, performance: Performance) -> None: ...

    def counted(self, tokens: dict[str, Any]) -> None: ...


async def play(stage: Stage, folder: Path, listener: Listener) -> Report:
    """Build the stage in a folder, show everything, and leave no process behind.

    Raises:
        CodeModeKitError: the server cannot be used, or a source does not connect.
    """
    with listener.doing("Making a small git repository and a config" if stage.git else "Writing a config"):
        config = await stage.build(folder)
    log = folder / "serve.log"
    with log.open("w", encoding="utf-8") as messages:
        try:
            connected, catalogue, programs = await _through_a_client(stage, config, messages, listener)
        except* (MCPError, OSError) as group:
            raise _unusable(group, log) from group
    with listener.doing("Counting what a model would read: every tool listed directly, or Code Mode"):
        tokens = await token_costs(load_config(config=config, folder=folder, environment=os.environ))
    listener.counted(tokens)
    return Report(stage.notes, connected, catalogue, programs, tokens)


def _unusable(failure: BaseException, log: Path) -> CodeModeKitError:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return CodeModeKitError(
        f"the connection to 'codemodekit serve' failed: {failure}" + (f"; it said last: {said[-1]}" if said else "")
    )


async def _through_a_client(
    stage: Stage, config: Path, messages: TextIO, listener: Listener
) -> tuple[dict[str, Any], dict[str, Any], tuple[Performance, ...]]:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "codemodekit", "serve", "--config", str(config)], cwd=config.parent
    )
    async with AsyncExitStack() as opened:
        with listener.doing("Starting 'codemodekit serve', and connecting the official MCP client to it"):
            began = perf_counter()
            client = await opened.enter_async_context(Client(stdio_client(parameters, errlog=messages)))
            milliseconds = round((perf_counter() - began) * 1000)
            listed = await client.list_tools()
        connected = {
            "protocolVersion": client.protocol_version,
            "milliseconds": milliseconds,
            "tools": [tool.name for tool in listed.tools],
        }
        listener.connected(connected)
        with listener.doing("Waiting for its sources"):
            catalogue = await _catalogue(client, stage.sources)
        listener.catalogue(catalogue)
        return connected, catalogue, tuple([await _perform(client, act, listener) for act in stage.acts])


async def _catalogue(client: Client, sources: Sequence[str]) -> dict[str, Any]:
    """The answer to `*` once every source is there.

    Raises:
        CodeModeKitError: they are not there in time.
    """
    found: dict[str, Any] = {}
    with anyio.move_on_after(_CONNECTING_S):
        while True:
            found = await _call(client, SEARCH, {"query": "*"})
            if {space["source"] for space in found.get("namespaces", ())} >= set(sources):
                return found
            await anyio.sleep(_ASK_AGAIN_S)
    raise CodeModeKitError(
        f"the sources did not connect within {_CONNECTING_S:g} seconds: {found.get('diagnostic', 'no answer')}"
    )


async def _perform(client: Client, act: Act, listener: Listener) -> Performance:
    listener.about_to_run(act)
    performance = Performance(act, await _call(client, RUN, {"code": act.code, "context": act.context}))
    listener.ran(performance)
    return performance


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    if not isinstance(answer.structured_content, dict):
        raise CodeModeKitError(f"{tool} answered without structured content")
    return answer.structured_content
