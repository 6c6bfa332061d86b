"""The command line as a process: what it loads, and what reaches its streams."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from codemodekit.cli import output

HEAVY = ("mcp", "mcp_types", "wasmtime", "tree_sitter", "pydantic", "rich", "jsonschema_rs", "anyio", "asyncio")

PROBE = f"""
import sys
from codemodekit.cli.main import run
code = run(sys.argv[1:])
sys.stderr.write(" ".join(name for name in {HEAVY!r} if name in sys.modules))
sys.exit(code)
"""


def process(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=False, env=env)


@pytest.mark.proves("cli.help")
def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    done = process(tmp_path, "-c", PROBE, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "serve" in done.stdout


@pytest.mark.proves("config.checked", "cli.help")
def test_a_config_mistake_is_told_before_the_sdk_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "codemode.json").write_text('{"polic": "allow-all"}')
    done = process(tmp_path, "-c", PROBE, "serve")
    line, _, loaded = done.stderr.partition("\n")
    assert done.returncode == 2
    assert "did you mean 'policy'?" in line
    assert not {"mcp", "wasmtime", "tree_sitter"} & set(loaded.split())


@pytest.mark.proves("cli.commands")
def test_the_module_runs_as_the_command_does(tmp_path: Path) -> None:
    done = process(tmp_path, "-m", "codemodekit", "nope")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("codemodekit: No such command 'nope'")


@pytest.mark.proves("cli.commands")
def test_a_terminal_without_unicode_is_given_what_it_can_show(tmp_path: Path) -> None:
    (tmp_path / "program.ts").write_text("return 'Zo\\u00eb'", encoding="ascii")
    arguments = ("-m", "codemodekit", "run", "program.ts", "--policy", "deny-all")
    done = process(tmp_path, *arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Zo?\n", "")


@pytest.mark.proves("cli.commands")
@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_a_terminal_obeys_neither_programs_nor_tools(tmp_path: Path) -> None:
    (tmp_path / "program.ts").write_text("console.log('\\u001b]0;log'); return '\\u001b[2Jvalue'", encoding="ascii")
    arguments = ("-m", "codemodekit", "run", "program.ts", "--policy", "deny-all")
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        with os.fdopen(theirs, "wb") as terminal:
            command = [sys.executable, *arguments]
            assert subprocess.run(command, cwd=tmp_path, stdout=terminal, timeout=30, check=False).returncode == 0
            shown = screen.read(4096)
    assert shown.decode().splitlines() == ["\ufffd[2Jvalue", "[log] \ufffd]0;log"]
    assert "\x1b[2Jvalue\n" in process(tmp_path, *arguments).stdout


@pytest.mark.proves("cli.commands")
@pytest.mark.parametrize(("name", "whole"), [("tools.git.git_create_branch", True), ("tools." + "x" * 80, False)])
def test_a_call_stays_on_one_line_of_a_narrow_terminal_if_there_is_room(
    monkeypatch: pytest.MonkeyPatch, name: str, whole: bool
) -> None:
    narrow = Console(width=60, file=StringIO())
    monkeypatch.setattr(output, "console", lambda: narrow)
    narrow.print(output.table("Tools", ("call", "", "description"), [(name, "read-only", "word " * 20)], whole="call"))
    shown = narrow.file.getvalue()  # type: ignore[attr-defined]
    assert (name in shown) == whole
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.count("x") == name.count("x")  # nothing is cut off


CLOSING = """
import os, sys
for number in map(int, sys.argv[2].split()):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "codemodekit", *sys.argv[3:]])
"""


@pytest.mark.proves("cli.commands")
@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed there in another way")
@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1 2"])
@pytest.mark.parametrize("arguments", [("tools",), ("serve",), ("--version",)], ids=lambda words: words[0])
def test_streams_that_are_closed_from_the_start_are_empty_ones(
    tmp_path: Path, closed: str, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "stream_tools.py").write_text("def hello() -> str:\n    return 'hello'\ntools = [hello]\n")
    (tmp_path / "codemode.json").write_text('{"python": {"app": "stream_tools:tools"}, "policy": "allow-all"}')
    done = process(tmp_path, "-c", CLOSING, "--", closed, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
