"""From the folder of a plugin to its value. Nothing is started, fetched or written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final

import platformdirs

from codemodekit.errors import ConfigurationError
from codemodekit.providers.agent_plugin.documents import parse
from codemodekit.providers.agent_plugin.faults import Fault
from codemodekit.providers.agent_plugin.manifest import Manifest, read_manifest
from codemodekit.providers.agent_plugin.paths import read_file
from codemodekit.providers.agent_plugin.plugin import AgentPlugin, PluginNote
from codemodekit.providers.agent_plugin.provider import PluginProvider, prepared
from codemodekit.providers.agent_plugin.servers import Entry, ProcessEntry, RemoteEntry, read_entry, read_servers

__all__ = ["load_agent_plugin"]

MANIFEST: Final = "plugin.json"
SERVERS: Final = "mcp.json"
MOST_MANIFEST_BYTES: Final = 256 * 1024
MOST_SERVERS_BYTES: Final = 1024 * 1024


def load_agent_plugin(
    root: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None = None, *, prefix: str = ""
) -> AgentPlugin:
    """Read an installed plugin (Agent Plugins 1.0.0). An entry that is wrong becomes a note, and the others load.

    Args:
        root: the plugin's folder, with `plugin.json` in it.
        data_dir: where its servers keep what outlives an update; without it, a folder of its own among the user's data.
        prefix: put before the names of its servers, where they would clash with others.

    Raises:
        ConfigurationError: there is no such folder, or its manifest rejects the plugin as a whole.
    """
    folder = _root(root)
    if not _is_printable(prefix):
        raise ConfigurationError(f"the prefix of plugin {str(folder)!r} must be text that can be printed")
    try:
        manifest, odd = _manifest(folder)
    except Fault as fault:
        raise ConfigurationError(f"plugin {str(folder)!r}: {MANIFEST} {fault}") from fault
    data = _data_dir(data_dir, manifest, folder)
    notes = [PluginNote(MANIFEST, message) for message in odd]
    providers: list[PluginProvider] = []
    for name, entry in _entries(folder, data, notes).items():
        providers.append(PluginProvider(prefix + name, entry, plugin=manifest.name, root=folder, data_dir=data))
    return AgentPlugin(manifest=manifest, root=folder, data_dir=data, providers=tuple(providers), notes=tuple(notes))


def _root(root: str | os.PathLike[str]) -> Path:
    try:
        folder = Path(root).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigurationError(f"there is no plugin folder {str(root)!r}") from error
    if not folder.is_dir():
        raise ConfigurationError(f"{str(root)!r} is not the folder of a plugin")
    return folder


def _manifest(folder: Path) -> tuple[Manifest, list[str]]:
    data = read_file(folder, MANIFEST, MOST_MANIFEST_BYTES)
    if data is None:
        raise Fault("is missing")
    return read_manifest(parse(data))


def _entries(folder: Path, data: Path, notes: list[PluginNote]) -> dict[str, Entry]:
    try:
        document = read_file(folder, SERVERS, MOST_SERVERS_BYTES)
        servers: Any = {} if document is None else read_servers(parse(document))
    except Fault as fault:
        notes.append(PluginNote(SERVERS, f"{fault}; none of its servers are used"))
        return {}
    found: dict[str, Entry] = {}
    for name in servers:
        try:
            entry = read_entry(name, servers)
            if isinstance(entry, ProcessEntry):
                prepared(entry, folder, data)
        except Fault as fault:
            notes.append(PluginNote(SERVERS, f"left out: {fault}", name))
            continue
        if isinstance(entry, RemoteEntry) and entry.passed_over:
            names = ", ".join(entry.passed_over)
            notes.append(PluginNote(SERVERS, f"headers that are the client's own are passed over: {names}", name))
        found[name] = entry
    return found


def _data_dir(given: str | os.PathLike[str] | None, manifest: Manifest, folder: Path) -> Path:
    # by its place too: two copies of a plugin are two instances, which must not share their data
    mark = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    own = platformdirs.user_data_path("codemodekit", appauthor=False) / "plugins" / f"{manifest.name}-{mark}"
    try:
        return (own if given is None else Path(given)).expanduser().resolve()
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{str(given)!r} cannot be the data folder of a plugin") from error


def _is_printable(text: object) -> bool:
    return isinstance(text, str) and text.isprintable()
