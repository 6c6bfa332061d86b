"""`plugin.json`: who a package is (Agent Plugins 1.0.0, section 5). A wrong one rejects the whole package."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from codemodekit.providers.agent_plugin.documents import Members, members, string
from codemodekit.providers.agent_plugin.faults import Fault, shown

__all__ = ["MANIFEST_SCHEMA", "Manifest", "read_manifest"]

MANIFEST_SCHEMA: Final = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
"""What `$schema` says for the one version that is understood; never fetched."""

_NAME: Final = re.compile(r"(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a package says of itself."""

    name: str
    version: str | None = None
    description: str | None = None


def read_manifest(value: Any) -> tuple[Manifest, list[str]]:
    """The manifest, and what is odd about it without making it useless.

    Raises:
        Fault: it is not one of a version that is understood.
    """
    found = members("the manifest", value)
    if found.get("$schema") != MANIFEST_SCHEMA:
        raise Fault(f"'$schema' must be {MANIFEST_SCHEMA!r}, the one version that is understood")
    notes = [f"there is no field {shown(name)}; it is passed over" for name in sorted(found.keys() - _FIELDS.keys())]
    for name, check in _FIELDS.items():
        if name in found:
            check(repr(name), found[name])
    if "name" not in found:
        raise Fault("'name' is missing")
    if "extensions" in found and not isinstance(found["extensions"], Members):
        notes.append("'extensions' must be an object; it is passed over")
    manifest = Manifest(name=found["name"], version=found.get("version"), description=found.get("description"))
    return manifest, notes


def _name(what: str, value: Any) -> None:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Fault(
            f"{what} must be 1 to 64 characters of a-z, 0-9, '-' and '.', with a letter or digit at either end and no "
            "'--' or '..'"
        )


def _author(what: str, value: Any) -> None:
    found = members(what, value)
    for name, member in found.items():
        if name not in ("name", "email", "url"):
            raise Fault(f"{what} has no field {shown(name)}")
        string(f"{what}.{name}", member)


def _keywords(what: str, value: Any) -> None:
    if not isinstance(value, list):
        raise Fault(f"{what} must be a list")
    for index, item in enumerate(value):
        string(f"{what}[{index}]", item)


def _anything(_what: str, _value: Any) -> None:
    """It is somebody else's to check."""


_FIELDS: Final[dict[str, Callable[[str, Any], object]]] = {
    "$schema": string,
    "name": _name,
    "version": string,
    "description": string,
    "author": _author,
    "homepage": string,
    "repository": string,
    "license": string,
    "keywords": _keywords,
    "extensions": _anything,
}
