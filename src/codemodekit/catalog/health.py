"""How a source is doing, in values and words: states, waiting times between attempts, and failures made presentable."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from codemodekit.cleaning import without_credentials
from codemodekit.errors import ConfigurationError, SourceLost

__all__ = ["CatalogNote", "Reconnect", "SourceHealth", "SourceState", "failure_text"]


class SourceState(StrEnum):
    """Where a source is in its life."""

    CONNECTING = "connecting"
    """The first attempt has not ended yet."""
    HEALTHY = "healthy"
    UNAVAILABLE = "unavailable"
    """Lost, or never reached; it is tried again."""
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnect:
    """Waiting times between attempts: from `initial_s`, times `factor`, up to `maximum_s`, each varied by `jitter`.

    Raises:
        ConfigurationError: times that are not positive, a factor below one, or a jitter outside of 0 to 1.
    """

    initial_s: float = 0.25
    maximum_s: float = 30.0
    factor: float = 2.0
    jitter: float = 0.2

    def __post_init__(self) -> None:
        if not (0 < self.initial_s <= self.maximum_s and self.factor >= 1 and 0 <= self.jitter <= 1):
            raise ConfigurationError(
                f"reconnect needs 0 < initial_s <= maximum_s, factor >= 1 and 0 <= jitter <= 1, not {self!r}"
            )

    def delay(self, failures: int, rng: random.Random) -> float:
        """Seconds to wait after this many failures in a row, counted from 1."""
        # the exponent is capped: a float power overflows after a few days of failures
        base = min(self.maximum_s, self.initial_s * self.factor ** min(failures - 1, 64))
        return base * (1 + self.jitter * (2 * rng.random() - 1))


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """One source at one moment."""

    source: str
    state: SourceState
    tools: int
    quarantined: int
    last_error: str | None = None
    next_retry_s: float | None = None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "source": self.source,
            "state": str(self.state),
            "tools": self.tools,
            "quarantined": self.quarantined,
        }
        if self.last_error is not None:
            wire["lastError"] = self.last_error
        if self.next_retry_s is not None:
            wire["nextRetryS"] = round(self.next_retry_s, 3)
        return wire


@dataclass(frozen=True, slots=True)
class CatalogNote:
    """Something odd about a source, or about one of its tools."""

    source: str
    message: str
    tool: str | None = None
    """The quarantined tool; None for what concerns the whole source."""

    def to_wire(self) -> dict[str, str]:
        wire = {"source": self.source, "message": self.message}
        return wire if self.tool is None else {**wire, "tool": self.tool}


_LONGEST: Final = 500


def failure_text(error: BaseException) -> str:
    """The innermost causes of a failure in one bounded line, without what looks like a credential."""
    parts: dict[str, None] = {}
    for leaf in _leaves(error):
        parts[_leaf_text(leaf)] = None
    line = without_credentials("; ".join(parts))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _leaves(error: BaseException) -> list[BaseException]:
    pending: list[BaseException] = [error]
    leaves: list[BaseException] = []
    while pending and len(leaves) < 5:
        current = pending.pop()
        if isinstance(current, BaseExceptionGroup):
            pending.extend(reversed(current.exceptions))
        else:
            leaves.append(current)
    return leaves


def _leaf_text(error: BaseException) -> str:
    try:
        message = str(error)[: 2 * _LONGEST]
    except Exception as fault:  # a foreign exception may fail at describing itself
        message = f"(no description: {type(fault).__name__})"
    line = "".join(c if c.isprintable() else " " for c in message)
    line = " ".join(line.split())
    if isinstance(error, SourceLost) and line:
        return line
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
