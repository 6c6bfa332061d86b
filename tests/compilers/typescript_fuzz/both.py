"""A text in two forms: TypeScript, and the JavaScript it means."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Both", "both", "only", "swap"]


@dataclass(frozen=True, slots=True)
class Both:
    ts: str
    js: str

    def __add__(self, other: Both | str) -> Both:
        more = both(other)
        return Both(self.ts + more.ts, self.js + more.js)

    def __radd__(self, other: str) -> Both:
        return Both(other + self.ts, other + self.js)


def both(*parts: Both | str) -> Both:
    """Parts one after another; a string is the same in both forms."""
    return Both(
        "".join(part if isinstance(part, str) else part.ts for part in parts),
        "".join(part if isinstance(part, str) else part.js for part in parts),
    )


def only(ts: str) -> Both:
    """What TypeScript alone has."""
    return Both(ts, "")


def swap(ts: str, js: str) -> Both:
    """What the two write differently."""
    return Both(ts, js)
