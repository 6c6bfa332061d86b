"""What a configuration says about a server, checked where it is said: a setting that cannot work is refused at once.

Each check gives the value back or raises ConfigurationError; what may be a secret stays out of its message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from codemodekit.errors import ConfigurationError

__all__ = [
    "checked_choice",
    "checked_headers",
    "checked_seconds",
    "checked_strings",
    "checked_text",
    "checked_url",
    "checked_variables",
]


def checked_text(what: str, value: object) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigurationError(f"{what!r} must be text that is not empty, not {value!r}")
    return value


def checked_choice(what: str, value: object, allowed: tuple[str, ...]) -> str:
    """One of the allowed values."""
    if value not in allowed:
        raise ConfigurationError(f"{what!r} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
    return str(value)


def checked_seconds(what: str, value: object) -> float:
    """A positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise ConfigurationError(f"{what!r} must be a positive number of seconds, not {value!r}")
    return float(value)


def checked_strings(what: str, values: Sequence[str]) -> list[str]:
    """Strings a process can be given; an error does not quote them."""
    items: list[Any] = list(values)
    for index, item in enumerate(items):
        if not isinstance(item, str) or "\0" in item:
            # The value stays out of the message: it may be a secret.
            raise ConfigurationError(f"{what}[{index}] must be text without NUL, not {type(item).__name__}")
    return items


def checked_variables(what: str, values: Mapping[str, str] | None) -> dict[str, str]:
    """Variables of an environment; an error does not quote their values."""
    items: dict[Any, Any] = dict(values or {})
    for key, value in items.items():
        if not isinstance(key, str) or not key or "=" in key or "\0" in key:
            raise ConfigurationError(f"{what!r} has the name {key!r}, which cannot be the name of a variable")
        if not isinstance(value, str) or "\0" in value:
            raise ConfigurationError(f"{what}[{key!r}] must be text without NUL, not {type(value).__name__}")
    return items


_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def checked_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Headers HTTP can carry; an error does not quote their values."""
    items: dict[Any, Any] = dict(headers or {})
    for name, value in items.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ConfigurationError(f"{name!r} cannot be the name of an HTTP header")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigurationError(f"the value of header {name!r} must be one line of text that HTTP can carry")
    return items


def checked_url(url: object) -> str:
    """An address of HTTP without credentials of its own."""
    text = checked_text("url", url)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError("'url' cannot be read as a URL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigurationError("'url' must start with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError("'url' must not hold a user name or password; put credentials into 'headers'")
    if any(character <= " " for character in text):
        raise ConfigurationError("'url' must not hold blanks or control characters")
    return text
