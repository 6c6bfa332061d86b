"""Blocking functions of others, each in a thread that nobody has to wait for.

Not `asyncio.to_thread`: its threads are few (six on a small machine) and shared with our own work, so that functions
which never return would end up stopping everything, and the interpreter waits for them when it wants to exit.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

__all__ = ["in_thread", "start_in_thread"]

_IDLE_S: Final = 10.0
"""How long a thread without work is kept."""

_Report = Callable[[], None]


async def in_thread(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What the function gives back. A caller that is cancelled leaves at once, and the function to itself.

    There is always a thread: how many functions may run at once is for the caller to say.
    """
    loop = asyncio.get_running_loop()
    settled: asyncio.Future[Any] = loop.create_future()
    bound = partial(contextvars.copy_context().run, function, *arguments, **keywords)
    _a_thread().give(lambda: _outcome(bound, loop, settled))
    return await settled


def start_in_thread(function: Callable[[], object]) -> None:
    """Begin it in a thread and go on; what it raises is nobody's."""
    _a_thread().give(lambda: _quietly(function))


def _quietly(function: Callable[[], object]) -> _Report:
    with contextlib.suppress(BaseException):
        function()
    return _nothing


def _nothing() -> None:
    """There is nobody to tell."""


def _outcome(function: Callable[[], Any], loop: asyncio.AbstractEventLoop, settled: asyncio.Future[Any]) -> _Report:
    """Run it, and give back what tells the loop about it."""
    try:
        tell = partial(_settle, settled, settled.set_result, function())
    except (
        BaseException
    ) as error:  # whatever it is, it is the function's, and meant for neither this thread nor the loop
        tell = partial(_settle, settled, settled.set_exception, _as_exception(error))
    return partial(_tell, loop, tell)


def _as_exception(error: BaseException) -> Exception:
    # a future refuses StopIteration, and an event loop lets itself be stopped by the ones that are no Exception
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    translated = RuntimeError(f"the function ended with {type(error).__name__}")
    translated.__cause__ = error
    return translated


def _settle(settled: asyncio.Future[Any], how: Callable[[Any], None], outcome: Any) -> None:
    if not settled.done():
        how(outcome)


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:
        if not loop.is_closed():  # closed: whoever asked is long gone
            raise


class _Thread(threading.Thread):
    """Does one thing after another, and leaves when there has been nothing for a while."""

    def __init__(self) -> None:
        super().__init__(name="codemodekit function", daemon=True)  # or the interpreter would wait for it at its exit
        self._jobs: queue.SimpleQueue[Callable[[], _Report]] = queue.SimpleQueue()

    def give(self, job: Callable[[], _Report]) -> None:
        self._jobs.put(job)

    def run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                if _let_go(self):
                    return
                continue  # it was taken in the last moment, so a job is on its way
            report = job()
            _put_back(self)  # before the report: whoever asks next shall find it
            report()
            del job, report  # and with them what the caller's context holds


_idle: list[_Thread] = []
_lock = threading.Lock()


def _a_thread() -> _Thread:
    with _lock:
        if _idle:
            return _idle.pop()
    thread = _Thread()
    thread.start()
    return thread


def _put_back(thread: _Thread) -> None:
    with _lock:
        _idle.append(thread)


def _let_go(thread: _Thread) -> bool:
    with _lock:
        if thread not in _idle:
            return False
        _idle.remove(thread)
        return True


def _after_fork() -> None:
    """A forked process has the list but none of the threads."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
