"""The options that several commands share, and what they choose: a config and a policy."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from codemodekit._json import ABSENT, loads
from codemodekit.servers.config import POLICY_NAMES, Config, ConfigError, PolicyChoice, load_config, read_policy

__all__ = [
    "AsJson",
    "ConfigFile",
    "McpConfigFile",
    "Policy",
    "chosen_config",
    "chosen_policy",
    "json_option",
    "require_source",
    "require_sources",
]

_log = logging.getLogger("codemodekit")

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Config file. Without it: $CODEMODEKIT_CONFIG, codemode.json or codemode.toml here, the user's.",
    ),
]
McpConfigFile = Annotated[
    Path | None,
    typer.Option("--mcp-config", metavar="FILE", help="Servers from any client's mcpServers JSON; enough alone."),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="|".join((*POLICY_NAMES, "FILE")),
        help="Which calls are let through; wins over the config's. A file holds a list of rules.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text for people.")]


def chosen_config(config: Path | None, mcp_config: Path | None) -> Config:
    """The config the options and the environment lead to.

    Raises:
        ConfigError: it cannot be used.
    """
    chosen = load_config(config=config, mcp_config=mcp_config, folder=Path.cwd(), environment=os.environ)
    for note in (*chosen.notes, *chosen.plugin_notes):
        _log.warning("%s", note)  # on standard error, also when nobody has set up logging
    return chosen


def require_sources(config: Config) -> Config:
    """The config, if there is anything in it to serve.

    Raises:
        ConfigError: there is not.
    """
    if not config.sources:
        where = f"{config.files[0]} names" if config.files else "there is no config, so there are"
        raise ConfigError(f"{where} no sources; write a codemode.json, or give --config FILE or --mcp-config FILE")
    return config


def require_source(name: str | None, config: Config) -> None:
    """Refuse the name of a source that is not configured; None asks for no source in particular.

    Raises:
        ConfigError: there is none of this name.
    """
    names = [each.name for each in config.sources]
    if name is not None and name not in names:
        raise ConfigError(f"there is no source {name!r}; configured: {', '.join(names)}")


def chosen_policy(option: str | None, config: Config) -> PolicyChoice:
    """The policy of the option, else of the config.

    Raises:
        ConfigError: neither chooses one, or what is chosen is none.
    """
    if option is not None:
        return read_policy(option, folder=Path.cwd(), where="--policy")
    if config.policy is None:
        raise ConfigError(
            "no policy is chosen, and nothing is allowed without one: "
            f"give --policy {'|'.join(POLICY_NAMES)}|FILE, or the key 'policy' in the config"
        )
    return config.policy


def json_option(option: str, text: str | None) -> Any:
    """The JSON value that an option holds; ABSENT without the option.

    Raises:
        ConfigError: not JSON.
    """
    if text is None:
        return ABSENT
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{option}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{option}: not JSON: {error}") from error
