"""What the host configured for one API, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.openapi.credentials import Auth

__all__ = ["ApiSettings", "is_address"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """All that a connection needs to know."""

    spec: str | Path | Mapping[str, Any]
    base_url: str | None
    variables: Mapping[str, str]
    auth: Auth | Mapping[str, Auth] | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    output_mismatch: Literal["error", "warn"]
    redactor: Redactor


def is_address(spec: str | Path | Mapping[str, Any]) -> bool:
    """Whether a document is asked for over HTTP; any other text is a file."""
    return isinstance(spec, str) and urlsplit(spec).scheme in ("http", "https")
