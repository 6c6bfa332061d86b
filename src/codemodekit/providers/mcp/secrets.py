"""Which values of a source's configuration are secrets, told by where they stand and what they look like.

A secret is blanked out of everything a server says. Other values of some length are private: they are kept out of
messages, and left in results and definitions, where a region or a mode is an ordinary word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.mcp.settings import HttpServer, StdioServer

__all__ = ["redactor_for"]

_MIN_PRIVATE: Final = 8
"""Shorter ones ("1", "true", "debug") are settings."""
_MIN_NAMED: Final = 6
"""Shorter values are none, whatever they are called."""
_MIN_RANDOM: Final = 24
"""A run of letters longer than words are."""
_MIN_PATH_SEGMENT: Final = 16

_NAMES: Final = frozenset(
    {
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "credential",
        "credentials",
        "dsn",
        "jwt",
        "key",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "pat",
        "pwd",
        "secret",
        "secrets",
        "sig",
        "signature",
        "token",
        "tokens",
    }
)
_ABOUT: Final = frozenset({"dir", "file", "name", "path", "ttl", "type", "uri", "url"})
"""Last words of names of what only has to do with a secret, such as where its file is."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PART: Final = re.compile(r"[A-Za-z0-9+=]+")
_FLAG: Final = re.compile(r"-{1,2}(?P<name>[\w.-]+)(?:=(?P<value>[\s\S]*))?")
_ASSIGNMENT: Final = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)\s*[=:]\s*(?P<value>[\s\S]+)")

_Found = tuple[str, bool]
"""A value, and whether it is a secret whatever it looks like."""


def redactor_for(server: StdioServer | HttpServer, *, secrets: Iterable[str], private: Iterable[str]) -> Redactor:
    """Knows what must not be shown of one server: the given `secrets`, and those among all other values."""
    found = [(value, False) for value in private]
    found += _of_process(server) if isinstance(server, StdioServer) else _of_address(server)
    sure = {value for value, named in found if _is_secret(value, named)}
    rest = {value for value, _ in found if len(value) >= _MIN_PRIVATE}
    return Redactor([*secrets, *sure], [*(value for value in private), *rest])


def _of_process(server: StdioServer) -> list[_Found]:
    return [*_of_pairs(server.env), *_of_arguments(server.args)]


def _of_address(server: HttpServer) -> list[_Found]:
    return [*_of_pairs(server.headers), *_of_url(server.url)]


def _of_pairs(pairs: Mapping[str, str]) -> Iterator[_Found]:
    for name, value in pairs.items():
        yield from _of_value(value, _is_secret_name(name))


def _of_value(value: str, named: bool) -> Iterator[_Found]:
    yield value, named
    # "Bearer abc": the part behind the scheme is the secret, and may come back alone.
    yield from ((part, named and len(part) >= _MIN_PRIVATE) for part in value.split()[1:])
    if "://" in value:
        yield from _of_url(value)


def _of_arguments(arguments: tuple[str, ...]) -> Iterator[_Found]:
    """`--token abc`, `--token=abc`, `-e TOKEN=abc`, `--header "Authorization: Bearer abc"`, and addresses."""
    named = False
    for argument in arguments:
        flag = _FLAG.fullmatch(argument)
        given = argument if flag is None else flag["value"]
        named = named if flag is None else _is_secret_name(flag["name"])
        if given is not None:
            inner = _ASSIGNMENT.fullmatch(given)
            if inner is not None and not given.partition(":")[2].startswith("//"):
                yield from _of_value(inner["value"], named or _is_secret_name(inner["name"]))
            else:
                # A plain argument is what the server was started for, and may well be quoted.
                yield from ((value, sure) for value, sure in _of_value(given, named) if sure or _is_telling(value))
            named = False


def _of_url(url: str) -> Iterator[_Found]:
    """Password, query and telling parts of the path of an address."""
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        return
    if password:
        yield password, True
        yield unquote(password), True
    for name, value in parse_qsl(parts.query):
        yield value, _is_secret_name(name)
    for segment in parts.path.split("/"):
        if len(segment) >= _MIN_PATH_SEGMENT:
            yield segment, False


# --- what is a secret -------------------------------------------------------------------------------------------------


def _is_secret(value: str, named: bool) -> bool:
    return len(value) >= _MIN_NAMED if named else _is_telling(value)


def _is_secret_name(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return not _NAMES.isdisjoint(words) and words[-1] not in _ABOUT


def _is_telling(value: str) -> bool:
    """Whether a value looks like a credential: a part that mixes letters and digits, or is longer than a word."""
    if len(value) < _MIN_PRIVATE or value.startswith(("/", "~", "./", "../")) or "://" in value:
        return False
    return any(map(_is_random, _PART.findall(value)))


def _is_random(part: str) -> bool:
    letters = sum(map(str.isalpha, part))
    digits = sum(map(str.isdigit, part))
    return len(part) >= _MIN_RANDOM or (len(part) >= _MIN_PRIVATE and letters >= 2 and digits >= 2)
