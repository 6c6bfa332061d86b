"""What a config says, as values. Nothing here reads a file or looks at the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from codemodekit.errors import ConfigurationError
from codemodekit.limits import ExecutionLimits

if TYPE_CHECKING:
    from codemodekit.contracts import ToolProvider

__all__ = [
    "POLICY_NAMES",
    "SERVER_LIMITS",
    "AuditSettings",
    "Config",
    "ConfigError",
    "OpenApiSource",
    "PluginNotice",
    "PluginSource",
    "PolicyChoice",
    "PolicyRules",
    "PythonSource",
    "RemoteSource",
    "Source",
    "StdioSource",
    "UnavailableSource",
]


class ConfigError(ConfigurationError):
    """A config that cannot be used: one line with the file, the key and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioSource:
    """An MCP server that is started as a child process."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    mode: str = "auto"
    """`auto`, or the one protocol era to speak."""
    output_mismatch: Literal["error", "warn"] = "error"
    connect_timeout_s: float = 30.0
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that must never be shown to a program, a model or a reader of logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSource:
    """An MCP server that is reached by URL, over Streamable HTTP or the older SSE transport."""

    name: str
    transport: Literal["http", "sse"]
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    mode: str = "auto"
    output_mismatch: Literal["error", "warn"] = "error"
    connect_timeout_s: float = 30.0
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiSource:
    """An HTTP API that an OpenAPI document describes."""

    name: str
    spec: str
    """A file, or an address."""
    base_url: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    auth: Mapping[str, Any] | None = field(default=None, repr=False)
    """One credential under its `type`, or some under `schemes` by the name of the document's security scheme."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    output_mismatch: Literal["error", "warn"] = "error"
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSource:
    """Python functions, found at `module:attribute`."""

    name: str
    module: str
    attribute: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableSource:
    """A source that cannot be started as configured; the others can."""

    name: str
    reason: str
    """For people and models: names a missing variable, never a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """A server that a plugin brings along; what is to be known of it is the plugin's own room's affair."""

    name: str
    plugin: str
    """The name of the plugin."""
    provider: ToolProvider = field(repr=False, compare=False)


Source: TypeAlias = StdioSource | RemoteSource | OpenApiSource | PythonSource | PluginSource | UnavailableSource

SERVER_LIMITS: Final = ExecutionLimits(wall_time_ms=120_000, tool_call_time_ms=60_000)
"""A server waits longer than a library: its programs call slow tools, and its clients have patience."""

POLICY_NAMES: Final = ("allow-all", "read-only", "deny-all")


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """Declarative rules, not yet understood: `policy.policy_rules` says whether they are sound."""

    rules: tuple[Any, ...]
    origin: str
    """The file and key they stand at, for messages."""


PolicyChoice: TypeAlias = Literal["allow-all", "read-only", "deny-all"] | PolicyRules


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Where the audit log is written and what goes into it."""

    file: Path
    redact: tuple[str, str] | None = None
    """Module and attribute of the function that redacts lines."""
    arguments: bool = False
    max_bytes: int = 64 * 1024 * 1024
    keep: int = 5
    origin: str = ""
    """The file and key they stand at, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginNotice:
    """Something of a plugin that is not used."""

    plugin: str
    """Its name, or its folder where it has none."""
    message: str
    server: str | None = None

    def __str__(self) -> str:
        return f"plugin {self.plugin!r}: {self.message}"

    def to_wire(self) -> dict[str, str]:
        wire = {"plugin": self.plugin, "message": self.message}
        return wire if self.server is None else {**wire, "server": self.server}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A whole config. With nothing given it has no sources and no policy."""

    sources: tuple[Source, ...] = ()
    """In the order of the file; names are unique."""
    policy: PolicyChoice | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    """The limits the config sets, under their camelCase names; checked."""
    search: bool = True
    """Whether `search_tools` is offered beside `run_typescript`."""
    typecheck: bool = False
    """Whether programs are type-checked before they run."""
    audit: AuditSettings | None = None
    files: tuple[Path, ...] = ()
    """Where it was read from."""
    notes: tuple[str, ...] = ()
    """What was passed over, one line each."""
    plugin_notes: tuple[PluginNotice, ...] = ()
    """What of plugins was left out or passed over."""
    import_folders: tuple[Path, ...] = ()
    """Where Python sources are looked for besides the import path."""

    def execution_limits(self, base: ExecutionLimits) -> ExecutionLimits:
        """`base` with what the config sets."""
        return ExecutionLimits.from_wire(self.limits, base)
