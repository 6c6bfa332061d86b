"""Request bodies: how a document declares one, and a value into the bytes that are sent.

After the Request Body, Media Type and Encoding Objects of OpenAPI 3.0.4 and 3.1.1, RFC 7578 for `multipart/form-data`.
Bytes cannot cross the border as they are: where a body or a field holds some, a program gives text, or
`{"base64": …}`.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from codemodekit._json import JsonObject, JsonValue, encode
from codemodekit.errors import ToolError
from codemodekit.providers.openapi.document import Document
from codemodekit.providers.openapi.media import is_json, is_text, media_type_of
from codemodekit.providers.openapi.operation import Body, BodyKind, Encoding, member
from codemodekit.providers.openapi.schemas import SchemaTable
from codemodekit.providers.openapi.styles import Style, pairs, scalar

__all__ = ["BYTES_SCHEMA", "encode_body", "read_body"]

_FORM: Final = "application/x-www-form-urlencoded"
_ORDER: Final[tuple[BodyKind, ...]] = ("json", "form", "multipart", "text", "binary")

BYTES_SCHEMA: Final[JsonObject] = {
    "description": "Text, or bytes as base64.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "base64": {"type": "string", "description": "The bytes, in base64 (RFC 4648)."},
                "filename": {"type": "string"},
                "contentType": {"type": "string"},
            },
            "required": ["base64"],
            "additionalProperties": False,
        },
    ],
}
"""JSON Schema of bytes in a tool's input."""


def read_body(document: Document, table: SchemaTable, declared: JsonValue, taken: set[str]) -> Body | None:
    """The body an operation takes, in the media type that a program can give best; None for no body.

    Raises:
        BrokenReference: a reference leads nowhere.
    """
    if declared is None:
        return None
    request = document.follow(declared)
    content = member(request, "content")
    if not content:
        return None
    media_type = min(content, key=lambda each: _ORDER.index(_kind(each)))
    kind, media = _kind(media_type), member(content, media_type)
    schema: JsonObject | bool = BYTES_SCHEMA if kind == "binary" else table.convert(media.get("schema", {}), "request")
    files: frozenset[str] = frozenset()
    if kind in ("form", "multipart"):
        files = frozenset(_files(document, media.get("schema")))
        schema = _with_files(table, document, media.get("schema"), schema, files)
    argument = "body"
    while argument in taken:
        argument = f"request_{argument}"
    return Body(
        argument=argument,
        media_type=media_type.replace("*/*", "application/octet-stream"),
        kind=kind,
        required=request.get("required") is True,
        schema=schema,
        description=str(request.get("description") or ""),
        encodings=_encodings(document, media),
        files=files,
    )


def _kind(media_type: str) -> BodyKind:
    if is_json(media_type):
        return "json"
    kind = media_type_of(media_type)
    if kind == _FORM:
        return "form"
    if kind.startswith("multipart/"):
        return "multipart"
    return "text" if is_text(media_type) else "binary"


def _files(document: Document, schema: JsonValue) -> Iterator[str]:
    """Properties of a form that hold bytes, alone or as a list."""
    for name, each in member(document.follow(schema or {}), "properties").items():
        inner = document.follow(each) if isinstance(each, Mapping) else {}
        if inner.get("type") == "array" and isinstance(inner.get("items"), Mapping):
            inner = document.follow(inner["items"])
        if _holds_bytes(inner):
            yield str(name)


