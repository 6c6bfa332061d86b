"""A plugin that has been read, as a value: its name, its servers as providers, and what was wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codemodekit.providers.agent_plugin.manifest import Manifest
from codemodekit.providers.agent_plugin.provider import PluginProvider

__all__ = ["AgentPlugin", "PluginNote"]


@dataclass(frozen=True, slots=True)
class PluginNote:
    """Something wrong in a package that did not reject all of it."""

    file: str
    """`plugin.json` or `mcp.json`."""
    message: str
    server: str | None = None
    """The entry that was left out, or that is odd; None for what concerns the whole file."""

    def __str__(self) -> str:
        where = self.file if self.server is None else f"{self.file}, server {ascii(self.server)[:100]}"
        return f"{where}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlugin:
    """One installed plugin."""

    manifest: Manifest
    root: Path
    """Its folder, resolved."""
    data_dir: Path
    """Where its servers keep what outlives an update; made when the first of them is started."""
    providers: tuple[PluginProvider, ...] = ()
    """Its servers, in the order of the file, under their own names: `CodeMode(providers=[*plugin.providers, ...])`."""
    notes: tuple[PluginNote, ...] = ()
    """What was left out or passed over."""

    @property
    def name(self) -> str:
        """The name in its manifest."""
        return self.manifest.name
