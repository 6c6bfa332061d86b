"""Credentials a host configures for an API, as values that do not show themselves."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["ApiKey", "Auth", "Basic", "Bearer", "ClientCredentials", "secrets_of"]


@dataclass(frozen=True, slots=True)
class Bearer:
    """`Authorization: Bearer TOKEN`."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Basic:
    """`Authorization: Basic …` (RFC 7617)."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key in a header, the query or a cookie; name and place are the document's where they are not given."""

    value: str = field(repr=False)
    name: str | None = None
    place: Literal["header", "query", "cookie"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """OAuth 2.0 for a client that acts for itself; the token's address is the document's where it is not given."""

    client_id: str
    client_secret: str = field(repr=False)
    token_url: str | None = None
    scopes: tuple[str, ...] = ()
    audience: str | None = None
    in_body: bool = False
    """Whether the client names itself in the body instead of with HTTP Basic."""


Auth: TypeAlias = Bearer | Basic | ApiKey | ClientCredentials


def secrets_of(auths: Iterable[Auth]) -> tuple[str, ...]:
    """Every value that must never be shown."""
    found: list[str] = []
    for auth in auths:
        match auth:
            case Bearer(token):
                found.append(token)
            case Basic(username, password):
                found += [password, base64.b64encode(f"{username}:{password}".encode()).decode()]
            case ApiKey(value):
                found.append(value)
            case ClientCredentials(client_secret=secret):
                found.append(secret)
    return tuple(found)
