"""Exceptions: for misuse, for a broken host, and for what a tool source reports. A program's failure is never one.

Two kinds are kept apart: what the caller can mend (ConfigurationError, ToolError, ToolCallFailed) and a room that is
broken or closed (SourceLost, ClosedError).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ClosedError",
    "CodeModeKitError",
    "ConfigurationError",
    "SandboxError",
    "SourceLost",
    "ToolCallFailed",
    "ToolError",
    "ToolResultInvalid",
    "ToolResultTooLarge",
]


class CodeModeKitError(Exception):
    """Base of everything this package raises."""


class ConfigurationError(CodeModeKitError, ValueError):
    """The caller asked for something that cannot be built; the message says what and how to mend it."""


class ClosedError(CodeModeKitError, RuntimeError):
    """Used after it was closed, or before it was started."""


class SandboxError(CodeModeKitError):
    """The sandbox itself cannot work (missing or altered guest, no memory); never the program's doing."""


class ToolError(CodeModeKitError):
    """Raised by a tool to tell the model something: its message is shown. Any other exception of a tool is not."""


class ToolCallFailed(CodeModeKitError):
    """A source answered a call with a failure of its own."""

    def __init__(self, message: str, *, upstream_code: str | int | None = None, details: Any = None) -> None:
        super().__init__(message)
        self.message = message
        """The upstream's own text, not yet cleaned or bounded."""
        self.upstream_code = upstream_code
        self.details = details
        """JSON value that may be shown to the model."""


class ToolResultTooLarge(ToolCallFailed):
    """A source answered with more than its connection carries; the call itself may well have succeeded."""


class ToolResultInvalid(ToolCallFailed):
    """A source answered with what is no result; the call itself may well have succeeded."""


class SourceLost(CodeModeKitError):
    """The connection to a source is gone; whether a call in flight took effect is not known."""
