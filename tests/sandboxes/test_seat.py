"""Sharing a processor lasts until the loop's next turn, and never outlives it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from codemodekit.sandboxes.quickjs.seat import Seat

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two processors"
    ),
]


async def test_two_threads_share_a_processor_until_the_next_turn() -> None:
    started, done = threading.Event(), threading.Event()
    ids: list[int] = []

    def wait() -> None:
        ids.append(threading.get_native_id())
        started.set()
        done.wait(5)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        assert started.wait(5)
        everywhere = os.sched_getaffinity(0)
        seat = Seat(asyncio.get_running_loop())
        seat.share(ids[0])
        seat.share(ids[0])
        here = os.sched_getaffinity(0)
        assert len(here) == 1
        assert os.sched_getaffinity(ids[0]) == here
        await asyncio.sleep(0)
        assert os.sched_getaffinity(0) == everywhere
        assert os.sched_getaffinity(ids[0]) == everywhere
    finally:
        done.set()
        thread.join()


async def test_a_thread_that_is_gone_changes_nothing() -> None:
    everywhere = os.sched_getaffinity(0)
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert thread.native_id is not None
    seat = Seat(asyncio.get_running_loop())
    seat.share(thread.native_id)
    seat.share(None)
    await asyncio.sleep(0)
    assert os.sched_getaffinity(0) == everywhere
