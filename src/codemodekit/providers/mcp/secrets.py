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
_ABOUT: Final = frozenset(
    {
        "account",
        "base",
        "bucket",
        "dir",
        "domain",
        "email",
        "endpoint",
        "file",
        "host",
        "id",
        "ids",
        "model",
        "name",
        "org",
        "path",
        "port",
        "project",
        "ref",
        "region",
        "sha",
        "ttl",
        "type",
        "uri",
        "url",
        "user",
        "username",
        "uuid",
        "version",
        "zone",
    }
)
"""Last words of names whose values are none, however random they look: a program needs them as they are."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PART: Final = re.compile(r"[A-Za-z0-9+=]+")
_FLAG: Final = re.compile(r"-{1,2}(?P<name>[\w.-]+)(?:=(?P<value>[\s\S]*))?")
_ASSIGNMENT: Final = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)\s*[=:]\s*(?P<value>[\s\S]+)")

_Found = tuple[str, bool | None]
"""A value, and whether it is a secret by the name of its place; None if its place says nothing."""


def redactor_for(server: StdioServer | HttpServer, *, secrets: Iterable[str], private: Iterable[str]) -> Redactor:
    """Knows what must not be shown of one server: the given `secrets`, and those among all other values."""
    private = list(private)
    placed = [*(_of_process(server) if isinstance(server, StdioServer) else _of_address(server))]
    cleared = {value for value, secret in placed if secret is False}
    found = [*placed, *((value, None) for value in private if value not in cleared)]
    sure = {value for value, secret in found if (len(value) >= _MIN_NAMED if secret else _is_telling(value, secret))}
    return Redactor([*secrets, *sure], [*private, *(value for value, _ in found if len(value) >= _MIN_PRIVATE)])


def _of_process(server: StdioServer) -> Iterator[_Found]:
    yield from _of_pairs(server.env)
    yield from _of_arguments(server.args)


def _of_address(server: HttpServer) -> Iterator[_Found]:
    yield from _of_pairs(server.headers)
    yield from _of_url(server.url)


def _of_pairs(pairs: Mapping[str, str]) -> Iterator[_Found]:
    for name, value in pairs.items():
        yield from _of_value(value, _by_name(name))


def _of_value(value: str, secret: bool | None) -> Iterator[_Found]:
    yield value, secret
    # "Bearer abc": the part behind the scheme is the secret, and may come back alone.
    yield from ((part, secret) for part in value.split()[1:] if len(part) >= _MIN_PRIVATE)
    if "://" in value:
        yield from _of_url(value)


def _of_arguments(arguments: tuple[str, ...]) -> Iterator[_Found]:
    """`--token abc`, `--token=abc`, `-e TOKEN=abc`, `--header "Authorization: Bearer abc"`, and addresses.

    What merely looks random stays: arguments say what a server is for, and its results are about that.
    """
    secret: bool | None = None
    for argument in arguments:
        flag = _FLAG.fullmatch(argument)
        given = argument if flag is None else flag["value"]
        secret = secret if flag is None else _by_name(flag["name"])
        if given is None:
            continue
        inner = _ASSIGNMENT.fullmatch(given)
        if inner is not None and not inner["value"].startswith("//"):
            yield from _of_value(inner["value"], secret or _by_name(inner["name"]))
        elif secret:
            yield from _of_value(given, True)
        elif "://" in given:
            yield from _of_url(given)
        secret = None


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
        yield value, _by_name(name)
    for segment in parts.path.split("/"):
        if len(segment) >= _MIN_PATH_SEGMENT:
            yield segment, None


# --- what is a secret -------------------------------------------------------------------------------------------------


def _by_name(name: str) -> bool | None:
    words = [word.lower() for word in _WORDS.findall(name)]
    if words and words[-1] in _ABOUT:
        return False
    return True if not _NAMES.isdisjoint(words) else None


def _is_telling(value: str, secret: bool | None = None) -> bool:
    """Whether a value looks like a credential: a part that mixes letters and digits, or is longer than a word."""
    if secret is False or len(value) < _MIN_PRIVATE or value.startswith(("/", "~", "./", "../")) or "://" in value:
        return False
    return any(map(_is_random, _PART.findall(value)))


def _is_random(part: str) -> bool:
    letters = sum(map(str.isalpha, part))
    digits = sum(map(str.isdigit, part))
    return len(part) >= _MIN_RANDOM or (len(part) >= _MIN_PRIVATE and letters >= 2 and digits >= 2)
