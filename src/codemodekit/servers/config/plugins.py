"""The `plugins` of a config: installed Agent Plugins, whose servers become sources beside the config's own.

A plugin is somebody else's package. What is wrong inside of it is noted and costs what it concerns; a folder that is
not there, or a key that does not exist, is a mistake in the config.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codemodekit.errors import ConfigurationError
from codemodekit.servers.config.expand import Expander, ExpansionError
from codemodekit.servers.config.model import ConfigError, PluginNotice, PluginSource, Source
from codemodekit.servers.config.reading import Node

if TYPE_CHECKING:
    from codemodekit.providers.agent_plugin import AgentPlugin

__all__ = ["PLUGIN_KEYS", "beside", "read_plugins"]

PLUGIN_KEYS: Final = ("root", "dataDir", "prefix", "disabled")


def read_plugins(
    node: Node, *, environment: Mapping[str, str], folder: Path
) -> tuple[list[PluginSource], list[PluginNotice]]:
    """The servers of all plugins, and what of them is not used. Folders are named relative to `folder`.

    Raises:
        ConfigError: an entry cannot be understood, or there is no such folder.
    """
    sources: list[PluginSource] = []
    notices: list[PluginNotice] = []
    places: set[Path] = set()
    for item in node.items():
        item.only(PLUGIN_KEYS)
        disabled = item.get("disabled")
        if disabled is not None and disabled.flag():
            continue
        try:
            plugin = _plugin(item, Expander(environment), folder)
        except ExpansionError as error:
            notices.append(PluginNotice(plugin=_written(item), message=f"is not loaded: {error}"))
            continue
        except ConfigError:
            raise
        except ConfigurationError as error:
            if not _root(item, Expander(environment), folder).is_dir():
                raise item.child("root").error("there is no such folder") from error
            notices.append(PluginNotice(plugin=_written(item), message=f"is not loaded: {error}"))
            continue
        if plugin.data_dir in places and item.get("dataDir") is not None:
            raise item.child("dataDir").error("is the data folder of another plugin; give each one of its own")
        places.add(plugin.data_dir)
        made = [PluginSource(name=each.name, plugin=plugin.name, provider=each) for each in plugin.providers]
        notices += [PluginNotice(plugin=plugin.name, message=str(note), server=note.server) for note in plugin.notes]
        sources = [*sources, *made]
    return sources, notices


def beside(own: Iterable[Source], plugins: Iterable[PluginSource]) -> tuple[tuple[Source, ...], list[PluginNotice]]:
    """All sources, without those of plugins whose name is taken: the config's own come first, then the first plugin."""
    sources: list[Source] = [source for source in own if not isinstance(source, PluginSource)]
    taken = {source.name for source in sources}
    notices: list[PluginNotice] = []
    for source in plugins:
        if source.name in taken:
            message = f"server {source.name!r} is left out: there is a source of that name; give the plugin a 'prefix'"
            notices.append(PluginNotice(plugin=source.plugin, message=message, server=source.name))
            continue
        taken.add(source.name)
        sources.append(source)
    return tuple(sources), notices


def _plugin(item: Node, expander: Expander, folder: Path) -> AgentPlugin:
    from codemodekit.providers.agent_plugin import load_agent_plugin  # time that a config without plugins can spare

    data_dir, prefix = item.get("dataDir"), item.get("prefix")
    return load_agent_plugin(
        _root(item, expander, folder),
        None if data_dir is None else folder / Path(expander.expand(data_dir.text())).expanduser(),
        prefix="" if prefix is None else prefix.text(),
    )


def _root(item: Node, expander: Expander, folder: Path) -> Path:
    root = item.get("root")
    if root is None:
        raise item.error("needs 'root': the folder of the plugin")
    if not root.text().strip():
        raise root.error("is empty")
    return folder / Path(expander.expand(root.text())).expanduser()


def _written(item: Node) -> str:
    return item.child("root").text()
