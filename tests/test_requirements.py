"""Every promise of the list has a test, and every test names a promise of the list."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.requirements import REQUIREMENTS

pytestmark = [pytest.mark.slow, pytest.mark.proves("house.requirements")]

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""


def collected(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)


def test_every_promise_has_a_test(tmp_path: Path) -> None:
    listing = tmp_path / "proven.json"

    collection = collected(ROOT, f"--proven={listing}")

    assert collection.returncode == 0, collection.stdout + collection.stderr
    proven = json.loads(listing.read_text(encoding="utf-8"))
    assert sorted(set(REQUIREMENTS) - set(proven)) == []


@pytest.mark.parametrize(
    ("mark", "fault"),
    [
        ("", "names no requirement"),
        ("@pytest.mark.proves('api.cancle')\n", "names api.cancle, which tests/requirements.py lacks"),
        ("@pytest.mark.proves()\n", "names no requirement"),
    ],
)
def test_a_test_without_a_promise_of_the_list_is_refused(tmp_path: Path, mark: str, fault: str) -> None:
    stray = tmp_path / "test_stray.py"
    stray.write_text(f"import pytest\n\n\n{mark}def test_stray() -> None:\n    assert True\n", encoding="utf-8")

    collection = collected(
        ROOT, "-p", "tests.conftest", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), str(stray)
    )

    assert collection.returncode == 4
    assert f"test_stray: {fault}" in collection.stdout + collection.stderr
