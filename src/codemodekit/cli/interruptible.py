"""From a command to the event loop and back, in a way that a signal can end in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

import anyio
import typer

from codemodekit.servers.signals import on_signal

__all__ = ["run_interruptible"]

_T = TypeVar("_T")
_Arguments = TypeVarTuple("_Arguments")


def run_interruptible(function: Callable[[*_Arguments], Awaitable[_T]], *arguments: *_Arguments) -> _T:
    """Run it in an event loop. SIGINT and SIGTERM cancel it, and what it opened is closed, children included.

    Raises:
        Abort: a signal came first.
    """
    return anyio.run(_cancelled_at_signals, function, arguments)


async def _cancelled_at_signals(function: Callable[[*_Arguments], Awaitable[_T]], arguments: tuple[*_Arguments]) -> _T:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.call_soon_threadsafe(scope.cancel)

    # a scope of ours, because what shields its closing is shielded against scopes, not against the loop's own way
    with anyio.CancelScope() as scope, on_signal(stop):
        return await function(*arguments)
    raise typer.Abort
