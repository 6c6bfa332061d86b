"""The process's standard input as lines that can be ended from outside.

A read from a terminal or pipe cannot be cancelled, and a thread that sits in one keeps the process alive. So one daemon
thread reads raw bytes, and whoever wants to stop says so to the queue behind it: a signal then ends a server the same
way as its client does by closing the pipe.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

__all__ = ["MAX_LINE_BYTES", "InputLines", "standard_input"]

_log = logging.getLogger(__name__)

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
_CHUNK: Final = 64 * 1024


class InputLines:
    """Lines of a file descriptor, read one by one."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # SimpleQueue.put may be called from a signal handler, Queue.put may not
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ended = False
        threading.Thread(target=self._read, name="codemodekit stdin", daemon=True).start()

    def readline(self, _size: int = -1) -> str:
        """The next line with its newline; empty for ever after the end."""
        if self._ended:
            return ""
        line = self._lines.get()
        self._ended = not line
        return line

    def end(self) -> None:
        """Let the reader see the end after the lines that have arrived. Safe in threads and signal handlers."""
        self._lines.put("")

    def _read(self) -> None:
        try:
            for line in _lines(self._descriptor):
                self._lines.put(line)
        except OSError as error:
            _log.warning("standard input failed: %s", error.strerror)
        finally:
            self.end()


def _lines(descriptor: int) -> Iterator[str]:
    pending = bytearray()
    while chunk := os.read(descriptor, _CHUNK):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            pending += part
            if pending.strip():
                yield pending.decode("utf-8", "replace") + "\n"
            pending.clear()
        pending += rest
        if len(pending) > MAX_LINE_BYTES:
            _log.error("a message is longer than %d bytes; the connection ends", MAX_LINE_BYTES)
            return
    if pending.strip():
        yield pending.decode("utf-8", "replace") + "\n"


@contextmanager
def standard_input() -> Iterator[InputLines]:
    """Take standard input for ourselves; meanwhile everybody else, children included, reads an empty file."""
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    lines = InputLines(private)
    try:
        yield lines
    finally:
        lines.end()
        # the private descriptor stays open: the thread may still read from it
        with suppress(OSError):
            os.dup2(private, 0)
