"""`codemodekit serve`: the MCP server of a config, on standard input and output or behind an address."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import anyio
import typer

from codemodekit.cli.log_lines import log_to_stderr
from codemodekit.cli.options import (
    AsJson,
    ConfigFile,
    McpConfigFile,
    Policy,
    chosen_config,
    chosen_policy,
    require_sources,
)
from codemodekit.cli.version import package_version
from codemodekit.servers.config import SERVER_LIMITS, Config, ConfigError
from codemodekit.servers.policies import build_policy
from codemodekit.servers.sources import providers_of
from codemodekit.servers.type_checking import build_type_checker

if TYPE_CHECKING:
    from codemodekit.code_mode import AuditLog

__all__ = ["HELP", "command"]

HELP: Final = (
    "Nothing but protocol is written to standard output; messages for people go to standard error, with --json as JSON "
    "lines. Sources connect while the server is already up, and are kept connected. With --http it is Streamable HTTP "
    "behind /mcp; /health and /ready answer whoever watches the server."
)

Http = Annotated[
    str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve over HTTP instead; port 0 takes a free one.")
]
TokenVariable = Annotated[
    str | None,
    typer.Option(
        "--auth-token-env",
        metavar="NAME",
        help="Environment variable with the bearer tokens of clients, parted by blanks; each may be PRINCIPAL=TOKEN.",
    ),
]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host", metavar="NAME", help="Host header that is answered, NAME:* for any port; repeatable."
    ),
]
Remote = Annotated[
    bool,
    typer.Option(
        "--allow-unauthenticated-remote-access", help="Listen for other machines although nobody is asked who they are."
    ),
]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that share the address.")
]


def command(
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    policy: Policy = None,
    http: Http = None,
    auth_token_env: TokenVariable = None,
    allowed_host: AllowedHost = None,
    allow_unauthenticated_remote_access: Remote = False,
    workers: Workers = 1,
    as_json: AsJson = False,
) -> int:
    log_to_stderr(as_json=as_json)
    if http is None:
        if auth_token_env or allowed_host or allow_unauthenticated_remote_access or workers > 1:
            raise ConfigError("--auth-token-env, --allowed-host, --workers and remote access go with --http HOST:PORT")
        return _serve_on_streams(config, mcp_config, policy)
    from codemodekit.cli.serving_http import HttpChoice, serve_over_http  # the whole runtime, which stdio loads later

    return serve_over_http(
        HttpChoice(
            config=config,
            mcp_config=mcp_config,
            policy=policy,
            address=http,
            tokens=None if auth_token_env is None else _tokens(auth_token_env),
            allowed_hosts=None if allowed_host is None else tuple(allowed_host),
            allow_remote=allow_unauthenticated_remote_access,
            workers=workers,
            as_json=as_json,
        )
    )


def _tokens(variable: str) -> tuple[str, ...]:
    found = tuple(os.environ.get(variable, "").split())
    if not found:
        raise ConfigError(f"--auth-token-env: the environment variable {variable!r} is not set, or empty")
    return found


def _serve_on_streams(config: Path | None, mcp_config: Path | None, policy: str | None) -> int:
    """Everything that can be wrong with a config is said before the slow import of the SDK."""
    chosen = require_sources(chosen_config(config, mcp_config))
    tool_policy = build_policy(chosen_policy(policy, chosen))
    providers = providers_of(chosen)
    audit = _audit(chosen)
    type_checker = build_type_checker(chosen)
    with _no_garbage_collection():
        from codemodekit.servers.stdio import serve_code_mode_stdio  # the MCP SDK: half a second
    serve = partial(
        serve_code_mode_stdio,
        name="codemodekit",
        version=package_version(),
        tool_policy=tool_policy,
        sources=providers,
        limits=chosen.execution_limits(SERVER_LIMITS),
        search=chosen.search,
        audit=audit,
        type_checker=type_checker,
    )
    if sys.stdin.isatty():
        sys.stderr.write("Serving on standard input and output, for an MCP client to start. Ctrl-C ends it.\n")
    anyio.run(serve)
    return 0


def _audit(config: Config) -> AuditLog | None:
    if config.audit is None:
        return None
    from codemodekit.servers.audit import build_audit  # it brings the whole runtime along, which can wait otherwise

    return build_audit(config.audit, config.import_folders)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    # the import makes a million objects that all stay; looking for garbage among them takes a seventh of its time
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
