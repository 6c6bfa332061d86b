"""What is wrong with a package, as an exception inside of this room; it leaves as a note or as a ConfigurationError."""

from __future__ import annotations

__all__ = ["Fault", "shown"]

_SHOWN = 60


class Fault(Exception):
    """One thing that is wrong; the message says where, what was expected, and never a value that may be a secret."""


def shown(text: object) -> str:
    """A foreign name for a message: quoted, escaped, bounded."""
    whole = ascii(text)
    return whole if len(whole) <= _SHOWN else whole[:_SHOWN] + "…"
