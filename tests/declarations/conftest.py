"""The real TypeScript compiler, once a session."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from npm_packages import installed

_VERSION = "5.9"
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
    node, modules = installed("typescript", _VERSION, "lib/typescript.js")
    return Compiler(node, Path(__file__).with_name("check.cjs"), modules, tmp_path_factory.mktemp("tsc") / "files")
