"""From the audit log that a config asks for to one that can be written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codemodekit.code_mode.audit import AuditLog
from codemodekit.errors import ConfigurationError, SourceLost
from codemodekit.servers.config import AuditSettings, ConfigError
from codemodekit.servers.importing import imported

__all__ = ["build_audit"]


def build_audit(settings: AuditSettings | None, import_folders: Sequence[Path]) -> AuditLog | None:
    """The log, if one is asked for; its file exists then.

    Raises:
        ConfigError: the function that redacts cannot be imported, or the file cannot be written.
    """
    if settings is None:
        return None
    try:
        redact: Any = None if settings.redact is None else imported(*settings.redact, folders=import_folders)
        log = AuditLog(
            settings.file,
            redact=redact,
            arguments=settings.arguments,
            max_bytes=settings.max_bytes,
            keep=settings.keep,
        )
        log.check()
    except (ConfigurationError, SourceLost) as error:
        raise ConfigError(f"{settings.origin}: {error}") from error
    return log
