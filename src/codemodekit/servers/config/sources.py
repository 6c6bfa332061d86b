"""The entries under `mcpServers` and `python`, in this package's spelling or in that of other clients.

An entry with a reference that has no value becomes an `UnavailableSource`; an entry that is wrong is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import urlsplit

from codemodekit.servers.config.expand import Expander, ExpansionError
from codemodekit.servers.config.model import PythonSource, RemoteSource, Source, StdioSource, UnavailableSource
from codemodekit.servers.config.reading import Node

__all__ = [
    "ENTRY_KEYS",
    "MODES",
    "is_http",
    "output_mismatch",
    "private_values",
    "read_python_source",
    "read_server",
    "read_target",
    "string_map",
    "valid_headers",
]

MODES: Final = ("auto", "2026-07-28", "2025-11-25")
"""Protocol eras a source can be pinned to."""
_TYPES: Final = ("stdio", "http", "streamable-http", "sse")
_COMMON: Final = ("type", "mode", "outputMismatch", "timeout", "disabled")
_STDIO: Final = ("command", "args", "env", "cwd")
_REMOTE: Final = ("url", "headers")
ENTRY_KEYS: Final = (*_STDIO, *_REMOTE, *_COMMON)

_TARGET: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SHORTEST_SECRET: Final = 4
"""Shorter values are ports and flags; blanking them everywhere would destroy every message."""


def read_server(node: Node, *, environment: Mapping[str, str], folder: Path) -> Source | None:
    """One entry of `mcpServers`; None for a disabled one.

    Raises:
        ConfigError: the entry cannot be understood.
    """
    disabled = node.get("disabled")
    if disabled is not None and disabled.flag():
        return None
    remote = _is_remote(node)
    node.only((*_COMMON, *(_REMOTE if remote else _STDIO)))
    expander = Expander(environment)
    try:
        return _remote(node, expander) if remote else _stdio(node, expander, folder)
    except ExpansionError as error:
        return UnavailableSource(name=node.key, reason=str(error))


def read_python_source(node: Node, *, environment: Mapping[str, str]) -> Source:
    """One entry of `python`.

    Raises:
        ConfigError: it is not `module:attribute`.
    """
    try:
        target = Expander(environment).expand(node.text())
    except ExpansionError as error:
        return UnavailableSource(name=node.key, reason=str(error))
    module, attribute = read_target(node, target)
    return PythonSource(name=node.key, module=module, attribute=attribute)


def read_target(node: Node, text: str) -> tuple[str, str]:
    """Module and attribute that the text of a node names.

    Raises:
        ConfigError: it is not `module:attribute`.
    """
    if not _TARGET.fullmatch(text):
        raise node.error("expected 'module:attribute', such as 'mypackage.tools:tools'")
    module, _, attribute = text.partition(":")
    return module, attribute


def _is_remote(node: Node) -> bool:
    kind = node.get("type")
    if kind is not None:
        return kind.one_of(_TYPES) != "stdio"
    if "command" in node.object() and "url" in node.object():
        raise node.error("'command' and 'url' exclude each other")
    if "command" not in node.object() and "url" not in node.object():
        node.only(ENTRY_KEYS)
        raise node.error("needs 'command' (a program to start) or 'url' (a server to reach)")
    return "url" in node.object()


def _stdio(node: Node, expander: Expander, folder: Path) -> StdioSource:
    command = _required(node, "command", "the program to start", expander)
    if any(space in command for space in " \t\n") and "args" not in node.object() and not Path(command).exists():
        raise node.child("command").error("is one program, without a shell; put its arguments into 'args'")
    args = tuple(expander.expand(item.text()) for item in _items(node, "args"))
    env = string_map(node, "env", expander)
    cwd = node.get("cwd")
    return StdioSource(
        name=node.key,
        command=command,
        args=args,
        env=env,
        cwd=None if cwd is None else folder / Path(expander.expand(cwd.text())).expanduser(),
        mode=_mode(node),
        output_mismatch=output_mismatch(node),
        connect_timeout_s=_timeout(node),
        secrets=private_values(expander.used, _references(node, "env", env)),
    )


def _remote(node: Node, expander: Expander) -> RemoteSource:
    url = _required(node, "url", "the address of the server", expander)
    if not is_http(url):
        raise node.child("url").error("expected an address that starts with http:// or https://")
    headers = string_map(node, "headers", expander)
    valid_headers(node, headers)
    kind = node.get("type")
    return RemoteSource(
        name=node.key,
        transport="sse" if kind is not None and kind.value == "sse" else "http",
        url=url,
        headers=headers,
        mode=_mode(node),
        output_mismatch=output_mismatch(node),
        connect_timeout_s=_timeout(node),
        secrets=private_values(expander.used, _references(node, "headers", headers)),
    )


def _required(node: Node, key: str, meaning: str, expander: Expander) -> str:
    member = node.get(key)
    if member is None:
        raise node.error(f"needs {key!r}: {meaning}")
    text = expander.expand(member.text())
    if not text.strip():
        raise member.error("is empty")
    return text


def _items(node: Node, key: str) -> Sequence[Node]:
    member = node.get(key)
    return () if member is None else member.items()


def string_map(node: Node, key: str, expander: Expander) -> dict[str, str]:
    """The member `key` as a map of texts, expanded; empty where it is absent."""
    member = node.get(key)
    if member is None:
        return {}
    return {name: expander.expand(_scalar(member.child(name))) for name in member.object()}


def _scalar(node: Node) -> str:
    # a port written as a number is what people mean; true and null are not
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return str(node.value)
    return node.text()


def valid_headers(node: Node, headers: Mapping[str, str]) -> None:
    """Refuse headers that HTTP cannot carry.

    Raises:
        ConfigError: a name or a value is none.
    """
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise node.child("headers").error(f"{name!r} is not the name of a header")
        if not value.isprintable() or not value.isascii():
            raise node.child("headers").child(name).error("a header holds printable ASCII only")


def is_http(url: str) -> bool:
    """Whether this is an address of HTTP that names a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _mode(node: Node) -> str:
    mode = node.get("mode")
    return "auto" if mode is None else mode.one_of(MODES)


def output_mismatch(node: Node) -> Literal["error", "warn"]:
    """The member `outputMismatch`."""
    mismatch = node.get("outputMismatch")
    return "error" if mismatch is None else cast(Literal["error", "warn"], mismatch.one_of(("error", "warn")))


def _timeout(node: Node) -> float:
    """Seconds; some clients write milliseconds under this key, and nobody waits a quarter of an hour for a start."""
    timeout = node.get("timeout")
    if timeout is None:
        return 30.0
    value = timeout.positive()
    return value / 1000 if value >= 1000 else value


def _references(node: Node, key: str, expanded: Mapping[str, str]) -> Iterable[str]:
    member = node.get(key)
    written = {} if member is None else member.object()
    return (value for name, value in expanded.items() if "${" in str(written[name]))


def private_values(*groups: Iterable[str]) -> tuple[str, ...]:
    """Values that came from the environment and must not be shown, the longest first."""
    found = {value for group in groups for value in group if len(value) >= _SHORTEST_SECRET}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
