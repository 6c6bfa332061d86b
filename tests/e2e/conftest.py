"""Real MCP servers, and something for them to work on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from codemodekit.cli.demonstration.repository import make_repository
from npm_packages import installed

from .serving import BIN

_EVERYTHING: Final = "@modelcontextprotocol/server-everything"
_EVERYTHING_VERSION: Final = "2026.8.31"


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of forty commits by eight people."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    anyio.run(make_repository, folder, git)
    return folder


@pytest.fixture(scope="session")
def everything() -> dict[str, Any]:
    """A config entry for a server of another SDK, in another language."""
    node, modules = installed(_EVERYTHING, _EVERYTHING_VERSION, "dist/index.js")
    return {"command": node, "args": [str(modules / _EVERYTHING / "dist" / "index.js"), "stdio"]}


@pytest.fixture(scope="session")
def python_servers(repository: Path) -> dict[str, Any]:
    """Config entries for the git and the time server."""
    pytest.importorskip("mcp_server_git", reason="the extra 'demo' is not installed")
    git, time = (str(BIN / name) for name in ("mcp-server-git", "mcp-server-time"))
    return {
        "git": {"command": git, "args": ["--repository", str(repository)], "cwd": str(repository)},
        "time": {"command": time, "args": ["--local-timezone", "UTC"]},
    }


@pytest.fixture(scope="session")
def three_servers(python_servers: dict[str, Any], everything: dict[str, Any]) -> dict[str, Any]:
    """Three servers as any client's `mcp.json` has them."""
    return {"mcpServers": {**python_servers, "everything": everything}}
