"""Sources that do what a test tells them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from codemodekit.contracts import ToolCall, ToolDefinition, ToolListing, ToolResult
from codemodekit.errors import SourceLost


def tool(name: str, description: str = "", **more: Any) -> ToolDefinition:
    return ToolDefinition(name=name, description=description, **more)


def listing(*tools: ToolDefinition | str) -> ToolListing:
    return ToolListing(definitions=tuple(tool(t) if isinstance(t, str) else t for t in tools))


class FakeSession:
    def __init__(self, source: FakeSource) -> None:
        self._source = source
        self._events: asyncio.Queue[Exception | None] = asyncio.Queue()

    async def list_tools(self) -> ToolListing:
        self._source.listings += 1
        return self._source.listing

    async def wait_for_change(self) -> None:
        fault = await self._events.get()
        if fault is not None:
            raise fault

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(structured_content=call.input)

    def happens(self, fault: Exception | None = None) -> None:
        self._events.put_nowait(fault)


class FakeSource:
    """`fails` are the failures of the next attempts, one each; an attempt waits for `gate` if there is one."""

    def __init__(self, name: str, *tools: ToolDefinition | str, fails: Iterable[BaseException] = ()) -> None:
        self.name = name
        self.listing = listing(*tools)
        self.fails = list(fails)
        self.gate: asyncio.Event | None = None
        self.exit_gate: asyncio.Event | None = None
        """Leaving a connection waits for it."""
        self.current: FakeSession | None = None
        self.opened = self.closed = self.listings = 0

    def connect(self) -> AbstractAsyncContextManager[FakeSession]:
        return self._connect()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[FakeSession]:
        self.opened += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise self.fails.pop(0)
        self.current = FakeSession(self)
        try:
            yield self.current
        finally:
            if self.exit_gate is not None:
                await self.exit_gate.wait()
            self.closed += 1
            self.current = None

    def changes(self, *tools: ToolDefinition | str) -> None:
        self.listing = listing(*tools)
        assert self.current is not None
        self.current.happens()

    def dies(self, fault: Exception | None = None) -> None:
        assert self.current is not None
        self.current.happens(fault or SourceLost("the process ended"))


class Naps:
    """Stands for `asyncio.sleep`: every pause is recorded and ends when the test says so (or at once)."""

    def __init__(self, *, wait: bool = False) -> None:
        self.taken: list[float] = []
        self._wait = asyncio.Event()
        if not wait:
            self._wait.set()

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)
        await self._wait.wait()

    def wake(self) -> None:
        self._wait.set()


async def until(holds: Callable[[], bool]) -> None:
    """Give way until the condition holds, at most five seconds."""
    async with asyncio.timeout(5):
        # what is waited for has no event of its own: it is the state of the thing under test
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
