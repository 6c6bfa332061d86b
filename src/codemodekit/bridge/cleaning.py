"""Text of upstreams and exceptions made fit for a model: bounded, without credentials or paths of this host.

Each source takes its own configured secrets out before its text gets here; this is what can be done without knowing
them. A fuller record stays with the host.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

__all__ = ["MESSAGE_CHARACTERS", "clean", "clean_details"]

MESSAGE_CHARACTERS: Final = 4096
"""Longest text of an upstream that is shown."""

_DETAIL_CHARACTERS: Final = 1024
_DETAIL_ITEMS: Final = 16

_CREDENTIALS: Final = (
    (re.compile(r"(?i)\b(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[-_]?key)(\"?\s*[:=]\s*\"?)[^\r\n\"]+"),
     r"\1\2[removed]"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~=-]{8,}"), r"\1 [removed]"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"), r"\1[removed]@"),
    (re.compile(r"(?i)([?&](?:access_token|token|api_?key|key|secret|password|sig|signature)=)[^&\s\"']+"),
     r"\1[removed]"),
    (re.compile(r"(?i)\b(access_token|refresh_token|client_secret|token|password|passwd|secret)(\s*=\s*|\"\s*:\s*\")[^\s\"',;&]{6,}"),
     r"\1\2[removed]"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), "[removed]"),
)  # fmt: skip
_HOST_PATHS: Final = re.compile(
    r"(?<![\w./-])(?:/(?:home|root|Users|usr|opt|var|tmp|srv|mnt|etc|private|app|workspace|work)/[^\s'\"<>|:;,()\[\]]*"
    r"|[A-Za-z]:\\(?:[^\s'\"<>|:;,()\[\]]*\\)+[^\s'\"<>|:;,()\[\]]*)"
)
_HOME: Final = str(Path.home())


def clean(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """The text, bounded, with credentials removed and paths of this host shortened to their last part."""
    text = text[: 2 * most].replace("\x00", "")
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    if len(_HOME) > 1:
        text = text.replace(_HOME, "~")
    text = _HOST_PATHS.sub(_last_part, text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _last_part(found: re.Match[str]) -> str:
    return "[path]/" + re.split(r"[/\\]", found[0].rstrip("/\\"))[-1]


def clean_details(value: Any, depth: int = 0) -> Any:
    """JSON details of an upstream's failure, cleaned and bounded in the same way."""
    if isinstance(value, str):
        return clean(value, _DETAIL_CHARACTERS)
    if depth >= 4 and isinstance(value, list | dict):
        return "…"
    if isinstance(value, list):
        return [clean_details(item, depth + 1) for item in value[:_DETAIL_ITEMS]]
    if isinstance(value, dict):
        first = list(value.items())[:_DETAIL_ITEMS]
        return {clean(str(key), 128): clean_details(item, depth + 1) for key, item in first}
    return value
