"""The guest's module, compiled to machine code once a machine and kept in the user's cache folder.

Machine code is trusted blindly by the engine, so a cached file is used only if it belongs to this user, nobody else can
write it or its folder, it is no link, and its own hash holds. Anything else means compiling again (about a second),
never an error. The name of a file carries everything the code depends on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import stat
import sys
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import platformdirs
import wasmtime

from codemodekit.errors import SandboxError
from codemodekit.sandboxes.quickjs.engine import SETTINGS, new_engine

__all__ = ["GuestModule", "cache_folder", "guest_bytes", "guest_facts", "load"]


@dataclass(frozen=True, slots=True)
class GuestModule:
    """One engine with the guest compiled for it. Bumping the engine's epoch ends the slice of whatever runs on it."""

    engine: wasmtime.Engine
    module: wasmtime.Module
    from_cache: bool


def guest_bytes() -> bytes:
    """The guest as it was built into this package.

    Raises:
        SandboxError: it is missing, or is not what the build recorded.
    """
    folder = files("codemodekit.sandboxes.quickjs")
    try:
        data = (folder / "guest.wasm").read_bytes()
        expected = guest_facts()["sha256"]
    except (OSError, KeyError, ValueError) as error:
        raise SandboxError(
            "the sandbox's guest module is missing from this installation; "
            "install the wheel, or run `make guest` in a checkout"
        ) from error
    if hashlib.sha256(data).hexdigest() != expected:
        raise SandboxError("the sandbox's guest module was altered after it was built; install the package again")
    return data


def guest_facts() -> dict[str, Any]:
    """How the guest was made: its hash, sources, compiler and flags. Raises OSError or ValueError if it is missing."""
    text = (files("codemodekit.sandboxes.quickjs") / "guest.json").read_text(encoding="utf-8")
    facts: dict[str, Any] = json.loads(text)
    return facts


def load(wasm: bytes) -> GuestModule:
    """The guest on an engine of its own, from the cache where it can be trusted."""
    engine = new_engine()
    path = _path(wasm)
    if path is not None:
        with contextlib.suppress(OSError, ValueError, wasmtime.WasmtimeError):
            return GuestModule(engine, wasmtime.Module.deserialize(engine, _read(path)), from_cache=True)
    module = wasmtime.Module(engine, wasm)
    if path is not None:
        with contextlib.suppress(OSError):  # a full or read-only disk costs only the time saved
            _write(path, bytes(module.serialize()))
    return GuestModule(engine, module, from_cache=False)


def cache_folder() -> Path:
    """Where compiled modules are kept; `CODEMODEKIT_CACHE` names another place."""
    base = os.environ.get("CODEMODEKIT_CACHE") or platformdirs.user_cache_path("codemodekit")
    return Path(base) / "modules"


def _path(wasm: bytes) -> Path | None:
    parts = (hashlib.sha256(wasm).hexdigest(), version("wasmtime"), sys.platform, platform.machine(), SETTINGS, _cpu())
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32] + ".cwasm"
    try:
        return _own(cache_folder()) / name
    except OSError:
        return None


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    except OSError:
        return platform.processor()


def _own(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or not _ours(seen):
        raise PermissionError(f"{folder} is not this user's own folder")
    if seen.st_mode & 0o077 and hasattr(os, "geteuid"):
        folder.chmod(0o700)
    return folder


def _ours(seen: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or seen.st_uid == os.geteuid()


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or not _ours(seen) or (hasattr(os, "geteuid") and seen.st_mode & 0o077):
            raise PermissionError(f"{path} can be changed by others")
        data = file.read()
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError(f"{path} is damaged")
    return data[32:]


def _write(path: Path, code: bytes) -> None:
    part = path.with_suffix(f".{os.getpid()}.{os.urandom(4).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
