"""Command lines in this process, with and without a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_running import Run

from codemodekit.cli.main import run

TOOLS = '''
def greet(name: str) -> str:
    """Greets someone.

    At length."""
    print("printed by a tool")
    return f"Hello {name}"

def fail() -> None:
    raise RuntimeError("internal detail")

tools = [greet, fail]
'''


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in a folder without any config, and gives exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEMODEKIT_CONFIG", raising=False)

    def command_line(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        return code, out, err

    return command_line


@pytest.fixture
def configured(tmp_path: Path, cli: Run) -> Run:
    (tmp_path / "cmk_cli_tools.py").write_text(TOOLS)
    config = {
        "mcpServers": {"crm": {"command": "crm", "env": {"K": "${CMK_ABSENT}"}}},
        "python": {"app": "cmk_cli_tools:tools"},
        "policy": "allow-all",
    }
    (tmp_path / "codemode.json").write_text(json.dumps(config))
    return cli
