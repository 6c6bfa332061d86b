"""`codemodekit serve`: the MCP server of a config."""

from __future__ import annotations

import gc
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

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
from codemodekit.servers.config import SERVER_LIMITS, Config
from codemodekit.servers.policies import build_policy
from codemodekit.servers.sources import providers_of
from codemodekit.servers.type_checking import build_type_checker

if TYPE_CHECKING:
    from codemodekit.code_mode import AuditLog

__all__ = ["HELP", "command"]

HELP: Final = (
    "Nothing but protocol is written to standard output; messages for people go to standard error, with --json as JSON "
    "lines. Sources connect while the server is already up, and are kept connected."
)


def command(
    config: ConfigFile = None, mcp_config: McpConfigFile = None, policy: Policy = None, as_json: AsJson = False
) -> int:
    """Everything that can be wrong with a config is said before the slow import of the SDK."""
    _log_to_stderr(as_json=as_json)
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


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()})


def _log_to_stderr(*, as_json: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
