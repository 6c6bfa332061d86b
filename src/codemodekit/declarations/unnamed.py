"""What the schema of an object says of properties it does not name, as an index signature that TypeScript accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codemodekit._json import JsonObject
from codemodekit.declarations.comments import safe
from codemodekit.declarations.shapes import NEVER, OPEN_OBJECT, UNKNOWN, Keyword, Member, ObjectOf, Shape, union

__all__ = ["UnnamedProperties", "allowed_names", "common_prefix", "patterns_note"]

_MOST_INDEX_TYPES: Final = 5
_MOST_NAMES: Final = 40
_LONGEST_NAME: Final = 1_000


@dataclass(frozen=True, slots=True)
class UnnamedProperties:
    """What the properties of an object may be that it does not name."""

    shape: Shape | None
    """None: nothing is said of them, NEVER: there are none."""
    prefix: str = ""
    """It is said of those only whose names start so."""
    note: str = ""

    def of(self, name: str) -> Shape:
        """The type of a property that is mentioned by its name alone."""
        return UNKNOWN if self.shape in (None, NEVER) or not name.startswith(self.prefix) else self.shape

    def beside(self, members: list[Member]) -> ObjectOf:
        """The whole object. TypeScript wants every property to fit an index signature that covers its name."""
        if self.shape is None or (self.shape == NEVER and members and not self.prefix):
            return ObjectOf(tuple(members)) if members else OPEN_OBJECT
        covered = [one for one in members if one.name.startswith(self.prefix)]
        parts = list(dict.fromkeys([self.shape, *(one.shape for one in covered)]))
        if not all(one.required for one in covered):
            parts.append(Keyword("undefined"))
        shape = union(parts) if len(parts) <= _MOST_INDEX_TYPES else UNKNOWN
        key = f"`{self.prefix}${{string}}`" if self.prefix else "string"
        return ObjectOf(tuple(members), shape, self.note, key)


def patterns_note(patterns: JsonObject) -> str:
    """The patterns of the names, for a comment."""
    return safe(f"names: {', '.join(patterns)}", 160).replace("\n", " ") if patterns else ""


def common_prefix(pattern: str) -> str:
    """The text that every name starts with, if that is all the pattern says."""
    found = re.fullmatch(r"\^([A-Za-z0-9_:/-]{1,40})(\.\*\$?)?", pattern)
    return found[1] if found else ""


def allowed_names(schema: JsonObject) -> list[str]:
    """The only names an object may have, if they are few."""
    names = schema.get("propertyNames")
    allowed = names.get("enum") if isinstance(names, Mapping) else None
    if not isinstance(allowed, list | tuple) or len(allowed) > _MOST_NAMES:
        return []
    return list(dict.fromkeys(name for name in allowed if isinstance(name, str) and len(name) <= _LONGEST_NAME))
