"""`mcp.json`: the servers of a package (Agent Plugins 1.0.0, section 7.2). A wrong entry costs itself alone."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from codemodekit.providers.agent_plugin.documents import Members, members, text, texts
from codemodekit.providers.agent_plugin.faults import Fault, shown
from codemodekit.providers.agent_plugin.paths import relative

__all__ = ["SERVERS_SCHEMA", "Entry", "ProcessEntry", "RemoteEntry", "read_entry", "read_servers"]

SERVERS_SCHEMA: Final = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"

MOST_SERVERS: Final = 256
_LONGEST_NAME: Final = 256

_RESERVED: Final = ("PLUGIN_ROOT", "PLUGIN_DATA")
_CWD: Final = re.compile(r"\./|\$\{PLUGIN_(?:ROOT|DATA)\}(?:/|\Z)")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS: Final = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect",
        "host", "keep-alive", "last-event-id", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    }
)  # fmt: skip
"""Headers that HTTP and MCP need for themselves, besides all that begin with `mcp-`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEntry:
    """A server to be started, as it is written: placeholders are not expanded yet."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = "${PLUGIN_ROOT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteEntry:
    """A server to be reached."""

    transport: Literal["streamable-http", "sse"]
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    passed_over: tuple[str, ...] = ()
    """Headers that are ours to set, and are left out."""


Entry: TypeAlias = ProcessEntry | RemoteEntry


def read_servers(value: Any) -> Members:
    """The entries by name, each still to be read.

    Raises:
        Fault: the document as a whole is wrong, or of a version that is not understood.
    """
    found = members("the configuration", value)
    if found.get("$schema") != SERVERS_SCHEMA:
        raise Fault(f"'$schema' must be {SERVERS_SCHEMA!r}, the version of the manifest")
    for name in found:
        if name not in ("$schema", "mcpServers"):
            raise Fault(f"there is no field {shown(name)}")
    servers = found.get("mcpServers")
    if not isinstance(servers, Members):
        raise Fault("'mcpServers' must be an object")
    if len(servers) > MOST_SERVERS:
        raise Fault(f"'mcpServers' has more than {MOST_SERVERS} members")
    return servers


def read_entry(name: str, servers: Members) -> Entry:
    """One entry.

    Raises:
        Fault: it is wrong.
    """
    if name in servers.twice:
        raise Fault("stands twice")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise Fault(f"its name must be 1 to {_LONGEST_NAME} characters that can be printed")
    entry = members("the entry", servers[name])
    kind = entry.get("type")
    if kind == "stdio":
        return _process(entry)
    if kind == "streamable-http" or kind == "sse":
        return _remote(entry, kind)
    raise Fault("'type' must be 'stdio', 'streamable-http' or 'sse'")


def _process(entry: Members) -> ProcessEntry:
    _only(entry, "type", "command", "args", "env", "cwd")
    return ProcessEntry(
        command=_command(_required(entry, "command")),
        args=texts("'args'", entry["args"]) if "args" in entry else (),
        env=_env(members("'env'", entry["env"])) if "env" in entry else {},
        cwd=_cwd(text("'cwd'", entry["cwd"])) if "cwd" in entry else "${PLUGIN_ROOT}",
    )


def _command(command: str) -> str:
    if command.startswith("./"):
        if relative("'command'", command).strip("/.") == "":
            raise Fault("'command' names a folder")
        return command
    if "/" in command or "\\" in command or re.match(r"[A-Za-z]:", command) or command in (".", ".."):
        raise Fault(f"'command' {shown(command)} must be the name of a program, or a path that begins with './'")
    return command


def _env(found: Members) -> dict[str, str]:
    for name in found:
        if not name or "=" in name:
            raise Fault(f"'env' has {shown(name)}, which cannot be the name of a variable")
        text("the name of a variable in 'env'", name)
        if name.upper() in _RESERVED:  # some systems do not tell the cases apart
            raise Fault(f"'env' may not set {name}")
    return {name: text(f"'env'.{name}", value) for name, value in found.items()}


def _cwd(cwd: str) -> str:
    if not _CWD.match(cwd):
        raise Fault("'cwd' must begin with './', '${PLUGIN_ROOT}' or '${PLUGIN_DATA}'")
    relative("'cwd'", "./" + cwd.removeprefix("./"))
    return cwd


def _remote(entry: Members, kind: Literal["streamable-http", "sse"]) -> RemoteEntry:
    _only(entry, "type", "url", "headers")
    url = _url(_required(entry, "url"))
    headers = _headers(members("'headers'", entry["headers"])) if "headers" in entry else {}
    ours = tuple(name for name in headers if name.lower() in _OURS or name.lower().startswith("mcp-"))
    kept = {name: value for name, value in headers.items() if name not in ours}
    return RemoteEntry(transport=kind, url=url, headers=kept, passed_over=ours)


def _url(url: str) -> str:
    if "\\" in url or any(character <= " " or character == "\x7f" for character in url):
        raise Fault("'url' has characters that no address has")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise Fault("'url' cannot be read as an address") from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise Fault("'url' must begin with https:// and name a host")
    if "@" in parts.netloc or "#" in url:
        raise Fault("'url' must have no user and no fragment")
    if parts.scheme == "http" and not _is_loopback(host):
        raise Fault("'url' must begin with https://; only this machine itself may be reached by http://")
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _headers(found: Members) -> dict[str, str]:
    seen: set[str] = set()
    for name, value in found.items():
        if not _HEADER_NAME.fullmatch(name):
            raise Fault(f"{shown(name)} cannot be the name of a header")
        if name.lower() in seen:
            raise Fault(f"the header {shown(name)} stands twice")
        seen.add(name.lower())
        if not _HEADER_VALUE.fullmatch(text(f"the header {shown(name)}", value)):
            raise Fault(f"the value of the header {shown(name)} is not one line that HTTP can carry")
    return dict(found)


def _required(entry: Members, name: str) -> str:
    if name not in entry:
        raise Fault(f"{name!r} is missing")
    found = text(repr(name), entry[name])
    if not found.strip():
        raise Fault(f"{name!r} is empty")
    return found


def _only(entry: Members, *known: str) -> None:
    for name in entry:
        if name not in known:
            raise Fault(f"there is no field {shown(name)} with this 'type'")
