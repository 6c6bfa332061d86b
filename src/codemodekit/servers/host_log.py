"""Tells whoever runs a server what its models are not told: why something of the host's own failed, in one line.

What an upstream says of itself is in the answer to the model already, cleaned of its secrets, and is not repeated.
"""

from __future__ import annotations

import logging
from typing import Final

from codemodekit.catalog.health import failure_text
from codemodekit.code_mode.result import TrustedRecord
from codemodekit.errors import SourceLost, ToolCallFailed, ToolError

__all__ = ["log_host_failure"]

_log = logging.getLogger("codemodekit")

_TOLD: Final = (SourceLost, ToolCallFailed, ToolError)
"""Failures whose own words are in the answer."""


def log_host_failure(record: TrustedRecord) -> None:
    """Log the exception behind a failure, under the correlation id that the model was given."""
    if record.exception is None or isinstance(record.exception, _TOLD):
        return
    cause = failure_text(record.exception)
    _log.warning("%s (%s): %s", record.diagnostic.code, record.correlation_id, cause)
