"""An operation and the input of a call into the HTTP request that carries it. Pure; credentials are added elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from codemodekit._json import JsonValue
from codemodekit.errors import ToolError
from codemodekit.providers.openapi.bodies import encode_body
from codemodekit.providers.openapi.operation import Operation
from codemodekit.providers.openapi.styles import Pairs, header_text, pairs, path_text, quote_all

__all__ = ["HttpRequest", "build_request"]

_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_LONGEST_URL: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What is sent, but for credentials."""

    method: str
    url: str
    """Absolute, encoded, without a query."""
    query: Pairs = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Pairs = field(default_factory=list)
    content: bytes | None = None

    @property
    def address(self) -> str:
        """The URL with its query."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.url}?{query}" if query else self.url


def build_request(operation: Operation, given: Mapping[str, JsonValue]) -> HttpRequest:
    """The request for one call; the input has been validated against the tool's schema.

    Raises:
        ToolError: a value cannot be sent where it belongs.
    """
    path, query, headers, cookies = {}, [], {}, []
    for parameter in operation.parameters:
        if parameter.argument not in given:
            continue
        value = given[parameter.argument]
        if parameter.place == "path":
            path[parameter.style.name] = path_text(parameter.style, value)
        elif parameter.place == "query":
            query += pairs(parameter.style, value)
        elif parameter.place == "cookie":
            cookies += pairs(parameter.style, value)
        elif value is not None:
            headers[parameter.style.name] = header_text(parameter.style, value)
    content: bytes | None = None
    if operation.accept is not None:
        headers["Accept"] = operation.accept
    if operation.body is not None and operation.body.argument in given:
        content, headers["Content-Type"] = encode_body(operation.body, given[operation.body.argument])
    request = HttpRequest(
        method=operation.method,
        url=operation.server + _filled(operation.path, path),
        query=query,
        headers=headers,
        cookies=cookies,
        content=content,
    )
    if len(request.address) > _LONGEST_URL:
        raise ToolError(f"the address of this call would be longer than {_LONGEST_URL} characters")
    return request


def _filled(path: str, values: Mapping[str, str]) -> str:
    """The path with its parameters in place; everything between them is encoded as far as it is not yet."""
    parts = _SLOT.split(path if path.startswith("/") else f"/{path}")
    text = ""
    for index, part in enumerate(parts):
        text += values[part] if index % 2 else _fixed(part)
    return text


def _fixed(text: str) -> str:
    text = text.partition("#")[0].partition("?")[0]
    return "".join(
        part
        if index % 2
        else "/".join(quote_all(step).replace("%3A", ":").replace("%40", "@") for step in part.split("/"))
        for index, part in enumerate(re.split(r"(%[0-9A-Fa-f]{2})", text))
    )
