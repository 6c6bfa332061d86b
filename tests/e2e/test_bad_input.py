"""What goes wrong outside of a program costs one clear line and one source, never more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .serving import raw_server, served, write

pytestmark = pytest.mark.slow

TOOLS = """
import os, sys
print("printed at import")
def greet(name: str) -> str:
    print("printed by a tool")
    os.write(1, b"written by a tool\\n")
    return f"Hello {name}"
tools = [greet]
"""

SECRET = "hush-hush-7f3a"
GREET = "return (await tools.app.greet({ name: 'Ada' })).structuredContent"

ILL = {
    "absent": {"command": "no-such-server-anywhere"},
    "broken": raw_server({"exit": 4, "stderr": "cannot open the database"}),
    "noisy": raw_server(
        {
            "noise": ["Listening on port 3000!", "{}", "[1,", '{"jsonrpc": "2.0"}'],
            "pages": {"": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}},
            "calls": {"hello": {"result": {"content": [{"type": "text", "text": "hello"}]}}},
        }
    ),
    "silent": raw_server({"ignore": ["server/discover", "initialize"]}, timeout=3000),
    "unset": {"command": "x", "env": {"TOKEN": "${CMK_E2E_ABSENT}", "OTHER": "${CMK_E2E_SECRET}"}},
}


def codemodekit(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of a command line in a folder."""
    environment = {**os.environ, "CMK_E2E_SECRET": SECRET, "XDG_CONFIG_HOME": str(folder / "home")}
    environment.pop("CODEMODEKIT_CONFIG", None)
    done = subprocess.run(
        [sys.executable, "-m", "codemodekit", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def ill(tmp_path: Path) -> Path:
    """A folder whose config has one source in health, and one of every illness."""
    (tmp_path / "e2e_ill_tools.py").write_text(TOOLS)
    (tmp_path / "greet.ts").write_text(GREET)
    config = {"mcpServers": ILL, "python": {"app": "e2e_ill_tools:tools"}, "policy": "allow-all"}
    write(tmp_path / "codemode.json", config)
    return tmp_path


@pytest.mark.proves("config.checked")
@pytest.mark.parametrize(
    ("config", "words"),
    [
        ('{"policy": "allow-all",\n "mcpServers": {"a": {"command": "x"},}', "codemode.json:2:"),
        ({"polcy": "allow-all"}, "did you mean 'policy'?"),
        ({"mcpServers": {"a": {"command": "x", "comand": "y"}}, "policy": "allow-all"}, "did you mean 'command'?"),
        ({"mcpServers": {"a": {"args": []}}, "policy": "allow-all"}, "'command'"),
        ({"mcpServers": {"a": {"command": "x"}}, "limits": {"wallTimeMs": -1}, "policy": "allow-all"}, "wallTimeMs"),
        ("\x00\xff", "codemode.json"),
        (None, "codemode.json"),
    ],
    ids=["json", "unknown key", "unknown server key", "missing key", "limit", "not text", "absent"],
)
def test_a_config_that_cannot_be_used_is_one_line_and_exit_2(tmp_path: Path, config: Any, words: str) -> None:
    if config is not None:
        write(tmp_path / "codemode.json", config)
    code, out, err = codemodekit(tmp_path, "serve", "--config", "codemode.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


@pytest.mark.proves("catalog.independent", "catalog.health")
def test_every_ill_source_says_what_it_has_and_the_healthy_ones_are_listed(ill: Path) -> None:
    code, out, err = codemodekit(ill, "tools", "--json")
    listed = json.loads(out)
    states = {source["source"]: (source["state"], source.get("lastError")) for source in listed["sources"]}
    assert (code, [tool["callable"] for tool in listed["tools"]]) == (1, ["tools.app.greet", "tools.noisy.hello"])
    assert states["app"] == ("healthy", None)
    assert states["noisy"] == ("healthy", None)
    for name, words in {
        "absent": "command 'no-such-server-anywhere' was not found",
        "broken": "exited with code 4",
        "silent": "did not answer within 3 seconds",
        "unset": "'CMK_E2E_ABSENT'",
    }.items():
        state, reason = states[name]
        assert state == "unavailable"
        assert words in reason
        assert "\n" not in reason
    lines = err.splitlines()
    assert "printed at import" in err  # its line end may come after the start of another line
    ill_ones = [line for line in lines if line.startswith("source ")]
    assert len(ill_ones) == 4
    last_words = lines[lines.index("source 'broken' is unavailable: the server process exited with code 4") + 1 :][:2]
    assert last_words == ["  last output of the server:", "  cannot open the database"]


@pytest.mark.proves("catalog.independent")
def test_a_run_is_not_harmed_by_ill_sources_it_does_not_call(ill: Path) -> None:
    code, out, _ = codemodekit(ill, "run", "greet.ts", "--json")
    result = json.loads(out)
    assert (code, result["value"], len(result["calls"])) == (0, "Hello Ada", 1)


@pytest.mark.proves("error.codes", "cli.commands")
@pytest.mark.parametrize(
    ("source", "words"), [("absent", "was not found"), ("unset", "CMK_E2E_ABSENT"), ("broken", "code 4")]
)
def test_a_run_that_calls_an_ill_source_exits_with_1_and_says_why(ill: Path, source: str, words: str) -> None:
    (ill / "p.ts").write_text(f"return await tools.{source}.anything({{}})")
    code, out, _ = codemodekit(ill, "run", "p.ts", "--json")
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (1, "SOURCE_UNAVAILABLE")
    assert source in error["message"]
    assert words in error["message"]


@pytest.mark.proves("catalog.independent")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_among_ill_sources_serves_the_healthy_ones_at_once(ill: Path, mode: Any) -> None:
    async with served(ill, mode=mode) as server:
        greeted = await server.value(GREET)
        hello = await server.value("return (await tools.noisy.hello({})).content[0].text")
        found = await server.search("hello")
    assert (greeted, hello) == ("Hello Ada", "hello")
    assert "hello" in [result["tool"] for result in found["results"]]
    assert "'silent' is connecting" in found["diagnostic"]
    messages = (ill / "serve.log").read_text(encoding="utf-8")
    assert "printed by a tool" in messages
    assert "written by a tool" in messages
