"""The provider for one MCP server, and the functions that make one from a configuration.

Importing this costs next to nothing: the MCP SDK (half a second) is loaded when a first connection is opened.
Connecting again after a loss is the catalogue's work.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import anyio.to_thread

from codemodekit.contracts import ToolSession
from codemodekit.errors import ConfigurationError
from codemodekit.providers.mcp.checks import (
    checked_choice,
    checked_headers,
    checked_seconds,
    checked_strings,
    checked_text,
    checked_url,
    checked_variables,
)
from codemodekit.providers.mcp.secrets import redactor_for
from codemodekit.providers.mcp.settings import (
    MODES,
    OUTPUT_MISMATCHES,
    ConnectionSettings,
    HttpServer,
    Mode,
    OutputMismatch,
    StdioServer,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["McpToolProvider", "mcp"]

DEFAULT_CONNECT_TIMEOUT_S: Final = 30.0


class McpToolProvider:
    """The tools of one MCP server, under a configured name.

    Raises:
        ConfigurationError: a setting that cannot work.
    """

    def __init__(
        self,
        name: str,
        server: StdioServer | HttpServer,
        *,
        mode: Mode = "auto",
        output_mismatch: OutputMismatch = "error",
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        secrets: Sequence[str] = (),
        private: Sequence[str] = (),
    ) -> None:
        self._name = checked_text("name", name)
        for what, values in (("secrets", secrets), ("private", private)):
            if isinstance(values, str):
                raise ConfigurationError(f"{what!r} of source {name!r} must be a list of strings, not one string")
        self._settings = ConnectionSettings(
            server=server,
            mode=cast("Mode", checked_choice("mode", mode, MODES)),
            output_mismatch=cast(
                "OutputMismatch", checked_choice("output_mismatch", output_mismatch, OUTPUT_MISMATCHES)
            ),
            connect_timeout_s=checked_seconds("connect_timeout_s", connect_timeout_s),
            redactor=redactor_for(
                server, secrets=checked_strings("secrets", secrets), private=checked_strings("private", private)
            ),
            client={"name": "codemodekit", "version": _version()},
        )

    def __repr__(self) -> str:
        return f"McpToolProvider({self._name!r}, {self._settings.server!r})"

    @property
    def name(self) -> str:
        """The configured name, kept exactly."""
        return self._name

    def redact(self, text: str) -> str:
        """The text without this source's secrets and without authorization material, bounded."""
        return self._settings.redactor.clean(text)

    def connect(self) -> AbstractAsyncContextManager[ToolSession]:
        """Open one connection; enter and leave it in the same task.

        Raises:
            SourceLost: (on entering) the server cannot be reached, or (on leaving) the connection broke meanwhile.
        """
        return self._connect()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[ToolSession]:
        open_session = await anyio.to_thread.run_sync(_load_sdk)
        async with open_session(self._settings) as session:
            yield session


def _load_sdk() -> Callable[[ConnectionSettings], AbstractAsyncContextManager[ToolSession]]:
    # Here and not at the top, and called in a thread: the SDK behind this module takes half a second to import, which
    # neither `import codemodekit` nor the event loop of a running host should pay.
    from codemodekit.providers.mcp.connection import open_session

    return open_session


class _Factories:
    """The way to say "an MCP server" in a configuration."""

    @staticmethod
    def stdio(
        name: str,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        mode: Mode = "auto",
        output_mismatch: OutputMismatch = "error",
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        secrets: Sequence[str] = (),
        private: Sequence[str] = (),
    ) -> McpToolProvider:
        """A server started as a child process.

        Raises:
            ConfigurationError: a setting that cannot work.
        """
        if isinstance(args, str):
            raise ConfigurationError(f"'args' of source {name!r} must be a list of strings, not one string")
        server = StdioServer(
            command=checked_text("command", command),
            args=tuple(checked_strings("args", args)),
            env=checked_variables("env", env),
            cwd=None if cwd is None else checked_text("cwd", str(cwd)),
        )
        return McpToolProvider(
            name,
            server,
            mode=mode,
            output_mismatch=output_mismatch,
            connect_timeout_s=connect_timeout_s,
            secrets=secrets,
            private=private,
        )

    @staticmethod
    def http(
        name: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        mode: Mode = "auto",
        output_mismatch: OutputMismatch = "error",
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        secrets: Sequence[str] = (),
        private: Sequence[str] = (),
    ) -> McpToolProvider:
        """A server that speaks Streamable HTTP.

        Raises:
            ConfigurationError: a setting that cannot work.
        """
        return McpToolProvider(
            name,
            _http_server(url, headers, timeout_s, sse=False),
            mode=mode,
            output_mismatch=output_mismatch,
            connect_timeout_s=connect_timeout_s,
            secrets=secrets,
            private=private,
        )

    @staticmethod
    def sse(
        name: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        mode: Mode = "auto",
        output_mismatch: OutputMismatch = "error",
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        secrets: Sequence[str] = (),
        private: Sequence[str] = (),
    ) -> McpToolProvider:
        """A server that speaks the older HTTP transport, with one event stream.

        Raises:
            ConfigurationError: a setting that cannot work.
        """
        return McpToolProvider(
            name,
            _http_server(url, headers, timeout_s, sse=True),
            mode=mode,
            output_mismatch=output_mismatch,
            connect_timeout_s=connect_timeout_s,
            secrets=secrets,
            private=private,
        )


mcp: Final = _Factories()
"""`mcp.stdio(...)`, `mcp.http(...)` and `mcp.sse(...)`."""


def _http_server(url: str, headers: Mapping[str, str] | None, timeout_s: float, *, sse: bool) -> HttpServer:
    return HttpServer(
        url=checked_url(url),
        headers=checked_headers(headers),
        timeout_s=checked_seconds("timeout_s", timeout_s),
        sse=sse,
    )


def _version() -> str:
    try:
        return importlib.metadata.version("codemodekit")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout
        return "0"
