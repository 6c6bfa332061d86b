"""Makes guest.wasm: QuickJS-NG from a hash-pinned source distribution and shim.c, compiled by zig, prelude baked in.

One path for `make guest` and for the wheel's build hook. Needs Python, pip and the package index, once: the compiler
lives in a temporary folder and is gone afterwards, and a second build finds the first in the user's cache by the hash
of everything that goes in. The result must have the hash that is committed in expected.json; `--accept` writes a new
one, for whoever changes the guest on purpose.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "guest.wasm"
EXPECTED = HERE / "expected.json"
INPUTS = (
    "build.py",
    "bake.py",
    "engine_edits.py",
    "engine_edits.txt",
    "shim.c",
    "prelude.js",
    "source.lock",
    "toolchain.lock",
    "setuptools_stub/setuptools/build_meta.py",
)
FLAGS = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-O2", "-DNDEBUG", "-D_GNU_SOURCE", "-D_WASI_EMULATED_SIGNAL"),
    *("-I.", "-Wno-everything", "-fno-sanitize=all", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576"),
)
SOURCES = ("shim.c", "quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c")
ACCEPT = "CODEMODEKIT_ACCEPT_GUEST"


class GuestBuildError(Exception):
    """The guest cannot be made here; the message says why and what to do."""


def ensure(target: Path = TARGET, *, accept: bool = False) -> Path:
    """Leave an up-to-date guest.wasm, and guest.json that says how it was made, at `target`.

    Raises:
        GuestBuildError: no compiler or index can be reached, or the result is not the committed one.
    """
    wanted = key()
    if is_fresh(target, wanted):
        say(f"up to date ({wanted[:12]})")
    elif is_fresh(cached := cache_folder() / wanted / "guest.wasm", wanted):
        say("taken from this user's build cache")
        check(cached, accept)
        copy(cached, target)
    else:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="codemodekit-guest-") as folder:
            built = make(Path(folder), wanted)
            check(built, accept)
            copy(built, target)
            try:
                copy(built, cached)
            except OSError as error:
                say(f"not kept for the next build: {error}")
        say(f"built in {time.monotonic() - started:.0f} s")
    if accept:
        EXPECTED.write_text(json.dumps({"sha256": facts(target)["sha256"]}) + "\n", encoding="utf-8")
    return target


def say(text: str) -> None:
    print(f"guest: {text}", file=sys.stderr, flush=True)


def key() -> str:
    """Hash of everything that goes in; line ends do not count."""
    digest = hashlib.sha256()
    for name in INPUTS:
        data = (HERE / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:32]


def cache_folder() -> Path:
    named = os.environ.get("CODEMODEKIT_BUILD_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(base, "codemodekit", "guest-build")


def facts(wasm: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(wasm.with_suffix(".json").read_text(encoding="utf-8"))
    return made


def is_fresh(wasm: Path, wanted: str) -> bool:
    try:
        made = facts(wasm)
        return bool(made["key"] == wanted and made["sha256"] == hashlib.sha256(wasm.read_bytes()).hexdigest())
    except (OSError, ValueError, KeyError):
        return False


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".wasm", ".json"):
        part = target.with_suffix(f"{suffix}.{os.getpid()}.part")
        shutil.copyfile(source.with_suffix(suffix), part)
        part.replace(target.with_suffix(suffix))


def check(wasm: Path, accept: bool) -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))["sha256"] if EXPECTED.exists() else None
    made = facts(wasm)["sha256"]
    if made != expected and not accept and not os.environ.get(ACCEPT):
        raise GuestBuildError(
            f"the guest that was built ({made[:16]}…) is not the one this version expects ({str(expected)[:16]}…). "
            f"If its sources were changed on purpose, run `python {HERE.name}/build.py --accept`; "
            f"to use it as it is, set {ACCEPT}=1."
        )


def run(what: str, *command: object, cwd: Path | None = None, **environment: str) -> None:
    say(what)
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-8:])
        raise GuestBuildError(
            f"{what} failed (exit {done.returncode}). The package index is needed once, for the QuickJS-NG sources and "
            f"the zig compiler; a guest.wasm with its guest.json made elsewhere may be put into {TARGET.parent} "
            f"instead.\n{tail}"
        )


def make(folder: Path, wanted: str) -> Path:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
    stub = os.pathsep.join(filter(None, [str(HERE / "setuptools_stub"), os.environ.get("PYTHONPATH")]))
    fetch = (*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", "quickjs-ng", "--require-hashes")
    run("1/4 fetching the QuickJS-NG sources", *fetch, "-r", HERE / "source.lock", "-d", folder, PYTHONPATH=stub)
    source = unpack(folder)
    shutil.copyfile(HERE / "shim.c", source / "shim.c")
    run("... noting places in its parser", sys.executable, HERE / "engine_edits.py", source / "quickjs.c")
    tools, raw, wasm = folder / "tools", folder / "raw.wasm", folder / "guest.wasm"
    install = (*pip, "install", "--no-deps", "--no-compile", "--only-binary", ":all:", "--target", tools)
    run("2/4 fetching the compiler (about 100 MB, thrown away afterwards)", *install, "-r", HERE / "toolchain.lock")
    zig = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zg"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zl")}
    build = (sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", raw, *SOURCES)
    run("3/4 compiling (about half a minute)", *build, cwd=source, PYTHONPATH=str(tools), **zig)
    bake = (sys.executable, HERE / "bake.py", raw, HERE / "prelude.js", wasm)
    run("4/4 baking the prelude into the heap", *bake, PYTHONPATH=str(tools))
    made = {
        "key": wanted,
        "sha256": hashlib.sha256(wasm.read_bytes()).hexdigest(),
        "bytes": wasm.stat().st_size,
        "source": lock_lines("source.lock"),
        "toolchain": lock_lines("toolchain.lock"),
        "flags": list(FLAGS),
    }
    wasm.with_suffix(".json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return wasm


def unpack(folder: Path) -> Path:
    (archive,) = folder.glob("quickjs_ng-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz") / "upstream-quickjs"


def lock_lines(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [line.split()[0] for line in text.splitlines() if line[:1].isalpha()]


def main() -> None:
    try:
        ensure(accept="--accept" in sys.argv[1:])
    except GuestBuildError as error:
        raise SystemExit(f"guest: {error}") from None


if __name__ == "__main__":
    main()
