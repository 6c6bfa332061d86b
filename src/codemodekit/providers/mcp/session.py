"""One connection to an MCP server, as a `contracts.ToolSession`: negotiated, listed, watched and called.

Here is where the MCP SDK comes in (with the modules beside this one); nothing imports this module before a first
connection. Everything lives in the task that enters `open_session`, in a task group of its own.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, cast

import anyio
import anyio.abc
import anyio.lowlevel
import mcp_types as types
from mcp import ClientSession
from mcp.client.subscriptions import listen
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from codemodekit import _json
from codemodekit.contracts import ToolCall, ToolDefinition, ToolListing, ToolResult
from codemodekit.errors import SourceLost, ToolCallFailed
from codemodekit.providers.mcp.failures import as_lost, translate
from codemodekit.providers.mcp.http import open_http
from codemodekit.providers.mcp.link import Link
from codemodekit.providers.mcp.mapping import Unusable, tool_definition, tool_result
from codemodekit.providers.mcp.settings import ConnectionSettings, HttpServer, Mode
from codemodekit.providers.mcp.stdio import open_stdio

__all__ = ["McpSession", "open_session"]

DISCOVER_TIMEOUT_S: Final = 2.5
"""How long a server has to say that it speaks the newer protocol, before it is spoken to in the older one."""
REQUEST_TIMEOUT_S: Final = 30.0
"""For one page of tools."""
PROBE_INTERVAL_S: Final = 15.0
PROBE_TIMEOUT_S: Final = 8.0
"""Below the ten seconds the SDK itself gives the question, so that the silence is ours to judge."""
DEBOUNCE_S: Final = 0.3
"""Changes that come together are told once."""
SUBSCRIBE_WAIT_S: Final = 1.0
"""How long connecting waits for the subscription to changes; one that comes later causes a listing of its own."""
MAX_PAGES: Final = 1_000
MAX_TOOLS: Final = 20_000
MAX_NOTES: Final = 20


@asynccontextmanager
async def open_session(settings: ConnectionSettings) -> AsyncIterator[McpSession]:
    """Connect and negotiate; leaving closes everything.

    Raises:
        SourceLost: (on entering) not reachable, or (on leaving) the connection broke meanwhile.
    """
    inside: Exception | None = None
    said: Callable[[], str] = str
    # One scope around everything whose deadline is lifted once connected: a scope of its own around the connecting
    # could not be left while the task groups entered in it stay open.
    with anyio.CancelScope(deadline=anyio.current_time() + settings.connect_timeout_s) as connecting:
        try:
            async with _open_link(settings) as link:
                said = link.host_notes
                async with _negotiated(settings, link) as session:
                    connecting.deadline = math.inf
                    await anyio.lowlevel.checkpoint()  # a deadline that passed in the last moment strikes here
                    try:
                        yield session
                    except Exception as error:
                        inside = error
                        raise
        except Exception as error:
            if inside is not None and not isinstance(inside, SourceLost):
                raise inside from None  # the caller's own failure, without the groups it travelled through
            raise as_lost(translate(error, settings.redactor), "connecting") from error
    if connecting.cancelled_caught:
        late = SourceLost(f"the server did not answer within {settings.connect_timeout_s:g} seconds of connecting")
        raise _with_last_words(late, settings, said)


def _with_last_words(failure: SourceLost, settings: ConnectionSettings, said: Callable[[], str]) -> SourceLost:
    """The failure with what the server last said on the side, as a note: for the host, never for the model."""
    if not hasattr(failure, "__notes__") and (words := settings.redactor.clean(said())):
        failure.add_note(f"last output of the server:\n{words}")
    return failure


def _open_link(settings: ConnectionSettings) -> AbstractAsyncContextManager[Link]:
    return open_http(settings.server) if isinstance(settings.server, HttpServer) else open_stdio(settings.server)


@asynccontextmanager
async def _negotiated(settings: ConnectionSettings, link: Link) -> AsyncIterator[McpSession]:
    dispatcher = _RawDispatcher(link.read, link.write)
    session = McpSession(settings, link, dispatcher)
    sdk = ClientSession(
        dispatcher=dispatcher,
        message_handler=session.on_message,
        client_info=types.Implementation.model_validate(settings.client),
    )
    async with sdk:
        try:
            await _negotiate(sdk, dispatcher, settings.mode)
        except Exception as error:
            raise session.lost(
                as_lost(translate(error, settings.redactor, closed=link.reason), "connecting")
            ) from error
        async with anyio.create_task_group() as tasks:
            await session.begin(sdk, tasks)
            yield session
            tasks.cancel_scope.cancel()


async def _negotiate(sdk: ClientSession, dispatcher: _RawDispatcher, mode: Mode) -> None:
    """Agree on a protocol version.

    The SDK's own automatic way waits ten seconds for a server that ignores what it does not know, and there are such.
    """
    if mode == "2025-11-25":
        await sdk.initialize()
        return
    if mode == "2026-07-28":
        await sdk.discover()
        return
    try:
        dispatcher.discover_timeout_s = DISCOVER_TIMEOUT_S
        await sdk.discover()
        return
    except MCPError as error:
        if error.code == types.CONNECTION_CLOSED:
            raise
    except (RuntimeError, ValidationError):
        pass  # it answered, but not in a version of the newer protocol that we share
    finally:
        dispatcher.discover_timeout_s = None
    try:
        await sdk.initialize()
    except MCPError as error:
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # Slow to start, not old: our first question reached it after all, and it keeps to the newer protocol.
        await sdk.discover()


class _Answer(Exception):
    """Carries an answer past `ClientSession.send_request` as it came.

    An exception because that method returns only what it has checked against its models: they drop fields they do not
    know, and refuse a whole page for one odd tool or a whole result for one block of a new type.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


