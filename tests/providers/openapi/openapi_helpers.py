"""One operation, described and called through the provider's own face."""

from __future__ import annotations

from typing import Any

from api_service import Service

from codemodekit.contracts import ToolCall, ToolResult
from codemodekit.providers.openapi.provider import OpenApiToolProvider


def document(
    api: Service | str, path: str, method: str = "get", version: str = "3.1.0", **operation: Any
) -> dict[str, Any]:
    """A document with the one operation `op`."""
    address = api if isinstance(api, str) else api.address
    said = {"operationId": "op", "responses": {"200": {"description": "well"}}, **operation}
    return {
        "openapi": version,
        "info": {"title": "Test", "version": "1"},
        "servers": [{"url": address}],
        "paths": {path: {method: said}},
    }


def call(tool: str, given: Any) -> ToolCall:
    return ToolCall("run", "call", "api", tool, given)


async def called(spec: dict[str, Any], given: Any, tool: str = "op", **settings: Any) -> ToolResult:
    """The result of one call."""
    async with OpenApiToolProvider("api", spec, **settings).connect() as session:
        return await session.call(call(tool, given))
