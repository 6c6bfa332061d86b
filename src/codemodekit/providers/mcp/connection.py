"""From the settings of a server to a session with it: reached, its protocol agreed on, watched, and left.

Here is where the MCP SDK comes in (with the modules beside this one); nothing imports this module before a first
connection. Everything lives in the task that enters `open_session`, in a task group of its own.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import anyio
import anyio.lowlevel
import mcp_types as types
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from codemodekit.errors import SourceLost
from codemodekit.providers.mcp.dispatch import RawDispatcher
from codemodekit.providers.mcp.failures import as_lost, translate
from codemodekit.providers.mcp.http import open_http
from codemodekit.providers.mcp.link import Link
from codemodekit.providers.mcp.logs import logs_cleaned
from codemodekit.providers.mcp.session import McpSession
from codemodekit.providers.mcp.settings import ConnectionSettings, HttpServer, Mode
from codemodekit.providers.mcp.stdio import open_stdio
from codemodekit.providers.mcp.watch import Watch, with_last_words

__all__ = ["open_session"]

DISCOVER_TIMEOUT_S: Final = 2.5
"""How long a server has to say that it speaks the newer protocol, before it is spoken to in the older one."""


@asynccontextmanager
async def open_session(settings: ConnectionSettings) -> AsyncIterator[McpSession]:
    """Connect and negotiate; leaving closes everything.

    Raises:
        SourceLost: (on entering) not reachable, or (on leaving) the connection broke meanwhile.
    """
    with logs_cleaned(settings.redactor):
        async with _session(settings) as session:
            yield session


@asynccontextmanager
async def _session(settings: ConnectionSettings) -> AsyncIterator[McpSession]:
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
            raise as_lost(translate(error, settings.redactor), "connecting") from None
    if connecting.cancelled_caught:
        late = SourceLost(f"the server did not answer within {settings.connect_timeout_s:g} seconds of connecting")
        raise with_last_words(late, settings.redactor, said())


def _open_link(settings: ConnectionSettings) -> AbstractAsyncContextManager[Link]:
    return open_http(settings.server) if isinstance(settings.server, HttpServer) else open_stdio(settings.server)


@asynccontextmanager
async def _negotiated(settings: ConnectionSettings, link: Link) -> AsyncIterator[McpSession]:
    dispatcher = RawDispatcher(link.read, link.write)
    watch = Watch(link, settings.redactor)
    client = ClientSession(
        dispatcher=dispatcher,
        message_handler=watch.on_message,
        client_info=types.Implementation.model_validate(settings.client),
    )
    async with client:
        try:
            await _negotiate(client, dispatcher, settings.mode)
        except Exception as error:
            failure = as_lost(translate(error, settings.redactor, closed=link.reason), "connecting")
            raise with_last_words(failure, settings.redactor, link.host_notes()) from None
        async with anyio.create_task_group() as tasks:
            await watch.begin(client, tasks)
            yield McpSession(settings, client, dispatcher, watch)
            tasks.cancel_scope.cancel()


async def _negotiate(client: ClientSession, dispatcher: RawDispatcher, mode: Mode) -> None:
    """Agree on a protocol version.

    The SDK's own automatic way waits ten seconds for a server that ignores what it does not know, and there are such.
    """
    if mode == "2025-11-25":
        await client.initialize()
        return
    if mode == "2026-07-28":
        await client.discover()
        return
    try:
        dispatcher.discover_timeout_s = DISCOVER_TIMEOUT_S
        await client.discover()
        return
    except MCPError:
        pass  # also with the number of a closed connection, by which servers of the TypeScript SDK refuse a version
    except (RuntimeError, ValidationError):
        pass  # it answered, but not in a version of the newer protocol that we share
    finally:
        dispatcher.discover_timeout_s = None
    try:
        await client.initialize()
    except MCPError as error:
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # Slow to start, not old: our first question reached it after all, and it keeps to the newer protocol.
        await client.discover()
