"""The provider for one MCP server, and the functions that make one from a configuration.

Importing this costs next to nothing: the MCP SDK (half a second) is loaded when a first connection is opened.
Connecting again after a loss is the catalogue's work.
"""

from __future__ import annotations

import importlib.metadata
import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import anyio.to_thread

from codemodekit.contracts import ToolSession
from codemodekit.errors import ConfigurationError
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
        self._name = _text("name", name)
        for what, values in (("secrets", secrets), ("private", private)):
            if isinstance(values, str):
                raise ConfigurationError(f"{what!r} of source {name!r} must be a list of strings, not one string")
        self._settings = ConnectionSettings(
            server=server,
            mode=cast("Mode", _one_of("mode", mode, MODES)),
            output_mismatch=cast("OutputMismatch", _one_of("output_mismatch", output_mismatch, OUTPUT_MISMATCHES)),
            connect_timeout_s=_seconds("connect_timeout_s", connect_timeout_s),
            redactor=redactor_for(server, secrets=_strings("secrets", secrets), private=_strings("private", private)),
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
            command=_text("command", command),
            args=tuple(_strings("args", args)),
            env=_string_map("env", env),
            cwd=None if cwd is None else _text("cwd", str(cwd)),
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


# --- checking what a configuration says -------------------------------------------------------------------------------


def _http_server(url: str, headers: Mapping[str, str] | None, timeout_s: float, *, sse: bool) -> HttpServer:
    return HttpServer(url=_url(url), headers=_headers(headers), timeout_s=_seconds("timeout_s", timeout_s), sse=sse)


def _text(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigurationError(f"{what!r} must be text that is not empty, not {value!r}")
    return value


def _one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ConfigurationError(f"{what!r} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
    return str(value)


def _seconds(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise ConfigurationError(f"{what!r} must be a positive number of seconds, not {value!r}")
    return float(value)


def _strings(what: str, values: Sequence[str]) -> list[str]:
    items: list[Any] = list(values)
    for index, item in enumerate(items):
        if not isinstance(item, str) or "\0" in item:
            # The value stays out of the message: it may be a secret.
            raise ConfigurationError(f"{what}[{index}] must be text without NUL, not {type(item).__name__}")
    return items


def _string_map(what: str, values: Mapping[str, str] | None) -> dict[str, str]:
    items: dict[Any, Any] = dict(values or {})
    for key, value in items.items():
        if not isinstance(key, str) or not key or "=" in key or "\0" in key:
            raise ConfigurationError(f"{what!r} has the name {key!r}, which cannot be the name of a variable")
        if not isinstance(value, str) or "\0" in value:
            raise ConfigurationError(f"{what}[{key!r}] must be text without NUL, not {type(value).__name__}")
    return items


_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def _headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    items: dict[Any, Any] = dict(headers or {})
    for name, value in items.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ConfigurationError(f"{name!r} cannot be the name of an HTTP header")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigurationError(f"the value of header {name!r} must be one line of text that HTTP can carry")
    return items


def _url(url: object) -> str:
    text = _text("url", url)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError("'url' cannot be read as a URL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigurationError("'url' must start with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError("'url' must not hold a user name or password; put credentials into 'headers'")
    if any(character <= " " for character in text):
        raise ConfigurationError("'url' must not hold blanks or control characters")
    return text


def _version() -> str:
    try:
        return importlib.metadata.version("codemodekit")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout
        return "0"
