"""Credentials for an API: what the host configured, put where the document's security scheme says.

Each kind adds itself to a request that goes to the API's own origin; nobody else's origin ever sees one. OAuth 2.0
client credentials after RFC 6749 §4.4: the token is fetched when it is first needed, kept until shortly before it
expires, and fetched anew for the next call once the API has refused it.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

import httpx2

from codemodekit._json import loads
from codemodekit.errors import ConfigurationError, ToolCallFailed
from codemodekit.providers.openapi.credentials import ApiKey, Auth, Basic, Bearer, ClientCredentials
from codemodekit.providers.openapi.operation import Operation, member
from codemodekit.providers.openapi.request import HttpRequest
from codemodekit.providers.openapi.styles import quote_all

__all__ = ["Authenticator"]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A credential, and the scheme of the document it answers to."""

    auth: Auth
    scheme: Mapping[str, Any]


class Authenticator:
    """Adds credentials to requests. `auth` is one credential for everything, or one a scheme of the document.

    Raises:
        ConfigurationError: a scheme the document does not have, or one that its credential does not fit.
    """

    def __init__(
        self,
        auth: Auth | Mapping[str, Auth] | None,
        schemes: Mapping[str, Any],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._everywhere: _Placed | None = None
        self._by_scheme: dict[str, _Placed] = {}
        self._tokens: dict[int, _Token] = {}
        self._clock = clock
        if isinstance(auth, Mapping):
            for name, one in auth.items():
                if name not in schemes:
                    known = ", ".join(map(repr, schemes)) or "none"
                    raise ConfigurationError(f"the document has no security scheme {name!r}; it has {known}")
                self._by_scheme[name] = _placed(one, member(schemes, name))
        elif auth is not None:
            self._everywhere = _placed(auth, _fitting(auth, schemes))

    async def authorized(self, operation: Operation, request: HttpRequest, client: httpx2.AsyncClient) -> HttpRequest:
        """The request with the credentials that the operation takes, as far as there are some.

        Raises:
            ToolCallFailed: a token cannot be had.
        """
        for placed in self._chosen(operation):
            request = await self._added(placed, request, client)
        return request

    def forget(self, operation: Operation) -> bool:
        """Drop the token the operation was asked with, which was refused; whether there is another to be had."""
        dropped = [self._tokens.pop(id(placed), None) for placed in self._chosen(operation)]
        return any(token is not None for token in dropped)

    def _chosen(self, operation: Operation) -> list[_Placed]:
        if operation.security == ():
            return []
        if self._everywhere is not None:
            return [self._everywhere]
        for alternative in operation.security or ():
            if alternative and all(name in self._by_scheme for name in alternative):
                return [self._by_scheme[name] for name in alternative]
        return []

    async def _added(self, placed: _Placed, request: HttpRequest, client: httpx2.AsyncClient) -> HttpRequest:
        match placed.auth:
            case Bearer(value):
                return _with_header(request, "Authorization", f"Bearer {value}")
            case Basic(username, password):
                pair = base64.b64encode(f"{username}:{password}".encode()).decode()
                return _with_header(request, "Authorization", f"Basic {pair}")
            case ApiKey() as key:
                return _with_key(request, key, placed.scheme)
            case ClientCredentials() as credentials:
                token = self._tokens.setdefault(id(placed), _Token(credentials, placed.scheme, self._clock))
                return _with_header(request, "Authorization", f"Bearer {await token.value(client)}")


def _placed(auth: Auth, scheme: Mapping[str, Any]) -> _Placed:
    if isinstance(auth, ApiKey) and not (auth.name or scheme.get("name")):
        raise ConfigurationError("an API key needs the 'name' of its header, query parameter or cookie")
    if isinstance(auth, ClientCredentials):
        url = auth.token_url or _token_url(scheme)
        if not url or urlsplit(url).scheme not in ("http", "https"):
            raise ConfigurationError("client credentials need the 'tokenUrl' to fetch a token from")
    return _Placed(auth, scheme)


_KINDS: Final = {
    Bearer: ("http", "oauth2", "openIdConnect"),
    Basic: ("http",),
    ApiKey: ("apiKey",),
    ClientCredentials: ("oauth2",),
}


def _fitting(auth: Auth, schemes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first scheme of the document that the credential is one of."""
    for name in schemes:
        scheme = member(schemes, name)
        if scheme.get("type") in _KINDS[type(auth)]:
            if isinstance(auth, ApiKey) and auth.name not in (None, scheme.get("name")):
                continue
            if isinstance(auth, ClientCredentials) and not _token_url(scheme) and not auth.token_url:
                continue
            return scheme
    return {}


def _token_url(scheme: Mapping[str, Any]) -> str | None:
    url = member(member(scheme, "flows"), "clientCredentials").get("tokenUrl")
    return url if isinstance(url, str) else None


def _with_header(request: HttpRequest, name: str, value: str) -> HttpRequest:
    return replace(request, headers={**request.headers, name: value})


def _with_key(request: HttpRequest, key: ApiKey, scheme: Mapping[str, Any]) -> HttpRequest:
    name = key.name or str(scheme.get("name"))
    place = key.place or scheme.get("in") or "header"
    if place == "query":
        pair = (quote_all(name), quote_all(key.value))
        return replace(request, query=[*(each for each in request.query if each[0] != pair[0]), pair])
    if place == "cookie":
        return replace(request, cookies=[*(each for each in request.cookies if each[0] != name), (name, key.value)])
    return _with_header(request, name, key.value)


# --- OAuth 2.0 --------------------------------------------------------------------------------------------------------

_EARLY_S: Final = 30.0
_UNSAID_S: Final = 300.0
_LONGEST_ANSWER: Final = 64 * 1024


class _Token:
    """One access token, fetched once for all calls that wait for it."""

    def __init__(self, credentials: ClientCredentials, scheme: Mapping[str, Any], clock: Callable[[], float]) -> None:
        self._credentials = credentials
        self._url = credentials.token_url or str(_token_url(scheme))
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value = ""
        self._until = 0.0

    async def value(self, client: httpx2.AsyncClient) -> str:
        async with self._lock:
            if not self._value or self._clock() >= self._until:
                await self._fetch(client)
            return self._value

    async def _fetch(self, client: httpx2.AsyncClient) -> None:
        credentials = self._credentials
        form = {"grant_type": "client_credentials"}
        if credentials.scopes:
            form["scope"] = " ".join(credentials.scopes)
        if credentials.audience:
            form["audience"] = credentials.audience
        headers = {"Accept": "application/json"}
        if credentials.in_body:
            form |= {"client_id": credentials.client_id, "client_secret": credentials.client_secret}
        else:
            pair = f"{quote_plus(credentials.client_id)}:{quote_plus(credentials.client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        try:
            response = await client.post(self._url, data=form, headers=headers, follow_redirects=False)
        except httpx2.HTTPError as error:
            raise ToolCallFailed("no access token could be fetched: the server of tokens cannot be reached") from error
        answer = _answer(response)
        token = answer.get("access_token")
        if response.status_code != 200 or not isinstance(token, str) or not token:
            said = answer.get("error")
            reason = f" ({said})" if isinstance(said, str) else ""
            raise ToolCallFailed(f"no access token was given: HTTP {response.status_code}{reason}")
        lasts = answer.get("expires_in")
        seconds = float(lasts) if isinstance(lasts, int | float) and not isinstance(lasts, bool) else _UNSAID_S
        self._value, self._until = token, self._clock() + max(seconds - _EARLY_S, seconds / 2)


def _answer(response: httpx2.Response) -> Mapping[str, Any]:
    try:
        value = loads(response.content[:_LONGEST_ANSWER])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
