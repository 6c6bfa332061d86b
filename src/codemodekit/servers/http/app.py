"""The ASGI application: the MCP endpoint behind its guards, and two routes for whoever watches the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from codemodekit.servers.http.admission import Admission, Admit
from codemodekit.servers.http.auth import RequireToken, Verifier

__all__ = ["HttpSettings", "http_app"]

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How the endpoint behaves."""

    path: str = "/mcp"
    verify: Verifier | None = None
    """Who asks; None lets anybody in."""
    allowed_hosts: Sequence[str] | None = None
    """Values of `Host` that are answered, `name:*` for any port; None for those of loopback. Empty answers any."""
    allowed_origins: Sequence[str] = ()
    """Values of `Origin` that are answered besides those of loopback."""
    max_body_bytes: int = 2 * 1024 * 1024
    max_requests: int = 256
    """Requests answered at once; more are told to try again."""
    stateless: bool = False
    """Whether a request needs no session: any worker answers any request, and a client of the older era can no longer
    cancel a call but by hanging up."""


def http_app(
    server: Server[Any],
    settings: HttpSettings,
    admission: Admission,
    *,
    health: Callable[[], list[dict[str, Any]] | None],
) -> Starlette:
    """The application of a server. `health` gives the sources' states, None while there is no Code Mode yet."""
    manager = StreamableHTTPSessionManager(
        server,
        stateless=settings.stateless,
        security_settings=_security(settings),
        max_request_body_size=settings.max_body_bytes,
    )
    endpoint: ASGIApp = Admit(_Endpoint(manager), admission)
    if settings.verify is not None:
        endpoint = RequireToken(endpoint, settings.verify)

    async def alive(_: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

    async def ready(_: Request) -> JSONResponse:
        sources = health()
        is_ready = sources is not None and not admission.draining
        # names of sources and their errors are for those who may use the server
        told = {"status": "ready" if is_ready else "ending" if admission.draining else "starting"}
        counts: dict[str, int] = {}
        for source in sources or ():
            counts[source["state"]] = counts.get(source["state"], 0) + 1
        return JSONResponse({**told, "sources": counts}, 200 if is_ready else 503)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [
        Route(settings.path, endpoint=endpoint),
        Route("/health", alive, methods=["GET"]),
        Route("/ready", ready, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


class _Endpoint:
    # an object, not a function: Starlette gives a function a request instead of the raw messages
    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def _security(settings: HttpSettings) -> TransportSecuritySettings:
    """The guard against DNS rebinding: a page in a browser that made its own name point here is not answered."""
    hosts = settings.allowed_hosts
    if hosts is None:
        hosts = [form for name in LOOPBACK for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in LOOPBACK for port in ("", ":*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(hosts),
        allowed_hosts=list(hosts),
        allowed_origins=[*origins, *settings.allowed_origins],
    )
