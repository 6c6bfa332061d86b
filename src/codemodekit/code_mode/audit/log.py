"""Audit lines on their way to the file: taken without waiting, redacted and written in a thread of the log's own.

Nothing that goes wrong here reaches a run: a line that cannot be redacted is written without what it says of the run's
affairs, lines that cannot be written are counted, and the next that can be are preceded by one that says so.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from codemodekit._json import encode_ascii, loads
from codemodekit.code_mode.audit.file import AuditFile
from codemodekit.errors import ConfigurationError
from codemodekit.providers.threads import in_thread, start_in_thread

__all__ = ["AuditHealth", "AuditLog", "Redact"]

_log = logging.getLogger("codemodekit.audit")

Redact: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""From a line that is about to be written to what is written instead. Called in the log's thread, line by line."""

_Line: TypeAlias = tuple[dict[str, Any], str | None]
_Lines: TypeAlias = "queue.SimpleQueue[_Line | None]"

_MOST_LINES: Final = 10_000
_MOST_WEIGHT: Final = 32 * 1024 * 1024
"""Lines, and bytes of arguments, that may wait for the thread."""
_BATCH: Final = 500
_GATHER_S: Final = 0.005
"""How long lines are gathered into one write: each wakes the thread and is written under a lock."""
_LONGEST_LINE: Final = 256 * 1024
_END_S: Final = 5.0
"""How long closing waits for what is still to be written."""
_UNREDACTED: Final = ("time", "event", "executionId", "callId", "source", "tool", "status", "code", "effect", "allowed")
"""What is left of a line whose redaction failed."""


@dataclass(frozen=True, slots=True)
class AuditHealth:
    """How the audit log is doing."""

    file: str
    written: int
    """Lines in the file, or in those it was rotated to."""
    lost: int
    """Lines that were not written: no room on the disk, or more than could be taken."""
    unredacted: int
    """Lines whose redaction failed; they were written with names and outcomes alone."""
    last_error: str | None
    """Why lines were lost or redaction failed, the last time."""

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "file": self.file,
            "written": self.written,
            "lost": self.lost,
            "unredacted": self.unredacted,
        }
        return wire if self.last_error is None else {**wire, "lastError": self.last_error}


