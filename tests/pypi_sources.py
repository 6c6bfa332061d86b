"""Source distributions of PyPI for tests: fetched once a version into the user's cache; none of their code is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import platformdirs
import pytest

__all__ = ["unpacked"]

_FETCH_SECONDS: Final = 90
_GUEST: Final = Path(__file__).resolve().parent.parent / "src" / "codemodekit" / "sandboxes" / "quickjs" / "guest"
_NO_BACKEND: Final = _GUEST / "setuptools_stub" / "setuptools" / "build_meta.py"
"""Answers pip, which asks for metadata before it hands out an archive, from the archive's PKG-INFO."""


def unpacked(package: str, version: str, sha256: str, folder: str, *, backend: str) -> Path:
    """What the folder `folder` holds in the source distribution of `package`, whose archive has the hash `sha256`.

    `backend` is the module that the distribution is built with; it is neither fetched nor run. Fails the test where the
    archive cannot be had.
    """
    home = Path(platformdirs.user_cache_dir("codemodekit-tests")) / f"{package}-{version}-{sha256[:12]}"
    if not home.exists():
        with tempfile.TemporaryDirectory(prefix="codemodekit-sdist-") as scratch:
            archive = _fetched(f"{package}=={version} --hash=sha256:{sha256}", package, Path(scratch), backend)
            _unpack(archive, folder, home)
    return home


def _fetched(requirement: str, package: str, scratch: Path, backend: str) -> Path:
    lock, stub = scratch / "lock.txt", scratch.joinpath("stub", *backend.split(".")).with_suffix(".py")
    stub.parent.mkdir(parents=True)
    shutil.copyfile(_NO_BACKEND, stub)
    lock.write_text(requirement + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--no-deps"]
    command += ["--no-build-isolation", "--no-binary", package, "--require-hashes", "-r", str(lock), "-d", str(scratch)]
    environment = {**os.environ, "PYTHONPATH": str(scratch / "stub")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False, env=environment
        )
        said = done.stderr.strip()[-600:]
    except subprocess.TimeoutExpired:
        said = f"no answer within {_FETCH_SECONDS} s"
    found = list(scratch.glob("*.tar.gz"))
    if not found:
        pytest.fail(
            f"this test needs the source distribution {requirement.split()[0]} from the package index, once; later "
            f"runs find it in {platformdirs.user_cache_dir('codemodekit-tests')}. pip says: {said}",
            pytrace=False,
        )
    return found[0]


def _unpack(archive: Path, folder: str, home: Path) -> None:
    root = f"{archive.name.removesuffix('.tar.gz')}/{folder}/"
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch, tarfile.open(archive) as tar:
        members = [one for one in tar.getmembers() if one.name.startswith(root)]
        tar.extractall(scratch, members=members, filter="data")
        if not home.exists():  # whole or not at all: another process may look
            Path(scratch, root).replace(home)
