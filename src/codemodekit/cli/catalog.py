"""`codemodekit catalog`: what the sources offer, kept in a file, and what has become of it since."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from codemodekit._json import loads
from codemodekit.catalog.diff import CatalogDiff, Change, diff_catalogs
from codemodekit.catalog.revision import CatalogRevision
from codemodekit.cli.connected import connected
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson, ConfigFile, McpConfigFile, chosen_config, require_sources
from codemodekit.cli.output import console, for_people, print_json
from codemodekit.errors import ConfigurationError
from codemodekit.servers.config import Config

__all__ = ["SUBCOMMANDS", "diff", "save"]

_CURRENT: Final = "current"
_SAVE: Final = (
    "Write every tool of the sources to FILE: names, descriptions, schemas and annotations, the same bytes for the "
    "same content. Nothing is called, so no policy is needed. Exit code 1, and nothing written, while a source is down."
)
_DIFF: Final = (
    "What was added, removed and changed between two saved catalogues; 'current' is what the sources offer now. Exit "
    "code 0 when they are equal, 1 when they differ or a source could not be compared."
)


def save(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Where to, or - for standard output.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Save also while sources are down; the file names them.")
    ] = False,
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    as_json: AsJson = False,
) -> int:
    chosen = require_sources(chosen_config(config, mcp_config))
    path = None if file == "-" else _free_path(file)
    taken = run_interruptible(_take, chosen)
    if taken.missing and not partial:
        sys.stderr.write(f"codemodekit: nothing was saved, these sources are down: {', '.join(taken.missing)}\n")
        return 1
    _write(path, taken)
    said = {"catalogRevision": taken.revision, "tools": _count(taken), "missing": list(taken.missing)}
    if as_json and path is not None:
        print_json({"file": file, **said})
    elif path is not None:
        console().print(for_people(f"{file}: {said['tools']} tools, revision {said['catalogRevision']}"))
    return 0


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A saved catalogue, or 'current'.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same; 'current' is what the sources offer now.")],
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    as_json: AsJson = False,
) -> int:
    read = {name: _read(name) for name in (before, after) if name != _CURRENT}
    if _CURRENT in (before, after):
        read[_CURRENT] = run_interruptible(_take, require_sources(chosen_config(config, mcp_config)))
    found = diff_catalogs(read[before], read[after])
    if as_json:
        print_json(found.to_wire())
    else:
        _show(found)
    return 0 if found.equal else 1


async def _take(config: Config) -> CatalogRevision:
    async with connected(config) as code_mode:
        return code_mode.catalog_revision()


# --- files ------------------------------------------------------------------------------------------------------------


def _read(file: str) -> CatalogRevision:
    try:
        return CatalogRevision.from_wire(loads(Path(file).read_bytes()))
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror or type(error).__name__}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: not JSON: {error}") from error


def _free_path(file: str) -> Path:
    """Where to write; what is there already is a saved catalogue, and nothing that would be missed.

    Raises:
        ConfigurationError: something else is there.
    """
    path = Path(file)
    try:
        if path.exists():
            _read(file)
    except ConfigurationError as error:
        raise ConfigurationError(f"not overwritten, for it holds something else: {error}") from error
    return path


def _write(path: Path | None, taken: CatalogRevision) -> None:
    text = json.dumps(taken.to_wire(), indent=1, sort_keys=True) + "\n"  # ASCII, which any stream can carry
    if path is None:
        sys.stdout.write(text)
        return
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="ascii", newline="\n")
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise ConfigurationError(f"{path}: cannot be written: {error.strerror or type(error).__name__}") from error


def _count(taken: CatalogRevision) -> int:
    return sum(len(tools) for tools in taken.sources.values())


# --- for people -------------------------------------------------------------------------------------------------------


def _show(found: CatalogDiff) -> None:
    out = console()
    for line in _lines(found):
        out.print(for_people(line))
    if found.equal:
        out.print(f"The catalogues are equal, revision {found.after}.")
    else:
        out.print(f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed.")


def _lines(found: CatalogDiff) -> list[str]:
    added = [(f"{source}.{tool}", "+", "") for source, tool in found.added]
    removed = [(f"{source}.{tool}", "-", "") for source, tool in found.removed]
    changed = [
        (f"{each.source}.{each.tool}", "~", f": {', '.join(map(_aspect, each.changes))}") for each in found.changed
    ]
    tools = [f"{sign} {name}{what}" for name, sign, what in sorted(added + removed + changed)]
    return [
        *(f"+ source {name}" for name in found.sources_added),
        *(f"- source {name}" for name in found.sources_removed),
        *(
            f"? source {name} could not be compared: it was down when one of the two was taken"
            for name in found.not_compared
        ),
        *tools,
    ]


def _aspect(change: Change) -> str:
    return change.aspect + (f" ({' '.join(change.at)})" if change.at else "")


SUBCOMMANDS: Final = {"save": (save, _SAVE), "diff": (diff, _DIFF)}
