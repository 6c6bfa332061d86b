"""Paths of a package: where they lead, and that they lead nowhere outside.

Everything is decided on resolved paths, after links, `..` and the like; what only looks like a way out on another
system (a drive letter, a backslash) is refused on all of them.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Final

from codemodekit.providers.agent_plugin.faults import Fault, shown

__all__ = ["inside", "read_file", "relative"]

_DRIVE: Final = re.compile(r"[A-Za-z]:")
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # the path has been resolved: a link that is there now was put there since
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer
    | getattr(os, "O_BINARY", 0)
)


def relative(what: str, text: str) -> str:
    """The part of a `./` path behind that.

    Raises:
        Fault: it is not of that form, or would mean another place on another system.
    """
    if not text.startswith("./"):
        raise Fault(f"{what} {shown(text)} must begin with './'")
    if "\\" in text or any(_DRIVE.match(part) for part in text.split("/")):
        raise Fault(f"{what} {shown(text)} must have '/' between its parts, and no drive letter")
    return text.removeprefix("./")


def inside(what: str, base: Path, *parts: str) -> Path:
    """The path below `base`, which is resolved, with `parts` added; it need not exist.

    Raises:
        Fault: it leads outside of `base`, or nowhere.
    """
    path = Path(base, *(part.lstrip("/") for part in parts))
    try:
        resolved = path.resolve()
        path.stat()
    except (RuntimeError, ValueError) as error:
        raise Fault(f"{what} cannot be resolved") from error
    except OSError as error:  # that it is not there is found when it is needed
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise Fault(f"{what} cannot be resolved") from error
        resolved = path.resolve()
    if resolved != base and base not in resolved.parents:
        raise Fault(f"{what} leads out of the folder it must stay in")
    return path


def read_file(root: Path, name: str, most: int) -> bytes | None:
    """A file at the top of a package; None when there is none of exactly this name.

    Raises:
        Fault: it is no plain file inside of `root`, is larger than `most` bytes, or cannot be read.
    """
    try:
        with os.scandir(root) as entries:
            if not any(entry.name == name for entry in entries):  # some systems would take PLUGIN.JSON for it
                return None
        descriptor = os.open(inside("it", root, name).resolve(strict=True), _FLAGS)
    except (OSError, RuntimeError) as error:
        raise Fault(f"cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Fault("is not a plain file")
        data = _read(descriptor, most + 1)
    except OSError as error:
        raise Fault(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Fault(f"is larger than {most} bytes")
    return data


def _read(descriptor: int, most: int) -> bytes:
    data = bytearray()
    while len(data) < most and (chunk := os.read(descriptor, most - len(data))):
        data += chunk
    return bytes(data)
