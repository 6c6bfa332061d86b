"""A connected MCP server as a `contracts.ToolSession`: its tools are listed, and called.

Stands on a client that has agreed on its protocol (see connection.py) and on the watch over the connection. What comes
from the server leaves here cleaned.
"""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types
from mcp import ClientSession
from mcp.shared.inbound import x_mcp_header_map
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemodekit import _json
from codemodekit.contracts import ToolCall, ToolListing, ToolResult
from codemodekit.errors import ToolCallFailed
from codemodekit.providers.mcp.dispatch import RawDispatcher, ask
from codemodekit.providers.mcp.failures import translate
from codemodekit.providers.mcp.listing import Reading, read_pages
from codemodekit.providers.mcp.logs import logs_cleaned
from codemodekit.providers.mcp.results import tool_result, without_secrets
from codemodekit.providers.mcp.settings import ConnectionSettings, HttpServer
from codemodekit.providers.mcp.watch import Watch

__all__ = ["McpSession"]

REQUEST_TIMEOUT_S: Final = 30.0
"""For one page of tools."""


class McpSession:
    """A connected MCP server."""

    def __init__(
        self, settings: ConnectionSettings, client: ClientSession, dispatcher: RawDispatcher, watch: Watch
    ) -> None:
        self._settings = settings
        self._client = client
        self._dispatcher = dispatcher
        self._watch = watch

    @property
    def protocol_version(self) -> str:
        """What was agreed on."""
        return self._client.protocol_version or ""

    @property
    def _modern(self) -> bool:
        return self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def wait_for_change(self) -> None:
        """Return when the tools may have changed.

        Raises:
            SourceLost: the connection is gone.
        """
        await self._watch.wait_for_change()

    async def list_tools(self) -> ToolListing:
        """All tools, every page read.

        Raises:
            SourceLost: the connection is gone, or the server does not list.
        """
        self._watch.raise_if_lost()
        self._watch.listed = True
        reading = Reading(self._settings.redactor, self._settings.output_mismatch, drop_bad_headers=self._modern)
        listing = await read_pages(reading, self._page, self._watch.failure)
        if self._modern:
            self._dispatcher.header_maps = {
                tool.name: names for tool in listing.definitions if (names := x_mcp_header_map(tool.input_schema))
            }
        return listing

    async def _page(self, cursor: str | None) -> dict[str, Any]:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        return await ask(self._client, types.ListToolsRequest(params=params), timeout_s=REQUEST_TIMEOUT_S)

    async def call(self, call: ToolCall) -> ToolResult:
        """Carry out one call; cancelling it tells the server.

        Raises:
            ToolCallFailed: the tool or the server answered with an error, or with what is no result.
            SourceLost: the connection is gone and no answer will come.
        """
        self._watch.raise_if_lost()
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=call.tool, arguments=self._sendable(call))
        )

        async def told(progress: float, total: float | None, message: str | None) -> None:
            if message:
                call.report_progress(self._settings.redactor.clean(message))

        self._watch.calls += 1
        try:
            with logs_cleaned(self._settings.redactor):
                raw = await ask(self._client, request, progress=told)
        except Exception as error:
            # Without its cause, which quotes the server as it came and would show it in every traceback.
            raise self._watch.failure(error) from None
        finally:
            self._watch.calls -= 1
        try:
            shown = await without_secrets(raw, self._settings.redactor)
            return tool_result(raw, shown, null_is_a_value=self._modern)
        except ToolCallFailed as error:
            raise translate(error, self._settings.redactor) from None

    def _sendable(self, call: ToolCall) -> dict[str, Any]:
        if not isinstance(call.input, dict):
            raise ToolCallFailed("a tool of an MCP server takes its arguments as an object")
        if isinstance(self._settings.server, HttpServer):
            try:
                _json.dumps(call.input).encode()
            except UnicodeEncodeError as error:
                # The HTTP transports write UTF-8, and one that fails to takes its connection with it.
                raise ToolCallFailed("the arguments hold half of a surrogate pair, which cannot be sent") from error
        return call.input
