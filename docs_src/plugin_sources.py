import json
import sys
import tempfile
from pathlib import Path

import anyio

from codemodekit import CodeMode, allow_all_tool_calls, load_agent_plugin

SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("clock")

@server.tool()
def noon() -> str:
    "When to eat."
    return "12:00"

server.run()
"""


def install(root: Path) -> None:
    """Stands for whoever installs plugins; codemodekit reads them and nothing more."""
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    start = {"type": "stdio", "command": "./clock", "env": {"CLOCK_STATE": "${PLUGIN_DATA}/state"}}
    wrong = {"type": "stdio", "command": "../../bin/anything"}
    servers = {"clock": start, "wrong": wrong}
    (root / "plugin.json").write_text(json.dumps({"$schema": f"{schemas}/plugin.schema.json", "name": "kitchen"}))
    (root / "mcp.json").write_text(json.dumps({"$schema": f"{schemas}/mcp.schema.json", "mcpServers": servers}))
    (root / "clock").write_text(f"#!{sys.executable} -Wignore\n{SERVER}")
    (root / "clock").chmod(0o755)


async def main() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "kitchen"
        root.mkdir()
        install(root)
        plugin = load_agent_plugin(root, Path(folder) / "data")
        async with CodeMode(providers=plugin.providers, tool_policy=allow_all_tool_calls()) as code_mode:
            result = await code_mode.run("return (await tools.clock.noon({})).content[0].text")
    return {
        "plugin": plugin.name,
        "sources": [provider.name for provider in plugin.providers],
        "left out": [note.server for note in plugin.notes],
        "value": result.value,
    }


if __name__ == "__main__":
    print(anyio.run(main))
