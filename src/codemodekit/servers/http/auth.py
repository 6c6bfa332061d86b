"""Who asks: bearer tokens into principals (RFC 6750). A request without a valid one ends here.

Tokens are compared in constant time and kept as hashes. The principal goes to the policy; the SDK binds sessions to it,
so that nobody can go on in a session of somebody else's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codemodekit.errors import ConfigurationError
from codemodekit.servers.http.principals import PRINCIPAL_KEY

__all__ = ["Authentication", "RequireToken", "Verifier", "authentication_of"]

Verifier = Callable[[str], Awaitable[Any]]
"""From a bearer token to its principal, whatever the policy makes of it; None refuses the token."""

_SHORTEST_TOKEN: Final = 16
_LONGEST_TOKEN: Final = 16 * 1024


class Authentication:
    """Knows tokens, and whom each stands for.

    `tokens` is a list of tokens, or a mapping from principals to tokens; a token of a list stands for itself, by the
    first digits of its hash.

    Raises:
        ConfigurationError: a token that is empty, short or there twice.
    """

    def __init__(self, tokens: Sequence[str] | Mapping[str, str]) -> None:
        named = tokens.items() if isinstance(tokens, Mapping) else ((_mark(token), token) for token in tokens)
        self._known: list[tuple[bytes, str]] = []
        for principal, token in named:
            if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
                raise ConfigurationError(
                    f"a bearer token has at least {_SHORTEST_TOKEN} printable ASCII characters and no blanks"
                )
            if any(known == _hash(token) for known, _ in self._known):
                raise ConfigurationError("a bearer token is given twice")
            self._known.append((_hash(token), principal))
        if not self._known:
            raise ConfigurationError("authentication needs at least one bearer token")

    async def __call__(self, token: str) -> str | None:
        """The principal of a token. Looks at every one, so that time tells nothing."""
        given, found = _hash(token), None
        for known, principal in self._known:
            if hmac.compare_digest(known, given):
                found = principal
        return found


def authentication_of(tokens: Sequence[str] | Mapping[str, str] | None, verifier: Verifier | None) -> Verifier | None:
    """One way to tell who asks, from either of two settings; None for neither.

    Raises:
        ConfigurationError: both, or a token that is none.
    """
    if isinstance(tokens, str):
        raise ConfigurationError("'auth_tokens' is a list of tokens or a mapping, not one string")
    if tokens is not None and verifier is not None:
        raise ConfigurationError("'auth_tokens' and 'verifier' exclude each other")
    return verifier if tokens is None else Authentication(tokens)


class RequireToken:
    """Lets through what bears a valid token."""

    def __init__(self, app: ASGIApp, verify: Verifier) -> None:
        self._app = app
        self._verify = verify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = _bearer(Headers(scope=scope))
        principal = None if token is None else await self._verify(token)
        if principal is None:
            await _refusal(given=token is not None)(scope, receive, send)
            return
        user = AuthenticatedUser(AccessToken(token="", client_id=_identity(principal), scopes=[]))
        await self._app({**scope, "user": user, PRINCIPAL_KEY: principal}, receive, send)


def _bearer(headers: Headers) -> str | None:
    values = headers.getlist("authorization")
    if len(values) != 1 or len(values[0]) > _LONGEST_TOKEN:
        return None
    scheme, _, token = values[0].partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _identity(principal: Any) -> str:
    """What sessions are bound to: the principal's text, which is equal for the same principal."""
    return principal if isinstance(principal, str) else repr(principal)


def _refusal(*, given: bool) -> JSONResponse:
    challenge = 'Bearer error="invalid_token"' if given else "Bearer"
    return JSONResponse({"error": "a valid bearer token is required"}, 401, {"WWW-Authenticate": challenge})


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _mark(token: str) -> str:
    return f"token-{_hash(token).hex()[:12]}"
