"""`codemodekit tools`: what every source gives, what was put aside, and how the sources are."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from rich.console import Group

from codemodekit.catalog.health import SourceState
from codemodekit.catalog.snapshot import CatalogTool
from codemodekit.cli.connected import connected
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson, ConfigFile, McpConfigFile, chosen_config, require_source, require_sources
from codemodekit.cli.output import console, print_json, table
from codemodekit.code_mode import CodeMode
from codemodekit.servers.config import Config, PluginSource

__all__ = ["HELP", "command"]

HELP: Final = (
    "Starts the sources, asks each for its tools, and stops them. Nothing is called, so no policy is needed. Exit code "
    "1 when a source is down: the list is not whole then."
)

_MOST_ROWS: Final = 500
"""Laying out a table takes half a millisecond a row, and nobody reads so many."""


def command(
    source: Annotated[str | None, typer.Argument(metavar="SOURCE", help="Only this source.")] = None,
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    as_json: AsJson = False,
) -> int:
    chosen = require_sources(chosen_config(config, mcp_config))
    require_source(source, chosen)
    listed = run_interruptible(_list, chosen, source)
    if as_json:
        print_json(listed)
    else:
        _show(listed)
    return 0 if all(each["state"] == SourceState.HEALTHY for each in listed["sources"]) else 1


async def _list(config: Config, source: str | None) -> dict[str, Any]:
    async with connected(config) as code_mode:
        return _listing(code_mode, config, source)


def _listing(code_mode: CodeMode, config: Config, source: str | None) -> dict[str, Any]:
    catalog = code_mode.snapshot()
    plugins = {each.name: {"plugin": each.plugin} for each in config.sources if isinstance(each, PluginSource)}
    return {
        "catalogRevision": catalog.revision,
        "sources": [
            each.to_wire() | plugins.get(each.source, {})
            for each in code_mode.health()
            if source in (None, each.source)
        ],
        "tools": [
            _tool(tool)
            for found in catalog.sources.values()
            if source in (None, found.name)
            for tool in found.tools.values()
        ],
        "diagnostics": [note.to_wire() for note in code_mode.catalog_diagnostics() if source in (None, note.source)],
        "plugins": [notice.to_wire() for notice in config.plugin_notes if source in (None, notice.server)],
    }


def _tool(tool: CatalogTool) -> dict[str, Any]:
    definition = tool.definition
    wire = {"source": tool.source, "tool": definition.name, "callable": tool.callable}
    if definition.description:
        wire["description"] = definition.description
    return {**wire, "readOnly": bool(definition.annotations.read_only)}


def _show(listed: dict[str, Any]) -> None:
    out = console()
    out.print(_sources(listed["sources"]))
    tools = [
        (tool["callable"], "read-only" if tool["readOnly"] else "", _first_line(tool.get("description", "")))
        for tool in listed["tools"]
    ]
    if tools:
        out.print(table("\nTools", ("call", "", "description"), tools, whole="call", most=_MOST_ROWS))
    notes = [(note["source"], note.get("tool", ""), note["message"]) for note in listed["diagnostics"]]
    if notes:
        out.print(table("\nPut aside or odd", ("source", "tool", "why"), notes, most=_MOST_ROWS))
    unused = [(notice["plugin"], notice.get("server", ""), notice["message"]) for notice in listed["plugins"]]
    if unused:
        out.print(table("\nNot used of plugins", ("plugin", "server", "why"), unused))


def _sources(rows: list[dict[str, Any]]) -> Group:
    columns = {"source": "source", "plugin": "plugin", "state": "state", "tools": "tools", "quarantined": "quarantined"}
    if not any("plugin" in row for row in rows):
        del columns["plugin"]
    columns["lastError"] = "last error"
    cells = [tuple(row.get(key, "") for key in columns) for row in rows]
    return table("Sources", tuple(columns.values()), cells)


def _first_line(description: str) -> str:
    return description.strip().partition("\n")[0]
