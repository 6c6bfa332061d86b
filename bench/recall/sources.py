"""Made-up tools as sources of a Code Mode: listed at once, never called."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bench.ours import LIMITS
from bench.recall.world import MadeTool
from codemodekit import CodeMode, allow_all_tool_calls
from codemodekit.contracts import ToolAnnotations, ToolCall, ToolDefinition, ToolListing, ToolResult

__all__ = ["ListedSource", "definition_of", "open_world"]


class _Session:
    def __init__(self, source: ListedSource) -> None:
        self._source = source

    async def list_tools(self) -> ToolListing:
        return ToolListing(definitions=tuple(self._source.tools))

    async def wait_for_change(self) -> None:
        await self._source.changed.wait()
        self._source.changed.clear()

    async def call(self, _call: ToolCall) -> ToolResult:
        return ToolResult()


class ListedSource:
    """A provider that lists what it is given; `changed` makes it list again."""

    def __init__(self, name: str, tools: Sequence[ToolDefinition]) -> None:
        self.name = name
        self.tools = list(tools)
        self.changed = asyncio.Event()

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[_Session]:
        yield _Session(self)


def definition_of(tool: MadeTool) -> ToolDefinition:
    """The tool as a server would list it."""
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input,
        annotations=ToolAnnotations(read_only=tool.read_only),
    )


@asynccontextmanager
async def open_world(tools: Sequence[MadeTool], order: int = 0) -> AsyncIterator[tuple[CodeMode, list[ListedSource]]]:
    """A Code Mode over these tools, with one source a server; `order` shuffles the sources and what each lists."""
    by_source: dict[str, list[ToolDefinition]] = defaultdict(list)
    for tool in tools:
        by_source[tool.source].append(definition_of(tool))
    sources = [ListedSource(name, listed) for name, listed in by_source.items()]
    chance = random.Random(order)
    chance.shuffle(sources)
    for source in sources:
        chance.shuffle(source.tools)
    async with CodeMode(providers=sources, tool_policy=allow_all_tool_calls(), limits=LIMITS) as code_mode:
        await code_mode.settled(300)
        yield code_mode, sources
