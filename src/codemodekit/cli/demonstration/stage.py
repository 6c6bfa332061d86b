"""The demo's upstreams as a config in a folder, and which of them this machine can have."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from codemodekit.cli.demonstration.programs import Act, acts
from codemodekit.cli.demonstration.repository import make_repository
from codemodekit.errors import ConfigurationError

__all__ = ["Stage", "survey"]

_TIME: Final = "mcp_server_time"
_GIT: Final = "mcp_server_git"


@dataclass(frozen=True, slots=True)
class Stage:
    """What the demo can show here."""

    git: str | None
    """The git program, if there is one; without it there is no git source."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, in the order of the catalogue."""
        return ("git", "team", "time") if self.git else ("team", "time")

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, and why."""
        return () if self.git else ("git was not found, so the demo goes without the git source and its repository.",)

    @property
    def acts(self) -> Sequence[Act]:
        """The programs to run, in order."""
        return acts(with_git=self.git is not None)

    async def build(self, folder: Path) -> Path:
        """Make everything the sources need in a folder, and give the config file.

        Raises:
            CodeModeKitError: git will not make its repository.
        """
        repository = folder / "repository"
        if self.git is not None:
            repository.mkdir()
            await make_repository(repository, self.git)
        config = folder / "codemode.json"
        config.write_text(json.dumps(self._config(repository), indent=2), encoding="utf-8")
        return config

    def _config(self, repository: Path) -> dict[str, Any]:
        git = _server(_GIT, "--repository", str(repository)) | {"cwd": str(repository)}
        time = _server(_TIME, "--local-timezone", "UTC")
        return {
            "mcpServers": {"git": git, "time": time} if self.git else {"time": time},
            "python": {"team": "codemodekit.cli.demonstration.team:tools"},
            "policy": "allow-all",
        }


def _server(module: str, *arguments: str) -> dict[str, Any]:
    # as a module of this very Python: the scripts need not be on anybody's PATH
    return {"command": sys.executable, "args": ["-m", module, *arguments]}


def survey(
    *, find_program: Callable[[str], str | None] = shutil.which, find_module: Callable[[str], object] = find_spec
) -> Stage:
    """See what is installed.

    Raises:
        ConfigurationError: a server that the demo cannot do without is not.
    """
    git = find_program("git")
    needed = (_TIME, _GIT) if git else (_TIME,)
    missing = [module.replace("_", "-") for module in needed if find_module(module) is None]
    if missing:
        raise ConfigurationError(
            f"the demo needs {' and '.join(missing)}; install the extra: pip install 'codemodekit[demo]'"
        )
    return Stage(git)
