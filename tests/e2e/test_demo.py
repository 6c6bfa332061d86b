"""The demo as a process: all that it shows, and nothing that it leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codemodekit.cli.demonstration.stage import survey
from codemodekit.errors import ConfigurationError

from .processes import descendants, gone, needs_proc

pytestmark = [pytest.mark.slow, pytest.mark.proves("house.demo")]


@contextmanager
def demo(folder: Path, *options: str, path: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """A demo that keeps its temporary files below `folder`."""
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        [sys.executable, "-m", "codemodekit", "demo", *options],
        env=environment if path is None else {**environment, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def shown(folder: Path, *options: str, path: str | None = None) -> tuple[int | None, str]:
    with demo(folder, *options, path=path) as process:
        out, err = process.communicate(timeout=60)
    assert err == ""
    assert list(folder.iterdir()) == []
    return process.returncode, out


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_demo_composes_fans_out_fails_and_repairs_over_real_servers(tmp_path: Path) -> None:
    code, out = shown(tmp_path, "--json")
    report = json.loads(out)
    composed, parallel, mistake, repaired = (each["result"] for each in report["programs"])
    assert (code, report["ok"], report["notes"]) == (0, True, [])
    assert report["connected"]["tools"] == ["run_typescript", "search_tools"]
    assert [space["source"] for space in report["catalogue"]["namespaces"]] == ["git", "team", "time"]
    assert composed["value"][0] == {
        "day": "2026-07-28",
        "what": "totals are rounded once, at the end (step 39)",
        "ask": "sora@example.org",
    }
    assert [call["source"] for call in composed["calls"]] == ["git", "team"]
    assert [(call["tool"], call["status"]) for call in parallel["calls"][1:]] == [("convert_time", "completed")] * 8
    assert {"name": "Kofi", "time": "15:00"} in parallel["value"]
    assert (mistake["error"]["code"], mistake["error"]["location"]["line"]) == ("TOOL_INPUT_INVALID", 4)
    assert [(call["status"], mistake["rerun"]) for call in mistake["calls"]] == [("rejected", "safe")]
    assert "did you mean 'text'?" in mistake["error"]["message"]
    assert (len(repaired["value"]), repaired["rerun"]) == (2, "unsafe")
    assert report["tokens"]["direct"] > report["tokens"]["codeMode"]["tokens"]


def test_without_git_the_demo_says_so_and_goes_without_it(tmp_path: Path) -> None:
    code, out = shown(tmp_path, path=os.devnull)
    assert code == 0
    for words in (
        "git was not found",
        "The catalogue behind them: 4 tools",
        '"name": "Sora"',
        "TOOL_INPUT_INVALID (line 4",
        "running it again is unsafe",
        "Tokens a model reads at the start",
        "All of it worked.",
    ):
        assert words in out


def test_a_missing_server_is_named_with_what_to_install() -> None:
    nothing: Any = {}
    with pytest.raises(ConfigurationError, match=r"mcp-server-time and mcp-server-git; .*'codemodekit\[demo\]'"):
        survey(find_program=lambda name: f"/bin/{name}", find_module=nothing.get)


@needs_proc
@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_demo_that_is_interrupted_leaves_neither_processes_nor_files(
    tmp_path: Path, number: signal.Signals
) -> None:
    with demo(tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("The catalogue"):
                break
        started = descendants(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert {"serve", "mcp_server_time"} <= {word for command in started.values() for word in command.split()}
    assert (process.returncode, err, "All of it worked" in out) == (1, "", False)
    assert list(tmp_path.iterdir()) == []
    await gone(list(started))
