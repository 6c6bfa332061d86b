"""Compiled machine code is used only where nobody else could have put it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from codemodekit.errors import SandboxError
from codemodekit.sandboxes.quickjs import module_cache

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file modes are POSIX's")

EMPTY_MODULE = b"\x00asm\x01\x00\x00\x00"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEMODEKIT_CACHE", str(tmp_path))
    return tmp_path / "modules"


def only_file(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


@pytest.mark.proves("sandbox.module-cache")
def test_the_second_load_comes_from_the_cache(cache: Path) -> None:
    assert not module_cache.load(EMPTY_MODULE).from_cache
    assert module_cache.load(EMPTY_MODULE).from_cache
    assert only_file(cache).suffix == ".cwasm"


@pytest.mark.proves("sandbox.module-cache")
def test_another_guest_has_another_file(cache: Path) -> None:
    module_cache.load(EMPTY_MODULE)
    other = EMPTY_MODULE + b"\x00\x02\x01x"  # a custom section
    assert not module_cache.load(other).from_cache
    assert len(list(cache.iterdir())) == 2


@pytest.mark.proves("sandbox.module-cache")
def test_another_version_of_the_engine_has_another_file(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module_cache.load(EMPTY_MODULE)
    monkeypatch.setattr(module_cache, "version", lambda _name: "0.0.0")
    assert not module_cache.load(EMPTY_MODULE).from_cache


@pytest.mark.proves("sandbox.module-cache")
def test_a_damaged_file_is_compiled_again(cache: Path) -> None:
    module_cache.load(EMPTY_MODULE)
    file = only_file(cache)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert not module_cache.load(EMPTY_MODULE).from_cache
    assert module_cache.load(EMPTY_MODULE).from_cache


@pytest.mark.proves("sandbox.module-cache")
@posix
def test_folder_and_file_are_for_this_user_alone(cache: Path) -> None:
    module_cache.load(EMPTY_MODULE)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(cache).stat().st_mode) == 0o600


@pytest.mark.proves("sandbox.module-cache")
@posix
def test_a_file_that_others_can_write_is_not_used(cache: Path) -> None:
    module_cache.load(EMPTY_MODULE)
    only_file(cache).chmod(0o666)
    assert not module_cache.load(EMPTY_MODULE).from_cache


@pytest.mark.proves("sandbox.module-cache")
@posix
def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    module_cache.load(EMPTY_MODULE)
    file = only_file(cache)
    moved = tmp_path / "moved"
    file.rename(moved)
    file.symlink_to(moved)
    assert not module_cache.load(EMPTY_MODULE).from_cache


@pytest.mark.proves("sandbox.module-cache")
@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_left_alone(cache: Path) -> None:
    cache.mkdir()
    os.chown(cache, 12345, 12345)
    assert not module_cache.load(EMPTY_MODULE).from_cache
    assert not module_cache.load(EMPTY_MODULE).from_cache
    assert list(cache.iterdir()) == []


@pytest.mark.proves("sandbox.module-cache")
def test_a_cache_that_cannot_be_made_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("CODEMODEKIT_CACHE", str(tmp_path / "file"))
    assert not module_cache.load(EMPTY_MODULE).from_cache


@pytest.mark.proves("sandbox.guest-build")
def test_an_altered_guest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_cache, "guest_facts", lambda: {"sha256": "0" * 64})
    with pytest.raises(SandboxError, match="altered"):
        module_cache.guest_bytes()


@pytest.mark.proves("sandbox.guest-build")
def test_a_missing_guest_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module_cache, "files", lambda _package: tmp_path)
    with pytest.raises(SandboxError, match="make guest"):
        module_cache.guest_bytes()
