"""Puts the two tools on a server by wrapping its `tools/list` and `tools/call`, and touches nothing else of it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from codemodekit._json import JsonValue, dumps, loads
from codemodekit.errors import CodeModeKitError, ConfigurationError
from codemodekit.mcp_adapter.arguments import BadArguments, run_arguments, search_arguments
from codemodekit.mcp_adapter.definitions import RUN, SEARCH, surface_tools
from codemodekit.mcp_adapter.progress import forwarding
from codemodekit.mcp_adapter.texts import run_text, search_text

__all__ = ["CodeModeSurface", "RunOutcome", "register_code_mode_tools"]

_log = logging.getLogger(__name__)

_REPLACED = "half surrogate pairs were replaced by U+FFFD: the protocol carries whole characters only"

_Context = ServerRequestContext[Any, Any]


class RunOutcome(Protocol):
    """What a run resolves to."""

    @property
    def ok(self) -> bool: ...

    def to_wire(self) -> dict[str, Any]: ...


class CodeModeSurface(Protocol):
    """The part of a `CodeMode` that is offered to a model."""

    async def run(
        self,
        code: str,
        *,
        context: JsonValue = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> RunOutcome: ...

    async def search_tools(
        self,
        query: str,
        *,
        source: str | None = None,
        detail: Any = "summary",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]: ...


def register_code_mode_tools(
    server: MCPServer[Any] | Server[Any],
    *,
    code_mode: CodeModeSurface,
    search: bool = True,
    principal_of: Callable[[ServerRequestContext[Any, Any]], Any] | None = None,
) -> None:
    """Add `run_typescript`, and `search_tools` unless `search` is False, to a server.

    `principal_of` tells from a request's context who runs its program; the policy sees the answer.

    On a low-level `Server`, register after its own tool handlers: a later handler for `tools/list` replaces this one.

    Raises:
        ConfigurationError: the server has them already, or one of its tools has such a name.
    """
    tools = surface_tools(search=search)
    if isinstance(server, MCPServer):
        _refuse_taken_names(server, {tool["name"] for tool in tools})
    _Surface(code_mode, tools, principal_of or _nobody).install(_low_level(server))


def _nobody(_context: _Context) -> None:
    """A server that does not know who asks."""


def _low_level(server: MCPServer[Any] | Server[Any]) -> Server[Any]:
    # MCPServer.add_tool derives schemas from a signature and parses strings that look like JSON, so neither the bytes
    # of the tool list nor a `context` that is text would be ours; the server it wraps has no public name
    return server._lowlevel_server if isinstance(server, MCPServer) else server


def _refuse_taken_names(server: MCPServer[Any], names: set[str]) -> None:
    for tool in server._tool_manager.list_tools():
        if tool.name in names:
            raise ConfigurationError(f"the server already has a tool named {tool.name!r}")


class _Surface:
    """The two tools in front of whatever handlers the server had."""

    def __init__(
        self, code_mode: CodeModeSurface, tools: list[dict[str, Any]], principal_of: Callable[[_Context], Any]
    ) -> None:
        self._code_mode = code_mode
        self._principal_of = principal_of
        self._tools = [types.Tool.model_validate(tool, by_name=False) for tool in tools]
        self._calls: dict[str, Callable[[_Context, Mapping[str, Any]], Awaitable[types.CallToolResult]]] = {
            RUN: self._run,
            SEARCH: self._search,
        }
        self._names = {tool.name for tool in self._tools}
        self._list_others: Callable[[Any, Any], Awaitable[HandlerResult]] | None = None
        self._call_others: Callable[[Any, Any], Awaitable[HandlerResult]] | None = None

    def install(self, server: Server[Any]) -> None:
        lister, caller = server.get_request_handler("tools/list"), server.get_request_handler("tools/call")
        if lister is not None and isinstance(getattr(lister.handler, "__self__", None), _Surface):
            raise ConfigurationError("the Code Mode tools are on this server already")
        self._list_others = None if lister is None else lister.handler
        self._call_others = None if caller is None else caller.handler
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)

    async def list_tools(self, ctx: _Context, params: types.PaginatedRequestParams) -> HandlerResult:
        """Ours on the first page, before those of the server."""
        if self._list_others is None:
            return types.ListToolsResult(tools=self._tools)
        others = await self._list_others(ctx, params)
        if params.cursor:
            return others
        if isinstance(others, types.ListToolsResult):
            return others.model_copy(update={"tools": [*self._tools, *others.tools]})
        listed = cast(dict[str, Any], others)
        return {**listed, "tools": [*self._wire(), *listed.get("tools", ())]}

    def _wire(self) -> list[dict[str, Any]]:
        return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in self._tools]

    async def call_tool(self, ctx: _Context, params: types.CallToolRequestParams) -> HandlerResult:
        if params.name not in self._names:
            if self._call_others is None:
                raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}")
            return await self._call_others(ctx, params)
        try:
            return await self._calls[params.name](ctx, params.arguments or {})
        except (BadArguments, CodeModeKitError) as error:
            return _failed(str(error))
        except Exception:
            # without this the SDK answers a protocol error that most clients do not show to the model
            _log.exception("%s failed", params.name)
            return _failed(f"{params.name} failed for a reason inside of the server; its log has more")

    async def _run(self, ctx: _Context, arguments: Mapping[str, Any]) -> types.CallToolResult:
        given = run_arguments(arguments)
        async with forwarding(ctx.session.report_progress) as on_progress:
            # a surface that knows no principals is not told of one
            who = {} if (principal := self._principal_of(ctx)) is None else {"principal": principal}
            run: Any = self._code_mode.run
            result: RunOutcome = await run(given.code, context=given.context, on_progress=on_progress, **who)
        wire = _unicode(result.to_wire())
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=run_text(wire))],
            structured_content=wire,
            is_error=not result.ok,
        )

    async def _search(self, _ctx: _Context, arguments: Mapping[str, Any]) -> types.CallToolResult:
        given = search_arguments(arguments)
        found = await self._code_mode.search_tools(
            given.query, source=given.source, detail=given.detail, limit=given.limit, cursor=given.cursor
        )
        found = _unicode(found)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=search_text(found))], structured_content=found
        )


def _unicode(wire: dict[str, Any]) -> dict[str, Any]:
    """The same, with lone surrogates as U+FFFD: at one the SDK's transports fail, and with them the connection."""
    text = dumps(wire)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole: dict[str, Any] = loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        if "ok" in whole:
            whole["notes"] = [*whole.get("notes", ()), _REPLACED]
        return whole
    return wire


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
