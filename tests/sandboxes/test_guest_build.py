"""The guest as a build product: reproducible by hash, reused by hash, and clear about what it lacks."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from codemodekit.sandboxes.quickjs import module_cache

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "src/codemodekit/sandboxes/quickjs/guest/build.py"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build script, with a cache of its own that holds nothing."""
    monkeypatch.setenv("CODEMODEKIT_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CODEMODEKIT_ACCEPT_GUEST", raising=False)
    spec = importlib.util.spec_from_file_location("guest_build_under_test", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def place(folder: Path, data: bytes, **facts: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    wasm = folder / "guest.wasm"
    wasm.write_bytes(data)
    made = {"key": "?", "sha256": hashlib.sha256(data).hexdigest(), **facts}
    wasm.with_suffix(".json").write_text(json.dumps(made), encoding="utf-8")
    return wasm


@pytest.mark.proves("sandbox.guest-build")
def test_the_guest_in_use_is_the_one_that_is_committed_by_hash() -> None:
    expected = json.loads((SCRIPT.parent / "expected.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(module_cache.guest_bytes()).hexdigest() == expected["sha256"]


@pytest.mark.proves("sandbox.guest-build")
def test_the_guest_is_made_of_what_lies_in_the_folder(build: ModuleType) -> None:
    assert module_cache.guest_facts()["key"] == build.key()


@pytest.mark.proves("sandbox.guest-build")
def test_a_second_build_takes_the_first_from_the_cache(build: ModuleType, tmp_path: Path) -> None:
    data = module_cache.guest_bytes()
    place(tmp_path / "cache" / build.key(), data, key=build.key())
    assert build.ensure(tmp_path / "elsewhere" / "guest.wasm").read_bytes() == data


@pytest.mark.proves("sandbox.guest-build")
def test_a_damaged_cache_is_not_used(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place(tmp_path / "cache" / build.key(), b"other", key=build.key(), sha256="0" * 64)
    monkeypatch.setattr(build, "make", lambda folder, wanted: place(folder, module_cache.guest_bytes(), key=wanted))
    assert build.ensure(tmp_path / "guest.wasm").read_bytes() == module_cache.guest_bytes()


@pytest.mark.proves("sandbox.guest-build")
def test_a_result_that_is_not_the_expected_one_is_refused(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "make", lambda folder, wanted: place(folder, b"surprise", key=wanted))
    target = tmp_path / "guest.wasm"
    with pytest.raises(build.GuestBuildError, match="is not the one this version expects"):
        build.ensure(target)
    assert not target.exists()


@pytest.mark.proves("sandbox.guest-build")
def test_an_index_that_cannot_be_reached_is_said_in_one_message(tmp_path: Path) -> None:
    unreachable = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    copy = tmp_path / "quickjs" / "guest"
    shutil.copytree(SCRIPT.parent, copy)
    done = subprocess.run(
        [sys.executable, str(copy / "build.py")],
        env={**os.environ, **unreachable, "CODEMODEKIT_BUILD_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 1
    assert "The package index is needed once" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.proves("house.installs")
@pytest.mark.slow
def test_the_wheel_carries_the_guest(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=110)
    (wheel,) = tmp_path.glob("codemodekit-*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read("codemodekit/sandboxes/quickjs/guest.wasm")
        facts = json.loads(archive.read("codemodekit/sandboxes/quickjs/guest.json"))
    assert hashlib.sha256(data).hexdigest() == facts["sha256"] == module_cache.guest_facts()["sha256"]


@pytest.mark.proves("sandbox.guest-build")
def test_an_engine_that_the_edits_are_not_made_for_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    engine = tmp_path / "quickjs.c"
    engine.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    script = SCRIPT.with_name("engine_edits.py")
    done = subprocess.run([sys.executable, script, engine], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "does not fit this version of the engine" in done.stderr
    assert engine.read_text(encoding="utf-8") == "int main(void) { return 0; }\n"
