"""A Code Mode that is made while its server is already up: what is asked of it waits until it is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.to_thread

from codemodekit.errors import ClosedError
from codemodekit.mcp_adapter import CodeModeSurface, RunOutcome

__all__ = ["OpenCodeMode", "Starting"]

OpenCodeMode = Callable[[], AbstractAsyncContextManager[CodeModeSurface]]
"""Loads what is needed and makes a Code Mode; called in a thread, entered on the event loop."""


class Starting:
    """Stands for a Code Mode that is still being made: what is asked of it waits."""

    def __init__(self) -> None:
        self._settled = anyio.Event()
        self._released = anyio.Event()
        self._code_mode: CodeModeSurface | None = None
        self._failure: Exception | None = None
        self._draining = False

    async def hold(self, open_code_mode: OpenCodeMode, on_failure: Callable[[], None]) -> None:
        """Make it, keep it until released, close it; all in one task, as its sources demand."""
        try:
            async with await anyio.to_thread.run_sync(open_code_mode) as self._code_mode:
                self._settled.set()
                await self._released.wait()
        except Exception as error:
            self._failure = error
            on_failure()
        finally:
            self._code_mode = None
            self._settled.set()

    def drain(self) -> None:
        """Begin nothing more; what has begun goes on."""
        self._draining = True

    def release(self) -> None:
        """Let it be closed."""
        self._released.set()

    def raise_failure(self) -> None:
        """Say what kept it from being made, if something did."""
        if self._failure is not None:
            raise self._failure

    def health(self) -> list[dict[str, Any]] | None:
        """The sources' states in wire form; None while there is no Code Mode."""
        tell = getattr(self._code_mode, "health", None)
        return None if tell is None else [each.to_wire() for each in tell()]

    async def run(self, code: str, **options: Any) -> RunOutcome:
        return await (await self._ready()).run(code, **options)

    async def search_tools(self, query: str, **options: Any) -> dict[str, Any]:
        return await (await self._ready()).search_tools(query, **options)

    async def _ready(self) -> CodeModeSurface:
        await self._settled.wait()
        if self._code_mode is None or self._draining:
            raise ClosedError("this server is ending; nothing was run")
        return self._code_mode
