"""Who runs a program, as the guard of the HTTP endpoint found out."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import ServerRequestContext

__all__ = ["PRINCIPAL_KEY", "principal_of"]

PRINCIPAL_KEY: Final = "codemodekit.principal"
"""Where in an ASGI scope the principal of a request stands."""


def principal_of(context: ServerRequestContext[Any, Any]) -> Any:
    """The principal of a request; None where nobody was asked."""
    scope = getattr(context.request, "scope", None)
    return None if scope is None else scope.get(PRINCIPAL_KEY)
