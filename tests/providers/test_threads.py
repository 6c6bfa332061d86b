"""Blocking functions in threads of their own."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from codemodekit.providers.threads import in_thread

pytestmark = [pytest.mark.anyio, pytest.mark.proves("api.local-tools")]

MANY = 40
"""More than the event loop's own threads, which are at most 32."""

STUCK = """
import asyncio, threading
from codemodekit.providers.threads import in_thread
started = threading.Event()
def stuck():
    started.set()
    threading.Event().wait()
async def main():
    task = asyncio.ensure_future(in_thread(stuck))
    await asyncio.to_thread(started.wait)
    task.cancel()
asyncio.run(main())
print("left")
"""


async def test_a_function_gives_its_value_and_sees_arguments_and_context() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    who.set("Ada")
    assert await in_thread(lambda word, *, mark: f"{word} {who.get()}{mark}", "Hello", mark="!") == "Hello Ada!"


async def test_as_many_functions_as_are_asked_for_run_at_once() -> None:
    meeting = threading.Barrier(MANY)
    assert sorted(await asyncio.gather(*(in_thread(meeting.wait, 5) for _ in range(MANY)))) == list(range(MANY))


async def test_a_thread_that_is_done_is_used_again() -> None:
    names = {await in_thread(lambda: threading.current_thread().ident) for _ in range(20)}
    assert len(names) == 1


@pytest.mark.parametrize("error", [StopIteration(1), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
async def test_what_would_end_more_than_a_function_ends_the_function_alone(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        await asyncio.wait_for(in_thread(fail), 5)


async def test_an_exception_comes_through_as_it_is() -> None:
    error = LookupError("gone")

    def fail() -> None:
        raise error

    with pytest.raises(LookupError) as caught:
        await in_thread(fail)
    assert caught.value is error


async def test_a_caller_that_is_cancelled_leaves_and_the_function_goes_on() -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        started.set()
        go_on.wait(5)
        ended.set()

    task = asyncio.ensure_future(in_thread(slow))
    assert await in_thread(started.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not ended.is_set()
    go_on.set()
    assert await in_thread(ended.wait, 5)


def test_a_function_that_never_returns_does_not_keep_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")
