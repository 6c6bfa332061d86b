"""The process's standard input and output, taken for a protocol: lines that can be ended from outside, and an output
that nobody else can write to.

A read from a terminal or pipe cannot be cancelled, nor can a write to a pipe that nobody empties, and a thread that
sits in one keeps the process alive. So one daemon thread reads raw bytes and another one writes them. Whoever wants to
stop says so to the queue behind the reader: a signal, or a client that has gone, then ends a server the same way as a
client that closes the pipe.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Final

__all__ = ["MAX_LINE_BYTES", "InputLines", "ProtocolOutput", "standard_streams"]

_log = logging.getLogger(__name__)

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
_CHUNK: Final = 64 * 1024
_LAST_WORDS_S: Final = 1.0
"""How long a client has at the end to take what was written for it."""


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
                yield _text(pending) + "\n"
            pending.clear()
        pending += rest
        if len(pending) > MAX_LINE_BYTES:
            _log.error("a message is longer than %d bytes; the connection ends", MAX_LINE_BYTES)
            return
    if pending.strip():
        yield _text(pending) + "\n"


def _text(line: bytearray) -> str:
    text = line.decode("utf-8", "replace")
    # An escaped half of a surrogate pair is good JSON, and JavaScript clients send it. The SDK's parser refuses the
    # whole message, and then its sender never gets an answer.
    return _with_whole_characters(text) if "\\ud" in text or "\\uD" in text else text


def _with_whole_characters(text: str) -> str:
    try:
        plain = json.dumps(json.loads(text), ensure_ascii=False)
        plain.encode()
    except UnicodeEncodeError:
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    except (ValueError, RecursionError):
        return text  # not JSON at all: the SDK has words for that
    return text


class ProtocolOutput:
    """Text to a file descriptor, in the order it comes; one writer at a time. When its reader has gone it says so once,
    and lets the rest fall."""

    def __init__(self, descriptor: int, on_reader_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_reader_gone = on_reader_gone
        self._texts: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._taken = threading.Event()
        self._taken.set()
        self._gone = False
        threading.Thread(target=self._write, name="codemodekit stdout", daemon=True).start()

    def write(self, text: str) -> int:
        """Write all of it; complete when it returns, unless the reader has gone or is no longer waited for."""
        with self._lock:
            if self._gone:
                return len(text)
            self._taken.clear()
            self._texts.put(text.encode())
        self._taken.wait()
        return len(text)

    def flush(self) -> None:
        """Nothing waits in a buffer."""

    def end(self) -> bool:
        """Let go of a writer whose text nobody takes, after a moment; whether all was taken."""
        taken = self._taken.wait(_LAST_WORDS_S)
        with self._lock:
            self._gone = True
            self._texts.put(None)
            self._taken.set()
        return taken

    def _write(self) -> None:
        while (data := self._texts.get()) is not None:
            rest = memoryview(data)
            try:
                while rest and not self._gone:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                self._gone = True
                _log.warning("the client no longer reads: %s", error.strerror)
                self._on_reader_gone()
            self._taken.set()


@contextmanager
def standard_streams() -> Iterator[tuple[InputLines, ProtocolOutput]]:
    """Take both streams for ourselves. Meanwhile everybody else, children included, reads an empty file, and what they
    print goes to standard error."""
    private_in, private_out = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(empty, 1)
    os.close(empty)
    lines = InputLines(private_in)
    output = ProtocolOutput(private_out, lines.end)
    try:
        with _prints_to_stderr():
            yield lines, output
    finally:
        lines.end()
        taken = output.end()
        # the private input stays open: its thread may still sit in a read
        with suppress(OSError):
            os.dup2(private_in, 0)
            os.dup2(private_out, 1)
        if taken:
            os.close(private_out)


@contextmanager
def _prints_to_stderr() -> Iterator[None]:
    # Moving the descriptor is not enough: what is printed waits in the buffer of sys.stdout, and would be flushed into
    # the stream once the descriptor is back.
    before = sys.stdout
    with redirect_stdout(sys.stderr):
        try:
            yield
        finally:
            before.flush()
