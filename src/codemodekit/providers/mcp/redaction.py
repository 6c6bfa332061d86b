"""Text from a server, made fit to leave this room: no configured secret in it, no authorization material, bounded.

Knows the secret values of one source. Nothing of the protocol; which values are secrets is said by secrets.py, how they
are found in whatever form they come back by spotting.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from codemodekit._json import JsonValue
from codemodekit.cleaning import without_credentials
from codemodekit.providers.mcp.spotting import Spotter

__all__ = ["MAX_CHARS", "MIN_SECRET_CHARS", "Redactor"]

MAX_CHARS: Final = 4_000
"""Longest text that is handed out as a message."""
MIN_SECRET_CHARS: Final = 4
"""Anything shorter is no secret worth its name, and replacing it would tear words apart."""

_SCANNED_CHARS: Final = 64_000
"""Text beyond is dropped before scanning; far enough behind MAX_CHARS that no half of a secret survives the cut."""
_DETAIL_ITEMS: Final = 64
_DETAIL_DEPTH: Final = 8


class Redactor:
    """Replaces what must not be shown.

    `secrets` are blanked everywhere, also out of results and definitions. `private` values are what a configuration
    says besides, a region or a mode: messages do without them, but data that holds one is left as it is.

    Example:
        >>> Redactor(["hunter2!"]).clean("login with hunter2! failed")
        'login with [redacted] failed'
    """

    def __init__(self, secrets: Iterable[str] = (), private: Iterable[str] = ()) -> None:
        known = {secret for value in secrets if len(secret := value.strip()) >= MIN_SECRET_CHARS}
        self._secrets = Spotter(known)
        self._everything = Spotter(known | {value for value in private if len(value.strip()) >= MIN_SECRET_CHARS})

    def __repr__(self) -> str:
        return "Redactor(...)"

    def clean(self, text: str) -> str:
        """A message without secrets, private values and authorization material, at most MAX_CHARS long."""
        text = without_credentials(self._everything.blanked(text[:_SCANNED_CHARS])).strip()
        return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"

    def clean_details(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """The same for every text of a JSON value that goes with a message; bounded."""
        if isinstance(value, str):
            return self.clean(value)
        if depth >= _DETAIL_DEPTH and isinstance(value, list | dict):
            return "…"
        if isinstance(value, list):
            return [self.clean_details(item, depth + 1) for item in value[:_DETAIL_ITEMS]]
        if isinstance(value, dict):
            first = list(value.items())[:_DETAIL_ITEMS]
            return {self.clean(key): self.clean_details(item, depth + 1) for key, item in first}
        return value

    def holds(self, text: str) -> bool:
        """Whether there is a secret in the text; a quick look."""
        return self._secrets.found_in(text)

    def blank(self, value: JsonValue) -> JsonValue:
        """A JSON value of any size with its secrets blanked, and nothing else changed."""
        if isinstance(value, str):
            return self._secrets.blanked(value)
        if isinstance(value, list):
            return [self.blank(item) for item in value]
        if isinstance(value, dict):
            return {self._secrets.blanked(key): self.blank(item) for key, item in value.items()}
        return value
