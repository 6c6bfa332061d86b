"""Lines of bytes to a file that several processes append to: whole lines or nothing, private, rotated by size.

Blocking throughout; whoever calls it has a thread for that. Knows nothing of what the lines say.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

__all__ = ["AuditFile"]

_MODE: Final = 0o600
_FLAGS: Final = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # a link that somebody put there would lead our lines into a file of their choice
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its reader
    | getattr(os, "O_BINARY", 0)
)
_TRIES: Final = 100
_SHARED: Final = sys.platform != "win32"
"""Windows has no such locks, and renames no open file: there, one process writes, and nothing is rotated."""


class AuditFile:
    """Appends to one path. When a line does not fit below `most_bytes`, the file is renamed to `NAME.1`, the one before
    it to `NAME.2`, up to `keep`, and a new one is begun."""

    def __init__(self, path: Path, *, most_bytes: int, keep: int) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._keep = keep
        self._descriptor: int | None = None

    def open(self) -> None:
        """Make the file, if it is not there, and keep it open.

        Raises:
            OSError: it cannot be written, or is not ours alone to write.
        """
        if self._descriptor is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = _open(self._path)

    def append(self, lines: bytes) -> None:
        """Write these lines, all of them or none.

        Raises:
            OSError: they could not be written.
        """
        with self._alone() as descriptor:
            size = os.fstat(descriptor).st_size
            if _SHARED and size and size + len(lines) > self._most_bytes:
                self._rotate()
                self.append(lines)
                return
            try:
                _write(descriptor, _mend(descriptor, size) + lines)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise

    def close(self) -> None:
        """Twice is fine."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[int]:
        """The file at the path, while no other process writes to it."""
        for _ in range(_TRIES):
            self.open()
            descriptor = self._descriptor
            assert descriptor is not None
            _lock(descriptor)
            if not _SHARED or _is_at(descriptor, self._path):
                try:
                    yield descriptor
                finally:
                    if self._descriptor == descriptor:
                        _unlock(descriptor)
                return
            self.close()  # another process has rotated it, or somebody has moved it away
        raise OSError(f"{self._path.name} is replaced again and again")

    def _rotate(self) -> None:
        for number in range(self._keep - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._numbered(number).replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))
        self.close()  # which ends the lock as well

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


def _open(path: Path) -> int:
    descriptor = os.open(path, _FLAGS, _MODE)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path.name} is not a plain file")
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            raise PermissionError(f"{path.name} belongs to another user")
        if hasattr(os, "fchmod") and stat.S_IMODE(found.st_mode) != _MODE:
            os.fchmod(descriptor, _MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int) -> None:
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _unlock(descriptor: int) -> None:
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _mend(descriptor: int, size: int) -> bytes:
    """What ends the half line that somebody who was killed while writing has left."""
    if not _SHARED or not size or os.pread(descriptor, 1, size - 1) == b"\n":
        return b""
    return b"\n"


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