class _RawDispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, with answers about tools left as they are and a bound on the question for the version."""

    discover_timeout_s: float | None = None
    _RAW: Final = frozenset({"tools/list", "tools/call"})

    def __init__(self, read: Any, write: Any) -> None:
        super().__init__(read, write)
        self.header_maps: dict[str, dict[tuple[str, ...], str]] = {}
        """By tool: which arguments the newer protocol wants repeated in HTTP headers."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **related: Any
    ) -> dict[str, Any]:
        options: CallOptions = {**(opts or {})}
        if method == "server/discover" and self.discover_timeout_s is not None:
            options["timeout"] = self.discover_timeout_s
        if method == "tools/call" and params is not None and (names := self.header_maps.get(params["name"])):
            options["headers"] = {**options.get("headers", {}), **mcp_param_headers(names, params["arguments"])}
        result = await super().send_raw_request(method, params, options, **related)
        if method in self._RAW:
            raise _Answer(result)
        return result


class McpSession:
    """A connected MCP server."""

    def __init__(self, settings: ConnectionSettings, link: Link, dispatcher: _RawDispatcher) -> None:
        self._settings = settings
        self._link = link
        self._dispatcher = dispatcher
        self._sdk: ClientSession | None = None
        self._calls = 0
        self._listed = False
        self._changed = anyio.Event()
        self._gone = anyio.Event()
        self._suspected = anyio.Event()
        self._loss: SourceLost | None = None

    async def begin(self, sdk: ClientSession, tasks: anyio.abc.TaskGroup) -> None:
        """Start watching; the tasks end with the group."""
        self._sdk = sdk
        tasks.start_soon(self._watch_end)
        if self._link.needs_probing:
            tasks.start_soon(self._probe)
        if self._modern:
            subscribed = anyio.Event()
            tasks.start_soon(self._subscribe, subscribed)
            with anyio.move_on_after(SUBSCRIBE_WAIT_S):
                await subscribed.wait()

    @property
    def protocol_version(self) -> str:
        """What was agreed on."""
        return self._client.protocol_version or ""

    @property
    def _client(self) -> ClientSession:
        assert self._sdk is not None, "begin() comes first"
        return self._sdk

    @property
    def _modern(self) -> bool:
        return self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

    # --- listing ------------------------------------------------------------------------------------------------------

    async def list_tools(self) -> ToolListing:
        """All tools, every page read.

        Raises:
            SourceLost: the connection is gone, or the server does not list.
        """
        self._raise_if_lost()
        self._listed = True
        reading = _Reading(self._settings.output_mismatch, drop_bad_headers=self._modern)
        cursor: str | None = None
        while True:
            params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            try:
                page = await self._ask(types.ListToolsRequest(params=params), timeout_s=REQUEST_TIMEOUT_S)
            except Exception as error:
                reading.fail(self._failure(error), self)
                break
            cursor = reading.add(page)
            if cursor is None:
                break
        if self._modern:
            self._dispatcher.header_maps = {
                tool.name: names for tool in reading.tools if (names := x_mcp_header_map(tool.input_schema))
            }
        return ToolListing(
            definitions=tuple(reading.tools), notes=tuple(map(self._settings.redactor.clean, reading.notes))
        )

    # --- changes and the end ------------------------------------------------------------------------------------------

    async def wait_for_change(self) -> None:
        """Return when the tools may have changed.

        Raises:
            SourceLost: the connection is gone.
        """
        await self._changed.wait()
        with anyio.move_on_after(DEBOUNCE_S):
            await self._gone.wait()
        self._raise_if_lost()
        self._changed = anyio.Event()

    async def on_message(self, message: Any) -> None:
        """What the server says unasked."""
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    def lost(self, failure: SourceLost) -> SourceLost:
        """The failure with what the server last said on the side, for the host."""
        return _with_last_words(failure, self._settings, self._link.host_notes)

    def _lose(self, failure: SourceLost) -> None:
        if self._loss is None:
            self._loss = self.lost(failure)
            self._gone.set()
            self._changed.set()

    def _raise_if_lost(self) -> None:
        if self._loss is not None:
            raise self._copy(self._loss)

    @staticmethod
    def _copy(loss: SourceLost) -> SourceLost:
        # Many tasks may raise it at once, and a traceback belongs to one raising.
        copy = SourceLost(str(loss))
        for note in getattr(loss, "__notes__", ()):
            copy.add_note(note)
        return copy

    async def _watch_end(self) -> None:
        await self._link.ended.wait()
        self._lose(SourceLost(self._settings.redactor.clean(self._link.reason)))

    async def _subscribe(self, subscribed: anyio.Event) -> None:
        """Hear of changes, in the newer protocol: over a request that stays open and is opened again when it ends."""
        pause = 1.0
        while True:
            try:
                async with listen(self._client, tools_list_changed=True) as events:
                    if not events.honored.tools_list_changed:
                        return
                    if self._listed:
                        self._changed.set()  # nothing is replayed: what changed before this moment has to be looked up
                    subscribed.set()
                    async for _event in events:
                        self._changed.set()
            except Exception as error:
                if not isinstance(self._failure(error), SourceLost):
                    return  # the server does not offer it
            finally:
                subscribed.set()
            await anyio.sleep(pause)
            pause = min(pause * 2, 30.0)

    async def _probe(self) -> None:
        """Ask now and then, and at once when a call went wrong, whether the server is still there."""
        while True:
            with anyio.move_on_after(PROBE_INTERVAL_S):
                await self._suspected.wait()
            self._suspected = anyio.Event()
            busy = self._calls > 0
            try:
                with anyio.fail_after(PROBE_TIMEOUT_S):
                    await self._ask_whether_alive()
            except TimeoutError as error:
                # A server that does one thing at a time is silent while a call runs.
                if not busy and self._calls == 0:
                    self._lose(cast("SourceLost", translate(error, self._settings.redactor)))
            except Exception as error:
                failure = translate(error, self._settings.redactor, closed=self._link.reason)
                if isinstance(failure, SourceLost):
                    self._lose(failure)
                # any other answer, also a refusal, is a sign of life

    async def _ask_whether_alive(self) -> None:
        if self._modern:
            await self._client.send_discover(self.protocol_version)
        else:
            await self._client.send_ping()

    # --- calling ------------------------------------------------------------------------------------------------------

    async def call(self, call: ToolCall) -> ToolResult:
        """Carry out one call; cancelling it tells the server.

        Raises:
            ToolCallFailed: the tool or the server answered with an error.
            SourceLost: the connection is gone and no answer will come.
        """
        self._raise_if_lost()
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=call.tool, arguments=self._sendable(call))
        )

        async def told(progress: float, total: float | None, message: str | None) -> None:
            if message:
                call.report_progress(self._settings.redactor.clean(message))

        self._calls += 1
        try:
            raw = await self._ask(request, progress=told)
        except Exception as error:
            raise self._failure(error) from error
        finally:
            self._calls -= 1
        try:
            return tool_result(raw, null_is_a_value=self._modern)
        except ToolCallFailed as error:
            raise translate(error, self._settings.redactor) from error

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

    async def _ask(
        self, request: types.Request[Any, Any], *, timeout_s: float | None = None, progress: ProgressFnT | None = None
    ) -> dict[str, Any]:
        try:
            await self._client.send_request(
                request, BaseModel, request_read_timeout_seconds=timeout_s, progress_callback=progress
            )
        except _Answer as answer:
            return answer.result
        raise AssertionError("every method asked for is answered raw")

    def _failure(self, error: BaseException) -> SourceLost | ToolCallFailed:
        failure = translate(error, self._settings.redactor, closed=self._link.reason)
        if isinstance(failure, SourceLost):
            self._suspected.set()
            return self.lost(failure)
        return failure


