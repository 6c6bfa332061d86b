"""SIGINT and SIGTERM as a request to end in order: what is open is closed, children included."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["on_signal"]


@contextmanager
def on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first SIGINT or SIGTERM; the next one acts as if we were not here."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers; whoever serves from another one owns the signals
        return
    before: Mapping[signal.Signals, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle(_number: int, _frame: object) -> None:
        restore()
        stop()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