class AuditLog:
    """One JSON line for each decision, call and run, appended to a file that only its owner may read.

    Args:
        path: the file. Several processes may append to it. Missing folders are made.
        redact: what is to be written instead of each line.
        arguments: write the arguments of calls too; only with `redact`.
        max_bytes: size at which the file is rotated.
        keep: how many rotated files are kept.

    Raises:
        ConfigurationError: a setting that cannot work.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redact: Redact | None = None,
        arguments: bool = False,
        max_bytes: int = 64 * 1024 * 1024,
        keep: int = 5,
    ) -> None:
        _check_redaction(redact, arguments)
        _check_positive("max_bytes", max_bytes)
        _check_positive("keep", keep)
        self.arguments = arguments
        """Whether lines are to have the arguments of calls."""
        self._path = _path(path)
        self._redact = redact
        self._new_file = partial(AuditFile, self._path, most_bytes=max_bytes, keep=keep)
        self._lock = threading.Lock()
        self._lines: _Lines = queue.SimpleQueue()
        self._waiting = self._weight = 0
        self._written = self._lost = self._unredacted = self._untold = 0
        self._last_error: str | None = None
        self._failing = self._complained = False
        self._users = 0
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"AuditLog({str(self._path)!r})"

    def health(self) -> AuditHealth:
        """What was written and what was lost so far."""
        with self._lock:
            return AuditHealth(str(self._path), self._written, self._lost, self._unredacted, self._last_error)

    def check(self) -> None:
        """Make sure that the file can be written.

        Raises:
            ConfigurationError: it cannot.
        """
        file = self._new_file()
        try:
            file.open()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ConfigurationError(f"the audit log {str(self._path)!r} cannot be written: {why}") from error
        finally:
            file.close()

    def open(self) -> None:
        """Begin to take lines. A log may serve several hosts: it is closed when the last one leaves it.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        self.check()
        self._users += 1
        if self._thread is None:
            # of its own, for a thread that was left to itself may still hold the ones before
            self._lines = queue.SimpleQueue()
            arguments = (self._lines, self._new_file())
            self._thread = threading.Thread(target=self._run, args=arguments, name="codemodekit audit", daemon=True)
            self._thread.start()

    def write(self, line: dict[str, Any], *, arguments: str | None = None) -> None:
        """Take a line, and the arguments it is to have as JSON; returns at once and never raises."""
        weight = len(arguments or "")
        with self._lock:
            if self._waiting >= _MOST_LINES or (self._waiting and self._weight + weight > _MOST_WEIGHT):
                self._count_lost(1, "lines came faster than they could be written")
                return
            self._waiting += 1
            self._weight += weight
        self._lines.put((line, arguments))

    async def aclose(self) -> None:
        """Write what was taken, within a bound, and close the file."""
        self._users -= 1
        thread = self._thread
        if self._users > 0 or thread is None:
            return
        self._thread = None
        self._lines.put(None)
        await in_thread(thread.join, _END_S)
        with self._lock:
            left, self._waiting, self._weight = self._waiting, 0, 0
            if left:
                self._count_lost(left, "they were still waiting at the end")

    # --- in the thread ------------------------------------------------------------------------------------------

    def _run(self, lines: _Lines, file: AuditFile) -> None:
        ending = False
        while not ending:
            batch, ending = _take(lines)
            if batch:
                self._append(file, batch)
        file.close()

    def _append(self, file: AuditFile, batch: list[_Line]) -> None:
        data = b"".join(self._encoded(line, arguments) for line, arguments in batch)
        why: str | None = None
        with self._lock:
            untold = self._untold
        try:
            file.append(_gap(untold) + data)
        except Exception as error:
            why = getattr(error, "strerror", None) or str(error)
        with self._lock:
            self._waiting -= len(batch)
            self._weight -= sum(len(arguments or "") for _, arguments in batch)
            if why is not None:
                self._count_lost(len(batch), why)
                return
            self._written += len(batch)
            self._untold -= untold
            self._failing = False

    def _encoded(self, line: dict[str, Any], arguments: str | None) -> bytes:
        try:
            whole = line if arguments is None else {**line, "arguments": loads(arguments)}
            said = whole if self._redact is None else dict(self._redact(dict(whole)))
            text = encode_ascii(said)
            if len(text) > _LONGEST_LINE:
                raise ValueError(f"the line is longer than {_LONGEST_LINE} bytes")
        except BaseException as error:  # whatever the host's function does
            with self._lock:
                self._unredacted += 1
                self._last_error = f"redaction failed with {type(error).__name__}"
                if not self._complained:
                    self._complained = True
                    self._complain(self._last_error)
            text = encode_ascii({**{key: line[key] for key in _UNREDACTED if key in line}, "redaction": "failed"})
        return text + b"\n"

    def _count_lost(self, lines: int, why: str) -> None:
        """The lock is held."""
        self._lost += lines
        self._untold += lines
        self._last_error = why
        if not self._failing:  # said once, until it works again
            self._failing = True
            self._complain(why)

    def _complain(self, why: str) -> None:
        # in a thread: a handler of the host's may itself have nowhere to write to
        start_in_thread(lambda: _log.warning("the audit log %s is not whole: %s", self._path.name, why))


def _gap(lines: int) -> bytes:
    """A line about the lines that are missing before the next one."""
    return encode_ascii({"time": now(), "event": "gap", "lines": lines}) + b"\n" if lines else b""


def _take(lines: _Lines) -> tuple[list[_Line], bool]:
    """What there is to be written, waiting for the first; and whether that was all."""
    batch: list[_Line] = []
    while (found := lines.get()) is not None:
        if not batch:
            time.sleep(_GATHER_S)
        batch.append(found)
        if len(batch) >= _BATCH or lines.empty():
            return batch, False
    return batch, True


def now() -> str:
    """This moment, in UTC to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _check_redaction(redact: object, arguments: bool) -> None:
    if arguments and redact is None:
        raise ConfigurationError("an audit log with arguments needs a 'redact' function, for they hold secrets")
    if redact is not None and not callable(redact):
        raise ConfigurationError(f"'redact' of an audit log must be a function, not {redact!r}")


def _check_positive(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name!r} of an audit log must be a positive integer, not {value!r}")


def _path(path: str | os.PathLike[str]) -> Path:
    try:
        text: object = os.fspath(path)
    except TypeError as error:
        raise ConfigurationError(f"the path of an audit log must be text, not {path!r}") from error
    if not isinstance(text, str) or not text or "\0" in text:
        raise ConfigurationError(f"{text!r} is not the name of a file")
    return Path(text)
