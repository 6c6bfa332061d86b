"""Several processes behind one address: each serves by itself, one that dies is replaced, all end together.

The parent listens and answers nothing; the system deals connections out among the workers.
"""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Final

from codemodekit.servers.signals import on_signal

__all__ = ["Work", "run_workers"]

Work = Callable[[socket.socket, Callable[[], None]], None]
"""What a worker does with the listening socket until it is told to end, calling the function once it serves; has to be
picklable."""

_POLL_S: Final = 0.2


def run_workers(work: Work, listening: socket.socket, count: int) -> int:
    """Keep `count` workers until a signal; the exit code.

    One that ends before it serves would do so again: then all end, with 1.
    """
    # a fresh interpreter each: threads and an event loop do not survive a fork
    context = multiprocessing.get_context("spawn")
    told = False

    def stop() -> None:
        nonlocal told
        told = True

    def begin() -> tuple[BaseProcess, Event]:
        serves = context.Event()
        worker = context.Process(target=work, args=(listening, serves.set))
        worker.start()
        return worker, serves

    with on_signal(stop):
        workers = [begin() for _ in range(count)]
        failed = False
        while not told and not failed:
            wait([worker.sentinel for worker, _ in workers], timeout=_POLL_S)
            for index, (worker, serves) in enumerate(workers):
                if worker.is_alive() or told:
                    continue
                if not serves.is_set():
                    failed = True
                    break
                workers[index] = begin()
        for worker, _ in workers:
            worker.terminate()
        for worker, _ in workers:
            worker.join()
    return 1 if failed else 0
