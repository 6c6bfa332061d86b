"""How to reach one MCP server, as values. They hold credentials, so they never show their contents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from codemodekit.providers.mcp.redaction import Redactor

__all__ = ["ConnectionSettings", "HttpServer", "Mode", "OutputMismatch", "StdioServer"]

Mode: TypeAlias = Literal["auto", "2026-07-28", "2025-11-25"]
"""The protocol: the newer one where the server speaks it, or one of the two."""

OutputMismatch: TypeAlias = Literal["error", "warn"]
"""What a result does that does not match its declared schema."""

MODES: tuple[str, ...] = get_args(Mode)
OUTPUT_MISMATCHES: tuple[str, ...] = get_args(OutputMismatch)


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A server that is started as a child process."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Added to the few variables that are safe to hand on."""
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server behind a URL."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent to the URL's own origin only."""
    timeout_s: float = 30.0
    """For connecting and sending; how long an answer may take is the caller's to say."""
    sse: bool = False
    """The older transport with one event stream, instead of Streamable HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """Everything one connection needs to know."""

    server: StdioServer | HttpServer
    mode: Mode = "auto"
    output_mismatch: OutputMismatch = "error"
    connect_timeout_s: float = 30.0
    redactor: Redactor = field(default_factory=Redactor)
    client: Mapping[str, Any] = field(default_factory=lambda: {"name": "codemodekit", "version": "0"})
    """How we introduce ourselves."""
