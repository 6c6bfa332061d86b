"""Plugin packages for tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codemodekit.providers.agent_plugin import AgentPlugin, load_agent_plugin

SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
MANIFEST: dict[str, Any] = {"$schema": f"{SCHEMAS}/plugin.schema.json", "name": "deploy"}
PLAIN: dict[str, Any] = {"type": "stdio", "command": "plain"}
"""An entry with nothing wrong about it."""

SPY = """
import json, os, sys

def look():
    names = ("PLUGIN_ROOT", "PLUGIN_DATA", "GIVEN", "SECRET_OF_THE_HOST")
    found = {name: os.environ.get(name) for name in names}
    return {"cwd": os.getcwd(), "args": sys.argv[1:], "env": found, "mode": oct(os.stat(found["PLUGIN_DATA"]).st_mode)}

ANSWERS = {
    "initialize": lambda: {
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "spy", "version": "1"}
    },
    "tools/list": lambda: {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
    "tools/call": lambda: {"content": [], "structuredContent": look()},
    "ping": lambda: {},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = ANSWERS.get(message["method"])
        outcome = {"error": {"code": -32601, "message": "unknown"}} if answer is None else {"result": answer()}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
"""
"""A server that tells how it was started; without the SDK, which takes a second to load."""


def write_plugin(root: Path, servers: Any = None, *, manifest: Any = MANIFEST) -> Path:
    """A package in this folder. `servers`: its entries by name, or a whole document as text."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "plugin.json").write_text(_text(manifest), encoding="utf-8")
    if servers is not None:
        whole = {"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": servers}
        (root / "mcp.json").write_text(servers if isinstance(servers, str) else _text(whole), encoding="utf-8")
    return root


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def loaded(root: Path, servers: Mapping[str, Any] | str | None = None, **more: Any) -> AgentPlugin:
    """The plugin of a package that is written first."""
    return load_agent_plugin(write_plugin(root, servers, **more), root.parent / "data")


def names(plugin: AgentPlugin) -> list[str]:
    return [provider.name for provider in plugin.providers]


def spy(**more: Any) -> dict[str, Any]:
    """An entry whose server tells how it was started."""
    return {"type": "stdio", "command": sys.executable.rpartition("/")[2], "args": ["-S", "./spy.py"], **more}
