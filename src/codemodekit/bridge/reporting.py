"""How a tool tells a run how far it has come: from any thread, at once, and never after its call has ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

__all__ = ["reporter", "silent"]


def silent(_message: str) -> None:
    """Nobody listens."""


def reporter(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> Callable[[str], None]:
    """A function to hand to a tool; `tell` is called on the loop, and says for itself whether it is too late."""

    def report(message: object) -> None:
        if not isinstance(message, str):
            return
        if _on(loop):
            tell(message)
        else:  # a tool in a thread, which may outlive the loop
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, message)

    return report


def _on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:  # this thread has none
        return False
