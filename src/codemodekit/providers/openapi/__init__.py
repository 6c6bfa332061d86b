"""Operations of HTTP APIs that an OpenAPI document describes."""

from __future__ import annotations

from codemodekit.providers.openapi.credentials import ApiKey, Auth, Basic, Bearer, ClientCredentials
from codemodekit.providers.openapi.provider import OpenApiToolProvider, openapi

__all__ = ["ApiKey", "Auth", "Basic", "Bearer", "ClientCredentials", "OpenApiToolProvider", "openapi"]
