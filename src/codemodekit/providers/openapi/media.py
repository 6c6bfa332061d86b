"""Media types: what kind of body one stands for (RFC 9110 §8.3.1, RFC 6839 for the `+json` suffix)."""

from __future__ import annotations

from typing import Final

__all__ = ["is_json", "is_text", "media_type_of"]

_TEXTS: Final = frozenset(
    {
        "application/xml",
        "application/javascript",
        "application/yaml",
        "application/x-yaml",
        "application/x-ndjson",
        "application/graphql",
        "application/sql",
        "application/jsonl",
        "application/toml",
    }
)


def media_type_of(header: str) -> str:
    """The type alone, without parameters, in small letters."""
    return header.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    kind = media_type_of(media_type)
    return kind in ("application/json", "text/json") or kind.endswith("+json")


def is_text(media_type: str) -> bool:
    """Whether a body of this type is text to be read by people; JSON is not meant."""
    kind = media_type_of(media_type)
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+xml", "+yaml"))
