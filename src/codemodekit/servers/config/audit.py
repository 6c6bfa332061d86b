"""The `audit` of a config: a file, or an object that says more."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from codemodekit.servers.config.model import AuditSettings
from codemodekit.servers.config.reading import Node
from codemodekit.servers.config.sources import read_target

__all__ = ["AUDIT_KEYS", "read_audit"]

AUDIT_KEYS: Final = ("file", "redact", "arguments", "maxBytes", "keep")


def read_audit(node: Node, *, folder: Path) -> AuditSettings:
    """The value of the key `audit`; files are named relative to `folder`.

    Raises:
        ConfigError: it cannot be understood, or asks for arguments that nobody redacts.
    """
    if isinstance(node.value, str):
        return AuditSettings(file=_file(node, folder), origin=_origin(node))
    node.only(AUDIT_KEYS)
    file, redact, arguments = node.get("file"), node.get("redact"), node.get("arguments")
    if file is None:
        raise node.error("needs 'file': where to write the lines")
    if arguments is not None and arguments.flag() and redact is None:
        raise arguments.error("needs 'redact' beside it: arguments hold secrets")
    return AuditSettings(
        file=_file(file, folder),
        redact=None if redact is None else read_target(redact, redact.text()),
        arguments=arguments is not None and arguments.flag(),
        max_bytes=_count(node.get("maxBytes"), 64 * 1024 * 1024),
        keep=_count(node.get("keep"), 5),
        origin=_origin(node),
    )


def _file(node: Node, folder: Path) -> Path:
    name = node.text()
    if not name.strip():
        raise node.error("is empty")
    return folder / Path(name).expanduser()


def _count(node: Node | None, default: int) -> int:
    if node is None:
        return default
    value = node.positive()
    if value != int(value):
        raise node.expected("a whole number")
    return int(value)


def _origin(node: Node) -> str:
    return f"{node.file}: {node.path}"
