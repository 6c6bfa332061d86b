"""A source without a process or a network: a test says what its tools answer, when, and when the connection breaks.

Nothing here sleeps. A tool that should take its time gets a `Gate`, and the test opens it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from codemodekit._json import JsonValue
from codemodekit.contracts import ToolCall, ToolDefinition, ToolListing, ToolResult
from codemodekit.errors import SourceLost

__all__ = ["Gate", "InMemoryProvider", "Outcome"]

Outcome: TypeAlias = JsonValue | ToolResult | BaseException | Callable[[ToolCall], Any]
"""What a call comes to: a result, a value for `structuredContent`, an exception to raise, or a function of the call
(async or not) that gives one of these."""


class Gate:
    """Holds calls until it is opened."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._waiting = 0
        self._arrivals = asyncio.Condition()

    def open(self) -> None:
        """Let everything through, from now on."""
        self._open.set()

    async def arrived(self, count: int = 1) -> None:
        """Wait until so many calls stand before the gate."""
        async with self._arrivals:
            await self._arrivals.wait_for(lambda: self._waiting >= count)

    async def pass_through(self) -> None:
        """Wait for the opening."""
        self._waiting += 1
        try:
            async with self._arrivals:
                self._arrivals.notify_all()
            await self._open.wait()
        finally:
            self._waiting -= 1


class InMemoryProvider:
    """A scriptable source; implements `contracts.ToolProvider`.

    Args:
        name: the configured name of the source.
        tools: definitions, or names of tools that accept any object.

    A tool without a script answers with its input as `structuredContent`.
    """

    def __init__(self, name: str = "memory", tools: Iterable[ToolDefinition | str] = ("echo",)) -> None:
        self._name = name
        self._listing = _listing(tools)
        self._scripts: dict[str, deque[Outcome]] = {}
        self._gates: dict[str, Gate] = {}
        self._refusals: deque[BaseException] = deque()
        self._sessions: set[_Session] = set()
        self._seen = asyncio.Condition()
        self.connect_gate: Gate | None = None
        """While set, a connection waits for it."""
        self.connections = 0
        """Connections opened so far."""
        self.calls: list[ToolCall] = []
        """Every call that arrived, in order."""
        self.cancelled: list[ToolCall] = []
        """Calls that were cancelled before they had an answer."""

    @property
    def name(self) -> str:
        """The configured name."""
        return self._name

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[_Session]:
        """One connection, as the script has it."""
        if self.connect_gate is not None:
            await self.connect_gate.pass_through()
        if self._refusals:
            raise self._refusals.popleft()
        self.connections += 1
        session = _Session(self)
        self._sessions.add(session)
        try:
            yield session
        finally:
            self._sessions.discard(session)
            session.lose(SourceLost("the connection has been closed"))

    # --- the script ---------------------------------------------------------------------------------------------

    def answer(self, tool: str, *outcomes: Outcome) -> None:
        """Let the next calls of `tool` come to these; the last one is for all that follow."""
        self._scripts[tool] = deque(outcomes)

    def gate(self, tool: str) -> Gate:
        """Let calls of `tool` wait for the gate that is returned."""
        return self._gates.setdefault(tool, Gate())

    def refuse(self, *errors: BaseException) -> None:
        """Let the next attempts to connect fail, one for each error."""
        self._refusals.extend(errors)

    def change(self, *tools: ToolDefinition | str) -> None:
        """List these tools from now on, and announce it."""
        self._listing = _listing(tools)
        for session in self._sessions:
            session.changed.set()

    def disconnect(self, why: str = "the other side hung up") -> None:
        """Break all connections; calls in flight get no answer."""
        for session in list(self._sessions):
            session.lose(SourceLost(why))

    async def called(self, count: int = 1) -> None:
        """Wait until so many calls have arrived."""
        async with self._seen:
            await self._seen.wait_for(lambda: len(self.calls) >= count)

    # --- what sessions use --------------------------------------------------------------------------------------

    def listing(self) -> ToolListing:
        """The tools of this moment."""
        return self._listing

    async def take(self, call: ToolCall) -> ToolResult:
        """Carry a call out."""
        self.calls.append(call)
        async with self._seen:
            self._seen.notify_all()
        try:
            if (gate := self._gates.get(call.tool)) is not None:
                await gate.pass_through()
            return await _settle(self._next(call), call)
        except asyncio.CancelledError:
            self.cancelled.append(call)
            raise

    def _next(self, call: ToolCall) -> Outcome:
        script = self._scripts.get(call.tool)
        if not script:
            return call.input
        return script.popleft() if len(script) > 1 else script[0]


class _Session:
    """One connection; implements `contracts.ToolSession`."""

    def __init__(self, provider: InMemoryProvider) -> None:
        self._provider = provider
        self._lost: SourceLost | None = None
        self._calls: set[asyncio.Task[ToolResult]] = set()
        self.changed = asyncio.Event()

    def lose(self, why: SourceLost) -> None:
        if self._lost is None:
            self._lost = why
        self.changed.set()
        for task in self._calls:
            task.cancel()

    async def list_tools(self) -> ToolListing:
        self._require()
        return self._provider.listing()

    async def wait_for_change(self) -> None:
        await self.changed.wait()
        self._require()
        self.changed.clear()

    async def call(self, call: ToolCall) -> ToolResult:
        self._require()
        # A task of its own, so that a lost connection ends the work whatever the caller is doing.
        task = asyncio.get_running_loop().create_task(self._provider.take(call))
        self._calls.add(task)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            self._calls.discard(task)
        if task.cancelled():
            self._require()
        return task.result()

    def _require(self) -> None:
        if self._lost is not None:
            raise SourceLost(str(self._lost))


async def _settle(outcome: Outcome, call: ToolCall) -> ToolResult:
    if callable(outcome):
        outcome = outcome(call)
        if inspect.isawaitable(outcome):
            outcome = await _awaited(outcome)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome if isinstance(outcome, ToolResult) else ToolResult(structured_content=outcome)


async def _awaited(outcome: Awaitable[Any]) -> Any:
    return await outcome


def _listing(tools: Iterable[ToolDefinition | str]) -> ToolListing:
    return ToolListing(
        definitions=tuple(tool if isinstance(tool, ToolDefinition) else ToolDefinition(name=tool) for tool in tools)
    )
