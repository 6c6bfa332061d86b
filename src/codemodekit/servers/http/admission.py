"""How much at once: requests beyond a number are refused. And when nothing is being answered any more."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Admission", "Admit"]

_RETRY_AFTER_S = "1"


@dataclass(slots=True)
class Admission:
    """Counts what is being answered."""

    most: int
    draining: bool = False
    active: int = 0
    idle: anyio.Event = field(default_factory=anyio.Event)
    """Set once the server drains and nothing is being answered any more."""

    def drain(self) -> None:
        """Say when nothing is being answered any more. What comes until then is answered too: a client may have to list
        tools to make sense of a result it waited for; only runs are refused, elsewhere."""
        self.draining = True
        if not self.active:
            self.idle.set()

    def enter(self) -> str | None:
        """Count a request in, or say why it cannot be."""
        if self.active >= self.most:
            return f"this server answers {self.most} requests at once; try again"
        self.active += 1
        return None

    def leave(self) -> None:
        self.active -= 1
        if self.draining and not self.active:
            self.idle.set()


class Admit:
    """Lets requests that do work through as far as there is room; streams a client only listens on are not counted."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        refused = self._admission.enter()
        if refused is not None:
            await JSONResponse({"error": refused}, 503, {"Retry-After": _RETRY_AFTER_S})(scope, receive, send)
            return
        try:
            await self._app(scope, receive, self._closing(send))
        finally:
            self._admission.leave()

    def _closing(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and self._admission.draining:
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            await send(message)

        return sent
