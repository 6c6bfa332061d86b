"""Finds and reads config files: the command line's, the environment's, the working directory's, the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import platformdirs

from codemodekit.limits import ExecutionLimits, LimitsError
from codemodekit.servers.config.audit import read_audit
from codemodekit.servers.config.model import Config, ConfigError, PluginSource, Source
from codemodekit.servers.config.openapi import read_openapi_source
from codemodekit.servers.config.parse import parse_file
from codemodekit.servers.config.plugins import beside, read_plugins
from codemodekit.servers.config.policy import read_policy_node
from codemodekit.servers.config.reading import Node
from codemodekit.servers.config.sources import ENTRY_KEYS, read_python_source, read_server

__all__ = ["CONFIG_VARIABLE", "TOP_KEYS", "find_config", "load_config", "read_config", "read_mcp_config"]

CONFIG_VARIABLE: Final = "CODEMODEKIT_CONFIG"
FILE_NAMES: Final = ("codemode.json", "codemode.toml")
TOP_KEYS: Final = (
    "$schema", "mcpServers", "servers", "openapi", "python", "plugins", "policy", "limits", "search", "audit",
    "typecheck",
)  # fmt: skip


def load_config(
    *,
    config: Path | None = None,
    mcp_config: Path | None = None,
    folder: Path,
    environment: Mapping[str, str],
) -> Config:
    """The config to use. A client's server list alone is enough; with `config` too, both are joined.

    Raises:
        ConfigError: a file cannot be used, or both name the same source.
    """
    foreign = None if mcp_config is None else read_mcp_config(folder / mcp_config, environment=environment)
    if config is None and foreign is not None:
        return foreign
    path = find_config(folder=folder, environment=environment) if config is None else folder / config
    own = Config() if path is None else read_config(path, environment=environment)
    return own if foreign is None else _join(own, foreign)


def find_config(*, folder: Path, environment: Mapping[str, str]) -> Path | None:
    """The config file when none is named: the environment's, that of `folder`, the user's; None without any.

    Raises:
        ConfigError: a folder holds both spellings, so that nobody can tell which one is meant.
    """
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return folder / Path(named).expanduser()
    for place in (folder, platformdirs.user_config_path("codemodekit", appauthor=False)):
        found = [place / name for name in FILE_NAMES if (place / name).is_file()]
        if len(found) > 1:
            raise ConfigError(f"{place}: holds both {' and '.join(FILE_NAMES)}; keep one, or name one with --config")
        if found:
            return found[0]
    return None


def read_config(path: Path, *, environment: Mapping[str, str]) -> Config:
    """One config file of ours.

    Raises:
        ConfigError: it cannot be used.
    """
    root = Node(str(path), "", parse_file(path))
    root.only(TOP_KEYS)
    folder = path.resolve().parent
    servers = _sources(root, ("mcpServers", "servers"), partial(read_server, environment=environment, folder=folder))
    apis = _sources(root, ("openapi",), partial(read_openapi_source, environment=environment, folder=folder))
    python = _sources(root, ("python",), partial(read_python_source, environment=environment))
    plugins = root.get("plugins")
    brought, notices = ([], []) if plugins is None else read_plugins(plugins, environment=environment, folder=folder)
    sources, clashes = beside(_unique(root, (*servers, *apis, *python)), brought)
    policy, search, audit = root.get("policy"), root.get("search"), root.get("audit")
    typecheck = root.get("typecheck")
    return Config(
        sources=sources,
        plugin_notes=(*notices, *clashes),
        policy=None if policy is None else read_policy_node(policy, folder=folder),
        limits=_limits(root.get("limits")),
        search=True if search is None else search.flag(),
        audit=None if audit is None else read_audit(audit, folder=folder),
        typecheck=False if typecheck is None else typecheck.flag(),
        files=(path,),
        import_folders=(folder,),
    )


def read_mcp_config(path: Path, *, environment: Mapping[str, str]) -> Config:
    """The servers in the config of another client. Keys of that client which mean nothing here are passed over, with a
    note for each server that has some.

    Raises:
        ConfigError: there is no list of servers in it, or an entry cannot be understood.
    """
    root = Node(str(path), "", parse_file(path))
    servers = _foreign_list(root)
    folder = path.resolve().parent
    sources: list[Source] = []
    notes: list[str] = []
    for node in servers.members():
        unknown = sorted(set(node.object()) - set(ENTRY_KEYS))
        if unknown:
            notes.append(f"{path}: {node.path}: passed over: {', '.join(unknown)}")
        known = replace(node, value={key: value for key, value in node.object().items() if key in ENTRY_KEYS})
        source = read_server(known, environment=environment, folder=folder)
        sources += [] if source is None else [source]
    return Config(sources=_unique(root, tuple(sources)), files=(path,), notes=tuple(notes))


def _foreign_list(root: Node) -> Node:
    places: list[Node] = [root]
    nested = root.get("mcp")
    if nested is not None and isinstance(nested.value, Mapping):
        places.append(nested)
    for place in places:
        for key in ("mcpServers", "servers"):
            found = place.get(key)
            if found is not None:
                return found
    raise root.error("has no 'mcpServers' (or 'servers'), where clients keep their list of servers")


def _sources(root: Node, keys: tuple[str, ...], read: Callable[[Node], Source | None]) -> list[Source]:
    found = []
    for key in keys:
        group = root.get(key)
        for node in () if group is None else group.members():
            source = read(node)
            found += [] if source is None else [source]
    return found


def _unique(root: Node, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    seen: set[str] = set()
    for source in sources:
        if not source.name:
            raise root.error("a source has an empty name")
        if source.name in seen:
            raise root.error(f"two sources are named {source.name!r}; a name is what a program calls it by")
        seen.add(source.name)
    return sources


def _limits(node: Node | None) -> dict[str, int]:
    if node is None:
        return {}
    try:
        ExecutionLimits.from_wire(node.object())
    except LimitsError as error:
        raise node.error(str(error)) from None
    return dict(node.object())


def _join(own: Config, foreign: Config) -> Config:
    root = Node(" and ".join(str(path) for path in (*own.files, *foreign.files)), "", None)
    brought = [source for source in own.sources if isinstance(source, PluginSource)]
    listed = [source for source in own.sources if not isinstance(source, PluginSource)]
    sources, clashes = beside(_unique(root, (*listed, *foreign.sources)), brought)
    return replace(
        own,
        sources=sources,
        plugin_notes=(*own.plugin_notes, *clashes),
        files=(*own.files, *foreign.files),
        notes=(*own.notes, *foreign.notes),
    )
