"""`codemodekit serve --http`: the address that is listened on, and what each process behind it serves.

A worker reads the config anew: what it builds cannot be handed from one process to another.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from codemodekit.cli.log_lines import log_to_stderr
from codemodekit.cli.options import chosen_config, chosen_policy, require_sources
from codemodekit.cli.version import package_version
from codemodekit.servers.assemble import build_code_mode
from codemodekit.servers.config import ConfigError
from codemodekit.servers.http.app import HttpSettings
from codemodekit.servers.http.auth import authentication_of
from codemodekit.servers.http.serve import address_of, check_exposure, hosts_answered, listen, serve_http
from codemodekit.servers.http.workers import run_workers

__all__ = ["HttpChoice", "serve_over_http"]

_PATH: Final = "/mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpChoice:
    """What the command line says; crosses to the workers."""

    config: Path | None
    mcp_config: Path | None
    policy: str | None
    address: str
    """HOST:PORT."""
    tokens: tuple[str, ...] | None = field(default=None, repr=False)
    """Each a token, or `PRINCIPAL=TOKEN`."""
    allowed_hosts: tuple[str, ...] | None = None
    allow_remote: bool = False
    workers: int = 1
    as_json: bool = False


def serve_over_http(choice: HttpChoice) -> int:
    """Serve until a signal; the exit code.

    Raises:
        ConfigError: the config, the address or a token cannot be used.
    """
    chosen = require_sources(chosen_config(choice.config, choice.mcp_config))
    build_code_mode(chosen, policy_override=chosen_policy(choice.policy, chosen), audit=False)  # says what is wrong now
    host, port = _host_and_port(choice.address)
    settings = _settings(choice, host)
    check_exposure(host, settings.verify, allow=choice.allow_remote)
    with listen(host, port) as listening:
        sys.stderr.write(f"Serving on {address_of(listening, _PATH)}. Ctrl-C ends it.\n")
        sys.stderr.flush()
        if choice.workers > 1:
            return run_workers(partial(_work, choice), listening, choice.workers)
        _serve(choice, settings, listening)
    return 0


def _work(choice: HttpChoice, listening: socket.socket, serves: Callable[[], None]) -> None:
    log_to_stderr(as_json=choice.as_json)
    _serve(choice, _settings(choice, _host_and_port(choice.address)[0]), listening, serves)


def _serve(
    choice: HttpChoice, settings: HttpSettings, listening: socket.socket, serves: Callable[[], None] | None = None
) -> None:
    chosen = chosen_config(choice.config, choice.mcp_config)
    policy = chosen_policy(choice.policy, chosen)
    anyio.run(
        partial(
            serve_http,
            name="codemodekit",
            version=package_version(),
            open_code_mode=lambda: build_code_mode(chosen, policy_override=policy),
            listening=listening,
            settings=settings,
            search=chosen.search,
            on_serving=serves,
        )
    )


def _settings(choice: HttpChoice, host: str) -> HttpSettings:
    return HttpSettings(
        path=_PATH,
        verify=authentication_of(None if choice.tokens is None else _named(choice.tokens), None),
        allowed_hosts=hosts_answered(host, choice.allowed_hosts),
        stateless=choice.workers > 1,
    )


def _named(tokens: Sequence[str]) -> Sequence[str] | Mapping[str, str]:
    """Tokens by principal, where each names one.

    Raises:
        ConfigError: some do and some do not, or two name the same.
    """
    parts = [token.partition("=") for token in tokens]
    named = {name: token for name, mark, token in parts if mark and name and token}
    if not named:
        return tokens
    if len(named) < len(tokens):
        raise ConfigError("--auth-token-env: either every token is PRINCIPAL=TOKEN, each principal once, or none is")
    return named


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ConfigError(f"--http: expected HOST:PORT, such as 127.0.0.1:8000, not {address!r}")
    return host, int(port)