class _Reading:
    """A listing while its pages come in."""

    def __init__(self, output_mismatch: Any, *, drop_bad_headers: bool) -> None:
        self.tools: list[ToolDefinition] = []
        self.notes: list[str] = []
        self._output_mismatch = output_mismatch
        self._drop_bad_headers = drop_bad_headers
        self._cursors: set[str] = set()
        self._pages = 0

    def add(self, page: dict[str, Any]) -> str | None:
        """Take in one page; the cursor of the next one, or None at the end."""
        self._pages += 1
        listed = page.get("tools")
        if isinstance(listed, list):
            for raw in listed:
                self._take(raw)
        else:
            self._note(f"page {self._pages} of the tool listing holds no list of tools")
        return self._next(page.get("nextCursor"))

    def fail(self, failure: SourceLost | ToolCallFailed, session: McpSession) -> None:
        """What a page that did not come means: a loss, a server without tools, or the end of what there is."""
        if isinstance(failure, SourceLost):
            raise failure
        if self._pages == 0 and failure.upstream_code == types.METHOD_NOT_FOUND:
            self._note("the server offers no tools")
        elif self._pages == 0:
            raise session.lost(as_lost(failure, "listing the tools"))
        else:
            self._note(f"page {self._pages + 1} of the tool listing failed: {failure.message}")

    def _take(self, raw: Any) -> None:
        tool = tool_definition(raw, output_mismatch=self._output_mismatch)
        if isinstance(tool, Unusable):
            self._note(tool.reason)
        elif self._drop_bad_headers and (reason := find_invalid_x_mcp_header(tool.input_schema)) is not None:
            # The newer protocol demands it: such a tool cannot be called as its server expects.
            self._note(f"tool {tool.name!r} is left out: its x-mcp-header annotation is not valid ({reason})")
        elif len(self.tools) < MAX_TOOLS:
            self.tools.append(tool)

    def _next(self, cursor: Any) -> str | None:
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str):
            self._note("the tool listing ends early: its cursor is not text")
        elif cursor in self._cursors:
            self._note("the tool listing ends early: its cursor came back")
        elif len(self.tools) >= MAX_TOOLS or self._pages >= MAX_PAGES:
            self._note(f"the tool listing ends early: it goes beyond {MAX_TOOLS} tools or {MAX_PAGES} pages")
        else:
            self._cursors.add(cursor)
            return cursor
        return None

    def _note(self, note: str) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append(note)
