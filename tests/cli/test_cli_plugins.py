"""Sources that come from a plugin, as commands show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from cli_running import Run

pytestmark = pytest.mark.proves("plugin.loads")

SCHEMAS: Final = "https://agent-plugins.org/schemas/1.0.0"


@pytest.fixture
def configured_plugin(tmp_path: Path, cli: Run) -> Run:
    """A config with a Python source and a plugin, whose one server is missing and whose other entry is wrong."""
    (tmp_path / "plugin_cli_tools.py").write_text(
        "def one() -> int:\n    return 1\n\ntools = [one]\n", encoding="utf-8"
    )
    plugin = tmp_path / "deploy"
    plugin.mkdir()
    manifest = {"$schema": f"{SCHEMAS}/plugin.schema.json", "name": "deploy"}
    servers = {"ship": {"type": "stdio", "command": "./bin/missing"}, "wrong": {"type": "stdio", "command": "../out"}}
    (plugin / "plugin.json").write_text(json.dumps(manifest), encoding="utf-8")
    document = {"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": servers}
    (plugin / "mcp.json").write_text(json.dumps(document), encoding="utf-8")
    config = {"python": {"app": "plugin_cli_tools:tools"}, "plugins": [{"root": "deploy", "dataDir": "data"}]}
    (tmp_path / "codemode.json").write_text(json.dumps(config), encoding="utf-8")
    return cli


def test_tools_shows_which_plugin_a_source_comes_from_and_what_is_not_used(
    configured_plugin: Run, caplog: pytest.LogCaptureFixture
) -> None:
    _, out, _ = configured_plugin("tools")
    (header,) = [line for line in out.splitlines() if line.startswith("source ")]
    assert header.split()[:3] == ["source", "plugin", "state"]
    (ship,) = [line for line in out.splitlines() if line.startswith("ship ")]
    assert ship.split()[:3] == ["ship", "deploy", "unavailable"]
    assert "Not used of plugins" in out
    assert any("server 'wrong'" in message for message in caplog.messages)  # on standard error, outside of tests


def test_tools_says_the_same_as_json(configured_plugin: Run) -> None:
    _, out, _ = configured_plugin("tools", "--json")
    listed: dict[str, Any] = json.loads(out)
    assert [(row["source"], row.get("plugin")) for row in listed["sources"]] == [("app", None), ("ship", "deploy")]
    (notice,) = listed["plugins"]
    assert (notice["plugin"], notice["server"]) == ("deploy", "wrong")
    assert "begins with './'" in notice["message"]


def test_one_source_alone_can_be_a_plugins(configured_plugin: Run) -> None:
    _, out, _ = configured_plugin("tools", "ship", "--json")
    listed = json.loads(out)
    assert [row["source"] for row in listed["sources"]] == ["ship"]
    assert listed["plugins"] == []
