"""A short soak leaks nothing, and a soak with a leak in it says so."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.soak.readings import MEMORY, Reading, judge, memory_mib
from tests.soak.soak import soak

pytestmark = [pytest.mark.anyio, pytest.mark.proves("house.soak")]

needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here to read")


@needs_proc
@pytest.mark.slow
async def test_mixed_runs_with_faults_leak_nothing() -> None:
    report = await soak(600, 100.0, rounds=5)

    assert report.unexpected == []
    assert report.runs == 600
    # So short a time is no plateau of memory yet; that is for `make soak`.
    assert [verdict for verdict in report.verdicts if verdict.leaks and verdict.what != MEMORY] == []
    assert [verdict for verdict in report.after_closing if verdict.leaks] == []
    assert {"upstream killed", "provider hung up", "client cancelled", "CodeMode opened and closed"} <= set(
        report.faults
    )


@pytest.fixture
def leaking() -> Iterator[dict[str, Callable[[], Any]]]:
    """Ways to leak, which are mended at the end."""
    kept: list[Any] = []
    # A share of what this process holds already: after thousands of other tests that is a lot.
    memory = max(20 << 20, int(memory_mib() * (1 << 20) * 0.1))
    ending = threading.Event()
    with ExitStack() as stack:

        def thread() -> None:
            started = threading.Thread(target=ending.wait)
            started.start()
            stack.callback(started.join)

        def child() -> None:
            process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            stack.callback(process.wait)
            stack.callback(process.communicate)

        stack.callback(ending.set)
        yield {
            "threads": thread,
            "children": child,
            "handles": lambda: stack.enter_context(Path(__file__).open(encoding="utf-8")),
            "tasks": lambda: kept.append(asyncio.ensure_future(asyncio.sleep(60))),
            MEMORY: lambda: kept.append(bytearray(b"x" * memory)),
        }
        for each in kept:
            if isinstance(each, asyncio.Future):
                each.cancel()
        ending.set()


@needs_proc
@pytest.mark.slow
async def test_a_leak_in_every_round_is_found(
    leaking: dict[str, Callable[[], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.soak.soak._SETTLE_SECONDS", 0.2)

    report = await soak(
        40, 100.0, rounds=5, with_child=False, on_round=lambda _done, _of: [leak() for leak in leaking.values()]
    )

    assert leaking.keys() <= {verdict.what for verdict in report.verdicts if verdict.leaks}
    assert not report.passed


def test_memory_may_grow_by_a_tenth_and_nothing_else_by_anything() -> None:
    before = Reading(memory_mib=100.0, threads=5, children=1, handles=9, tasks=3, pending=0)
    more = Reading(memory_mib=109.0, threads=5, children=1, handles=8, tasks=3, pending=0)
    too_much = Reading(memory_mib=111.0, threads=6, children=2, handles=10, tasks=4, pending=1)

    assert [verdict.what for verdict in judge([before], [more, too_much, more]) if verdict.leaks] == []
    assert all(verdict.leaks for verdict in judge([before], [too_much]))
