"""The log of a server on standard error, as lines for people or as JSON."""

from __future__ import annotations

import json
import logging

__all__ = ["log_to_stderr"]


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()})


def log_to_stderr(*, as_json: bool) -> None:
    """Warnings and worse, from here on."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
