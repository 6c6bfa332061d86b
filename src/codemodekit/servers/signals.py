"""SIGINT, SIGTERM and SIGHUP as a request to end in order: what is open is closed, children included."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["on_signal"]

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_MOST: Final = 2
"""Signals that are taken. Ctrl-C reaches a server and its client, and the client's SIGTERM then follows at once: dying
of the second one would leave the children behind. Ending is bounded anyway; who cannot wait sends a third."""


@contextmanager
def on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first signal and pass over a second one; the next acts as if we were not here."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers; whoever serves from another one owns the signals
        return
    before: Mapping[signal.Signals, Any] = {number: signal.getsignal(number) for number in _signals()}
    taken = 0

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle(_number: int, _frame: object) -> None:
        nonlocal taken
        taken += 1
        if taken == _MOST:
            restore()
        if taken == 1:
            stop()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()


def _signals() -> Iterator[signal.Signals]:
    for name in _NAMES:
        number: signal.Signals | None = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            continue  # ignored: started with nohup, to outlive its terminal
        yield number
