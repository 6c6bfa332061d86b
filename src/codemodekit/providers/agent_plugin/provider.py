"""One server of a plugin as a source. Where its paths lead is looked at each time it is started: packages are updated
while hosts run, and a link that was harmless may lead elsewhere by then."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

import anyio.to_thread

from codemodekit.contracts import ToolSession
from codemodekit.errors import ConfigurationError, SourceLost
from codemodekit.providers.agent_plugin.faults import Fault
from codemodekit.providers.agent_plugin.paths import inside, relative
from codemodekit.providers.agent_plugin.servers import Entry, ProcessEntry
from codemodekit.providers.mcp.sources import McpToolProvider, mcp

__all__ = ["PluginProvider", "prepared"]

_PLACEHOLDER: Final = re.compile(r"\$\{PLUGIN_(ROOT|DATA)\}")
_PRIVATE: Final = 0o700


class PluginProvider:
    """The tools of one server of a plugin, under the name it has there (behind a prefix, if one was asked for)."""

    def __init__(self, name: str, entry: Entry, *, plugin: str, root: Path, data_dir: Path) -> None:
        self._name = name
        self._entry = entry
        self._plugin = plugin
        self._root = root
        self._data_dir = data_dir

    def __repr__(self) -> str:
        return f"PluginProvider({self._name!r}, plugin={self._plugin!r})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def plugin(self) -> str:
        """The name of the plugin it belongs to."""
        return self._plugin

    def connect(self) -> AbstractAsyncContextManager[ToolSession]:
        """Start the server, or reach it.

        Raises:
            SourceLost: (on entering) it cannot be, or a path of it leads out of the plugin.
        """
        return self._connect()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[ToolSession]:
        try:
            made = await anyio.to_thread.run_sync(self._made)
        except (ConfigurationError, Fault) as error:
            raise SourceLost(f"server of plugin {self._plugin!r}: {error}") from error
        async with made.connect() as session:
            yield session

    def _made(self) -> McpToolProvider:
        if not isinstance(self._entry, ProcessEntry):
            make = mcp.sse if self._entry.transport == "sse" else mcp.http
            return make(self._name, self._entry.url, headers=self._entry.headers)
        data = _data_folder(self._data_dir)
        command, cwd = prepared(self._entry, self._root, data)
        places = {"ROOT": str(self._root), "DATA": str(data)}
        return mcp.stdio(
            self._name,
            command,
            [_expanded(argument, places) for argument in self._entry.args],
            env=self._environment(places),
            cwd=cwd,
        )

    def _environment(self, places: Mapping[str, str]) -> dict[str, str]:
        assert isinstance(self._entry, ProcessEntry)
        given = {name: _expanded(value, places) for name, value in self._entry.env.items()}
        return {**given, "PLUGIN_ROOT": places["ROOT"], "PLUGIN_DATA": places["DATA"]}


def prepared(entry: ProcessEntry, root: Path, data: Path) -> tuple[str, Path]:
    """What to start, and in which folder.

    Raises:
        Fault: one of them leads out of where it must stay.
    """
    command = entry.command
    if command.startswith("./"):
        command = str(inside("'command'", root, relative("'command'", command)))
    places = {"ROOT": str(root), "DATA": str(data)}
    base = data if entry.cwd.startswith("${PLUGIN_DATA}") else root
    rest = re.sub(r"\A(?:\./|\$\{PLUGIN_(?:ROOT|DATA)\}/?)", "", entry.cwd)
    return command, inside("'cwd'", base, _expanded(rest, places))


def _expanded(text: str, places: Mapping[str, str]) -> str:
    """One pass over the text: what a place brings in is not looked at again, and nothing else is a placeholder."""
    return _PLACEHOLDER.sub(lambda found: places[found[1]], text)


def _data_folder(folder: Path) -> Path:
    """The folder for what outlives an update, made if it is not there, for its owner alone."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            folder.mkdir(mode=_PRIVATE)
        return folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise Fault(f"its data folder cannot be made: {why}") from error