def _holds_bytes(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") == "file" or schema.get("format") == "binary":
        return True
    media_type = schema.get("contentMediaType")
    return (
        isinstance(media_type, str)
        and "contentEncoding" not in schema
        and not (is_json(media_type) or is_text(media_type))
    )


def _with_files(
    table: SchemaTable, document: Document, given: JsonValue, made: JsonObject | bool, files: frozenset[str]
) -> JsonObject | bool:
    """The schema of a form with its files as bytes; written out, for the shared form says something else of them."""
    if not files or not isinstance(made, Mapping):
        return made
    whole = table.convert(document.follow(given), "request")
    assert isinstance(whole, Mapping)
    properties = dict(member(whole, "properties"))
    for name in files:
        one = member(properties, name)
        many = one.get("type") == "array" or "items" in one
        described = {"description": one["description"]} if "description" in one else {}
        properties[name] = {**one, "items": BYTES_SCHEMA} if many else {**BYTES_SCHEMA, **described}
    return {**whole, "properties": properties}


def _encodings(document: Document, media: Mapping[str, Any]) -> dict[str, Encoding]:
    encodings = {}
    for name in member(media, "encoding"):
        said = member(member(media, "encoding"), name)
        style = said.get("style")
        explode = said.get("explode")
        named = style is not None or explode is not None or said.get("allowReserved") is True
        style = style if isinstance(style, str) else "form"
        kind = said.get("contentType")
        encodings[str(name)] = Encoding(
            content_type=kind if isinstance(kind, str) else None,
            style=Style(
                name=str(name),
                style=style,
                explode=explode if isinstance(explode, bool) else style == "form",
                allow_reserved=said.get("allowReserved") is True,
            )
            if named
            else None,
        )
    return encodings


# --- into bytes -------------------------------------------------------------------------------------------------------


def encode_body(body: Body, value: JsonValue) -> tuple[bytes, str]:
    """The bytes of a body and its `Content-Type`.

    Raises:
        ToolError: the value cannot be sent in this media type.
    """
    if body.kind == "json":
        return encode(value), body.media_type
    if body.kind == "form":
        return _form(body, value), body.media_type
    if body.kind == "multipart":
        return _multipart(body, value)
    if body.kind == "text":
        return scalar(value).encode("utf-8", "replace"), _with_charset(body.media_type)
    content, _, kind = _bytes(body.argument, value)
    return content, kind or body.media_type


def _with_charset(media_type: str) -> str:
    return media_type if "charset" in media_type.lower() else f"{media_type}; charset=utf-8"


def _form(body: Body, value: JsonValue) -> bytes:
    if not isinstance(value, Mapping):
        return scalar(value).encode("utf-8", "replace")
    parts: list[str] = []
    for name, each in value.items():
        encoding = body.encodings.get(name, Encoding())
        if encoding.style is not None:
            parts += [f"{key}={text}" for key, text in pairs(encoding.style, each)]
        else:
            parts += [
                f"{quote_plus(name)}={quote_plus(text, errors='replace')}" for text in _field_texts(encoding, each)
            ]
    return "&".join(parts).encode("ascii")


def _field_texts(encoding: Encoding, value: JsonValue) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, list) and not (encoding.content_type and is_json(encoding.content_type)):
        for item in value:
            yield scalar(item)
    else:
        yield scalar(value)


_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\\]')


def _multipart(body: Body, value: JsonValue) -> tuple[bytes, str]:
    if not isinstance(value, Mapping):
        raise ToolError(f"{body.argument!r} is sent as a form with parts and must be an object")
    boundary = secrets.token_hex(16)
    chunks: list[bytes] = []
    for name, each in value.items():
        for item in each if isinstance(each, list) and not _as_json(body, name) else [each]:
            if item is not None:
                chunks += [f"--{boundary}\r\n".encode(), *_part(body, name, item)]
    chunks.append(f"--{boundary}--\r\n".encode())
    return b"".join(chunks), f"{media_type_of(body.media_type)}; boundary={boundary}"


def _as_json(body: Body, name: str) -> bool:
    kind = body.encodings.get(name, Encoding()).content_type
    return kind is not None and is_json(kind)


def _part(body: Body, name: str, value: JsonValue) -> Iterator[bytes]:
    kind = body.encodings.get(name, Encoding()).content_type
    filename: str | None = None
    if name in body.files:
        content, filename, said = _bytes(name, value)
        filename = filename or name
        kind = said or (kind if kind and "," not in kind and "*" not in kind else None) or "application/octet-stream"
    elif isinstance(value, dict | list):
        content, kind = encode(value), kind or "application/json"
    else:
        content = scalar(value).encode("utf-8", "replace")
    disposition = f'form-data; name="{_disposed(name)}"'
    if filename is not None:
        disposition += f'; filename="{_disposed(filename)}"'
    yield f"Content-Disposition: {disposition}\r\n".encode("utf-8", "replace")
    if kind is not None:
        yield f"Content-Type: {_header_safe(kind)}\r\n".encode("utf-8", "replace")
    yield b"\r\n"
    yield content
    yield b"\r\n"


def _disposed(text: str) -> str:
    """A name inside of quotes (RFC 7578 §2: what would end it is percent-encoded)."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", text)


def _header_safe(kind: str) -> str:
    if not kind.isascii() or not kind.isprintable():
        raise ToolError("a contentType holds printable ASCII only")
    return kind


def _bytes(name: str, value: JsonValue) -> tuple[bytes, str | None, str | None]:
    """Content, file name and media type of a value that holds bytes."""
    if not isinstance(value, Mapping):
        return scalar(value).encode("utf-8", "replace"), None, None
    try:
        content = base64.b64decode(str(value.get("base64", "")), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(f"{name!r} holds no base64: {error}") from error
    filename, kind = value.get("filename"), value.get("contentType")
    return (
        content,
        filename if isinstance(filename, str) else None,
        _header_safe(kind) if isinstance(kind, str) else None,
    )
