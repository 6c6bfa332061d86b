"""The audit log of a config, as commands write it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_running import Run, complaint
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.proves("observe.audit")

TOOLS = """
def greet(name: str) -> str:
    "Greet somebody."
    return f"Hello, {name}!"

tools = [greet]
"""
REDACT = """
def redact(line):
    return {**line, "arguments": sorted(line["arguments"])} if "arguments" in line else line

broken = "not a function"
"""
PROGRAM = "return (await tools.app.greet({ name: 'Ada' })).structuredContent"


@pytest.fixture
def folder(tmp_path: Path, cli: Run) -> Path:
    """Where `cli` runs, with a source in it."""
    (tmp_path / "audited_tools.py").write_text(TOOLS, encoding="utf-8")
    (tmp_path / "audited_redaction.py").write_text(REDACT, encoding="utf-8")
    (tmp_path / "p.ts").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def configure(folder: Path, audit: Any) -> None:
    config = {"python": {"app": "audited_tools:tools"}, "policy": [{"match": "*", "effect": "allow"}], "audit": audit}
    (folder / "codemode.json").write_text(json.dumps(config), encoding="utf-8")


def events(path: Path) -> list[str]:
    return [json.loads(line)["event"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_run_writes_what_it_does_and_commands_that_only_look_do_not(cli: Run, folder: Path) -> None:
    configure(folder, "log/audit.jsonl")
    for words in (("tools",), ("search", "greet"), ("tokens",)):
        assert cli(*words)[0] == 0
    assert not (folder / "log").exists()
    for _ in range(2):
        assert cli("run", "p.ts")[0] == 0
    assert events(folder / "log" / "audit.jsonl") == ["decision", "call", "run"] * 2


def test_arguments_go_through_the_function_the_config_names(cli: Run, folder: Path) -> None:
    configure(folder, {"file": "audit.jsonl", "arguments": True, "redact": "audited_redaction:redact"})
    assert cli("run", "p.ts")[0] == 0
    call = json.loads((folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert call["arguments"] == ["name"]


@pytest.mark.parametrize(
    ("audit", "words"),
    [
        ({"file": "a", "redact": "audited_redaction:nope"}, ["audit", "'nope'"]),
        ({"file": "a", "redact": "audited_redaction:broken"}, ["audit", "must be a function"]),
        ({"file": "a", "redact": "no_such_module:x"}, ["audit", "no_such_module"]),
        ("audited_tools.py/audit.jsonl", ["audit", "cannot be written"]),
    ],
)
@pytest.mark.parametrize("command", [("run", "p.ts"), ("serve",)])
def test_a_log_that_cannot_be_written_stops_the_command_before_anything_runs(
    cli: Run, folder: Path, command: tuple[str, ...], audit: Any, words: list[str]
) -> None:
    configure(folder, audit)
    complaint(cli(*command), *words)


@pytest.mark.slow
@pytest.mark.anyio
async def test_serve_writes_the_runs_of_its_client(folder: Path) -> None:
    configure(folder, "audit.jsonl")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "codemodekit", "serve", "--config", str(folder / "codemode.json")]
    )
    async with Client(server) as client:
        answer = await client.call_tool("run_typescript", {"code": PROGRAM})
    assert answer.structured_content is not None
    assert answer.structured_content["value"] == "Hello, Ada!"
    assert events(folder / "audit.jsonl") == ["decision", "call", "run"]
