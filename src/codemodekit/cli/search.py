"""`codemodekit search`: the catalogue as a model finds it."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Final

import typer

from codemodekit.cli.connected import connected
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson, ConfigFile, McpConfigFile, chosen_config, require_source, require_sources
from codemodekit.cli.output import console, for_people, highlighted, print_json, table
from codemodekit.servers.config import Config

__all__ = ["HELP", "command"]

HELP: Final = "Words about a task, a part of a name, or '*' for all sources. Nothing is called, so no policy is needed."


class Detail(enum.StrEnum):
    """How much is shown of a tool."""

    SUMMARY = "summary"
    TYPESCRIPT = "typescript"


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    detail: Annotated[Detail, typer.Option(help="Names and descriptions, or declarations too.")] = Detail.SUMMARY,
    limit: Annotated[int | None, typer.Option(min=1, max=8, help="Most results on a page.")] = None,
    cursor: Annotated[str | None, typer.Option(help="'nextCursor' of the page before.")] = None,
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    as_json: AsJson = False,
) -> int:
    chosen = require_sources(chosen_config(config, mcp_config))
    require_source(source, chosen)
    if not query.strip() or len(query) > 256:
        raise typer.BadParameter("1 to 256 characters are needed", param_hint="QUERY")
    found = run_interruptible(_search, chosen, query, source, detail, limit, cursor)
    if as_json:
        print_json(found)
    else:
        _show(found)
    return 0


async def _search(
    config: Config, query: str, source: str | None, detail: Detail, limit: int | None, cursor: str | None
) -> dict[str, Any]:
    async with connected(config) as code_mode:
        return await code_mode.search_tools(query, source=source, detail=detail.value, limit=limit, cursor=cursor)


def _show(found: dict[str, Any]) -> None:
    out = console()
    if found.get("namespaces"):
        spaces = found["namespaces"]
        columns = list(spaces[0])
        out.print(table("Sources", columns, [[space.get(column, "") for column in columns] for space in spaces]))
    declared = [result["declaration"] for result in found["results"] if "declaration" in result]
    if declared:
        out.print(highlighted("\n\n".join(declared), "typescript"))
    elif found["results"]:
        rows = [
            (result["callable"], "read-only" if result.get("readOnly") else "", _first_line(result))
            for result in found["results"]
        ]
        out.print(
            table(f"{found['returned']} of {found['total']} tools", ("call", "", "description"), rows, whole="call")
        )
    elif not found.get("namespaces"):
        out.print("No tool was found.")
    if found.get("diagnostic"):
        out.print(for_people(found["diagnostic"]))
    if found.get("suggestions"):
        out.print(for_people(f"Did you mean {', '.join(found['suggestions'])}?"))
    if found.get("nextCursor"):
        out.print(f"More with --cursor {found['nextCursor']}")


def _first_line(result: dict[str, Any]) -> str:
    return str(result.get("description") or "").strip().partition("\n")[0]
