"""A parameter's value into text: the styles of the specification's table, percent-encoded for the place they go to.

After OpenAPI 3.1.1 §4.8.12 "Parameter Object" and RFC 6570, which it rests on. What these leave undefined is decided
here and documented: a nested value in a style for flat ones is JSON text, an array inside `deepObject` repeats
`name[]`. Knows nothing of operations or requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from codemodekit._json import JsonValue, dumps
from codemodekit.errors import ToolError

__all__ = ["DEFAULT_STYLES", "PLACES", "Pairs", "Place", "Style", "header_text", "pairs", "path_text"]

Place = Literal["path", "query", "header", "cookie"]
PLACES: Final[tuple[Place, ...]] = ("path", "query", "header", "cookie")

DEFAULT_STYLES: Final[Mapping[str, str]] = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
"""The style of a parameter that names none."""

Pairs = list[tuple[str, str]]
"""Names and values, each encoded already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one parameter is written."""

    name: str
    style: str
    explode: bool
    allow_reserved: bool = False
    """Whether reserved characters stay as they are; those that would end or split the value never do."""
    json: bool = False
    """Whether the value is JSON text in one piece, as `content: application/json` asks."""


def path_text(style: Style, value: JsonValue) -> str:
    """What stands in the path for `{name}`, encoded.

    Raises:
        ToolError: the value is empty, or would leave the route that the document declares.
    """
    _stay_on_route(style.name, value)
    write = {"matrix": _matrix, "label": _label}.get(style.style, _simple)
    text = write(style, value, quote_all)
    if not text:
        raise ToolError(f"{style.name!r} is empty: a part of the path needs a value")
    return text


def pairs(style: Style, value: JsonValue) -> Pairs:
    """What a query or a cookie gets for one parameter; nothing for null and for what is empty and has no name."""
    encode = _quote_reserved if style.allow_reserved else quote_all
    name = quote_all(style.name)
    if style.json:
        return [(name, encode(dumps(value)))]
    if value is None:
        return []
    if style.style == "deepObject":
        return list(_deep(name, value, encode))
    if not isinstance(value, dict | list):
        return [(name, encode(scalar(value)))]
    if not value:
        return []
    if style.explode:
        return _exploded(name, value, encode)
    glue = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}.get(style.style, ",")
    return [(name, glue.join(_flat(value, encode)))]


def header_text(style: Style, value: JsonValue) -> str:
    """The value of a header; nothing is percent-encoded there.

    Raises:
        ToolError: it holds what a header cannot carry.
    """
    text = dumps(value) if style.json else _simple(style, value, lambda part: part)
    if not text.isascii() or not (text.isprintable() or not text):
        raise ToolError(f"{style.name!r} is sent as a header, which carries printable ASCII only")
    return text


def scalar(value: JsonValue) -> str:
    """A value without parts as text; what has parts becomes JSON."""
    return value if isinstance(value, str) else dumps(value)


def quote_all(text: str) -> str:
    """Everything but the unreserved characters of RFC 3986 §2.3, percent-encoded as UTF-8."""
    return quote(text, safe="~", errors="replace")


_KEPT: Final = ":/?@!$'()*,;="
"""Reserved characters that may stand in the value of a query without changing where it ends."""


def _quote_reserved(text: str) -> str:
    """As `quote_all`, without reserved characters and what is percent-encoded already (RFC 6570 §3.2.3)."""
    return "".join(
        part if is_triplet else quote(part, safe=f"~{_KEPT}", errors="replace") for is_triplet, part in _triplets(text)
    )


def _triplets(text: str) -> Iterator[tuple[bool, str]]:
    for index, part in enumerate(re.split(r"(%[0-9A-Fa-f]{2})", text)):
        yield index % 2 == 1, part


# --- the styles -------------------------------------------------------------------------------------------------------

_Encode = Callable[[str], str]


def _simple(style: Style, value: JsonValue, encode: _Encode) -> str:
    if style.json:
        return encode(dumps(value))
    if isinstance(value, dict) and style.explode:
        return ",".join(f"{encode(key)}={encode(scalar(item))}" for key, item in value.items())
    return ",".join(_flat(value, encode))


def _label(style: Style, value: JsonValue, encode: _Encode) -> str:
    if style.explode and isinstance(value, dict):
        return "".join(f".{encode(key)}={encode(scalar(item))}" for key, item in value.items())
    glue = "." if style.explode else ","
    parts = _flat(value, encode)
    return "." + glue.join(parts) if parts else ""


def _matrix(style: Style, value: JsonValue, encode: _Encode) -> str:
    name = quote_all(style.name)
    if style.explode and isinstance(value, dict):
        return "".join(f";{encode(key)}={encode(scalar(item))}" for key, item in value.items())
    if style.explode and isinstance(value, list):
        return "".join(f";{name}={encode(scalar(item))}" for item in value)
    parts = _flat(value, encode)
    if not parts:
        return ""
    return f";{name}={','.join(parts)}" if parts != [""] else f";{name}"


def _flat(value: JsonValue, encode: _Encode) -> list[str]:
    if isinstance(value, dict):
        return [encode(part) for key, item in value.items() for part in (key, scalar(item))]
    if isinstance(value, list):
        return [encode(scalar(item)) for item in value]
    return [encode(scalar(value))]


def _exploded(name: str, value: dict[str, JsonValue] | list[JsonValue], encode: _Encode) -> Pairs:
    if isinstance(value, dict):
        return [(quote_all(key), encode(scalar(item))) for key, item in value.items()]
    return [(name, encode(scalar(item))) for item in value]


def _deep(name: str, value: JsonValue, encode: _Encode) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deep(f"{name}%5B{quote_all(key)}%5D", item, encode)
    elif isinstance(value, list):
        # An index where it tells members of one element from those of the next, otherwise what forms have always had.
        numbered = any(isinstance(item, dict | list) for item in value)
        for index, item in enumerate(value):
            yield from _deep(f"{name}%5B{index if numbered else ''}%5D", item, encode)
    elif value is not None:
        yield name, encode(scalar(value))


# --- the route --------------------------------------------------------------------------------------------------------


def _stay_on_route(name: str, value: JsonValue) -> None:
    """Slashes are encoded, but servers and proxies are known to decode them and then to take `..` for a step up."""
    for part in _texts(value):
        steps = re.split(r"[/\\]", part)
        if any(step.strip() in (".", "..") for step in steps) or "\0" in part:
            raise ToolError(f"{name!r} may not hold '.' or '..' as a part of the path, nor NUL")


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield scalar(value)
