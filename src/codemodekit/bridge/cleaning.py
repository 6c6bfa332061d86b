"""Details of an upstream's failure, which are JSON, cleaned and bounded like its text."""

from __future__ import annotations

from typing import Any, Final

from codemodekit.cleaning import clean

__all__ = ["clean_details"]

_CHARACTERS: Final = 1024
_ITEMS: Final = 16
_DEPTH: Final = 4


def clean_details(value: Any, depth: int = 0) -> Any:
    """The details without credentials and host paths, and with no more items, text and levels than a reader needs."""
    if isinstance(value, str):
        return clean(value, _CHARACTERS)
    if depth >= _DEPTH and isinstance(value, list | dict):
        return "…"
    if isinstance(value, list):
        return [clean_details(item, depth + 1) for item in value[:_ITEMS]]
    if isinstance(value, dict):
        first = list(value.items())[:_ITEMS]
        return {clean(str(key), 128): clean_details(item, depth + 1) for key, item in first}
    return value
