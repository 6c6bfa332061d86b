"""One Code Mode behind an address, until the process is told to end.

Ending begins no more runs, gives those that are going on some time to finish, then ends them: each is still answered,
with a result that says so and a receipt of what it called.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from types import FrameType
from typing import Any, Final, cast

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from codemodekit.contracts import ToolPolicy, ToolProvider
from codemodekit.errors import ConfigurationError
from codemodekit.limits import ExecutionLimits
from codemodekit.mcp_adapter import CodeModeSurface, register_code_mode_tools
from codemodekit.mcp_adapter.definitions import INSTRUCTIONS
from codemodekit.servers.http.admission import Admission
from codemodekit.servers.http.app import HttpSettings, http_app
from codemodekit.servers.http.auth import Verifier, authentication_of
from codemodekit.servers.http.principals import principal_of
from codemodekit.servers.starting import OpenCodeMode, Starting

__all__ = ["address_of", "check_exposure", "hosts_answered", "listen", "serve_code_mode_http", "serve_http"]

_GRACE_S: Final = 10.0
"""For runs that are going on when the server is told to end."""
_LAST_WORDS_S: Final = 5.0
"""For answers to be taken by their clients after that."""


async def serve_code_mode_http(
    *,
    name: str,
    version: str,
    tool_policy: ToolPolicy,
    sources: Sequence[ToolProvider],
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "/mcp",
    auth_tokens: Sequence[str] | Mapping[str, str] | None = None,
    verifier: Verifier | None = None,
    allow_unauthenticated_remote_access: bool = False,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] = (),
    max_body_bytes: int = 2 * 1024 * 1024,
    max_requests: int = 256,
    stateless: bool = False,
    grace_s: float = _GRACE_S,
    limits: ExecutionLimits | None = None,
    search: bool = True,
    instructions: str | None = INSTRUCTIONS,
    **options: Any,
) -> None:
    """Serve these sources over Streamable HTTP until the process is told to end.

    `auth_tokens` (a list, or a mapping from principals) or a `verifier` tell who asks; the policy sees it as
    `principal`. `options` go to `CodeMode` as they are. Without `limits` a run may take 120 s and a call 60 s.

    Raises:
        ConfigurationError: an address that others can reach without authentication, or a setting that cannot work.
    """

    def open_code_mode() -> AbstractAsyncContextManager[CodeModeSurface]:
        made = import_module("codemodekit.servers.assemble").code_mode_of(
            providers=sources, tool_policy=tool_policy, limits=limits, **options
        )
        return cast(AbstractAsyncContextManager[CodeModeSurface], made)

    settings = HttpSettings(
        path=path,
        verify=authentication_of(auth_tokens, verifier),
        allowed_hosts=hosts_answered(host, allowed_hosts),
        allowed_origins=allowed_origins,
        max_body_bytes=max_body_bytes,
        max_requests=max_requests,
        stateless=stateless,
    )
    check_exposure(host, settings.verify, allow=allow_unauthenticated_remote_access)
    with listen(host, port) as listening:
        await serve_http(
            name=name,
            version=version,
            open_code_mode=open_code_mode,
            listening=listening,
            settings=settings,
            grace_s=grace_s,
            search=search,
            instructions=instructions,
        )


def check_exposure(host: str, verify: Verifier | None, *, allow: bool) -> None:
    """Refuse to let everybody on a network in by accident.

    Raises:
        ConfigurationError: others can reach `host`, and nothing tells who asks.
    """
    if verify is None and not allow and not is_loopback(host):
        raise ConfigurationError(
            f"{host!r} can be reached from other machines, and nobody is asked who they are; give bearer tokens or a "
            "verifier, or allow unauthenticated remote access explicitly"
        )


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is this machine's own."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def hosts_answered(host: str, allowed: Sequence[str] | None) -> Sequence[str] | None:
    """Which `Host` headers are answered when `host` is listened on: those of loopback (None), these, or any (empty)."""
    if allowed is not None or is_loopback(host):
        return allowed
    # An address of the network has names nobody here knows; who wants the guard there says them.
    return ()


async def serve_http(
    *,
    name: str,
    version: str,
    open_code_mode: OpenCodeMode,
    listening: socket.socket,
    settings: HttpSettings,
    grace_s: float = _GRACE_S,
    search: bool = True,
    instructions: str | None = INSTRUCTIONS,
    stop: anyio.Event | None = None,
    on_serving: Callable[[], None] | None = None,
) -> None:
    """As `serve_code_mode_http`, on a socket that listens already, for a Code Mode that is made by `open_code_mode`.

    `stop` tells it to end, as a signal does; `on_serving` is called once requests are answered.

    Raises:
        CodeModeKitError: the Code Mode cannot be made.
    """
    starting, admission = Starting(), Admission(settings.max_requests)
    server: Server[Any] = Server(name, version=version, instructions=instructions)
    register_code_mode_tools(server, code_mode=starting, search=search, principal_of=principal_of)
    app = http_app(server, settings, admission, health=starting.health)
    listener = _Listener(app, stop or anyio.Event(), on_serving)

    async def end() -> None:
        await listener.told.wait()
        starting.drain()
        admission.drain()
        with anyio.move_on_after(grace_s):
            await admission.idle.wait()
        starting.release()  # what still runs is ended, and answered
        with anyio.move_on_after(_LAST_WORDS_S):
            await admission.idle.wait()
        listener.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(starting.hold, open_code_mode, listener.told.set)
        tasks.start_soon(end)
        await listener.serve(sockets=[listening])
        listener.told.set()
    starting.raise_failure()


class _Listener(uvicorn.Server):
    """Takes a signal as a wish to end, which others carry out."""

    def __init__(self, app: Starlette, told: anyio.Event, on_serving: Callable[[], None] | None) -> None:
        super().__init__(
            uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1)
        )
        self.told = told
        self._on_serving = on_serving

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_serving is not None and self.started:
            self._on_serving()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # in the loop's own thread, between two of its steps; uvicorn wakes it ten times a second
        if self.told.is_set():
            super().handle_exit(sig, frame)  # whoever asks twice does not wait
        self.told.set()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free.

    Raises:
        ConfigurationError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def address_of(listening: socket.socket, path: str) -> str:
    """Where clients reach the endpoint."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
