"""What must be known of the machine to compare two results; nothing that names it or its owner."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["facts", "peer_is_installed"]

_PACKAGES = ("codemodekit", "wasmtime", "mcp", "jsonschema-rs", "fastmcp", "pydantic-monty")


def facts() -> dict[str, Any]:
    """Processor, system, Python, versions, and how busy the machine is before we begin."""
    return {
        "cores": os.cpu_count(),
        "usableCores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": _processor(),
        "memoryGiB": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "loadBefore": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def peer_is_installed() -> bool:
    """Whether FastMCP and its code mode are here."""
    return all(_version(name) is not None for name in ("fastmcp", "pydantic-monty"))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None
