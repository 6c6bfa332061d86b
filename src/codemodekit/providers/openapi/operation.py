"""One operation of an API as a value: everything that is needed to describe it, to ask it and to read its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from codemodekit._json import JsonObject
from codemodekit.providers.openapi.styles import Place, Style

__all__ = ["Body", "Encoding", "Operation", "Parameter", "Skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value that goes into the path, the query, a header or a cookie."""

    argument: str
    """Its name in the tool's input: the declared one, followed by its place where two would be the same."""
    place: Place
    style: Style
    required: bool
    schema: JsonObject | bool
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How one field of a form is sent."""

    content_type: str | None = None
    style: Style | None = None
    """Where the document names one; else the field is sent as its kind asks."""
    headers: Mapping[str, str] = field(default_factory=dict)


BodyKind = Literal["json", "form", "multipart", "text", "binary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a request carries, in the one media type that is used."""

    argument: str
    media_type: str
    kind: BodyKind
    required: bool
    schema: JsonObject | bool
    description: str = ""
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    """Fields of a form that hold bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    name: str
    method: str
    """In capitals."""
    path: str
    """As declared, with `{name}` where parameters go."""
    server: str
    """Absolute address that `path` is added to; without a slash at its end."""
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    accept: str | None = None
    answer: JsonObject | bool | None = None
    """JSON Schema of what it answers when it succeeds, where the document says."""
    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives, each the schemes it takes together; empty for none at all, None where the document is silent."""
    title: str = ""
    description: str = ""
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """An operation that does not become a tool."""

    name: str
    reason: str


def member(value: Any, key: str) -> Mapping[str, Any]:
    """An object inside of another; an empty one where there is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}
