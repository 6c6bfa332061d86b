"""The config file: from text on disk to a `Config` value, with one clear line for anything that is wrong with it.

Knows nothing of sandboxes or the MCP SDK, and of providers only those that plugins bring along; it starts nothing.
`servers.assemble` builds from the value.
"""

from __future__ import annotations

from codemodekit.servers.config.load import CONFIG_VARIABLE, find_config, load_config, read_config
from codemodekit.servers.config.model import (
    POLICY_NAMES,
    SERVER_LIMITS,
    AuditSettings,
    Config,
    ConfigError,
    OpenApiSource,
    PluginNotice,
    PluginSource,
    PolicyChoice,
    PolicyRules,
    PythonSource,
    RemoteSource,
    Source,
    StdioSource,
    UnavailableSource,
)
from codemodekit.servers.config.policy import read_policy

__all__ = [
    "CONFIG_VARIABLE",
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
    "find_config",
    "load_config",
    "read_config",
    "read_policy",
]
