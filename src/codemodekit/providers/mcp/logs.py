"""What the SDK and its HTTP client log about a connection, cleaned of its source's secrets.

They log addresses, messages and what a server sent, and know no secrets. The loggers belong to the whole process: only
what is said in the course of a connection of ours is touched.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Final

from codemodekit.providers.mcp.redaction import Redactor

__all__ = ["logs_cleaned"]

_LOGGERS: Final = (
    "client",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpx2",
    "mcp.client.caching",
    "mcp.client.session",
    "mcp.client.streamable_http",
    "mcp.client.subscriptions",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
)
_redactor: ContextVar[Redactor | None] = ContextVar("codemodekit_mcp_redactor", default=None)


@contextmanager
def logs_cleaned(redactor: Redactor) -> Iterator[None]:
    """What is logged inside, and by tasks started inside, shows nothing that the redactor knows."""
    _install()
    token = _redactor.set(redactor)
    try:
        yield
    finally:
        _redactor.reset(token)


@cache
def _install() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_Cleaning())


class _Cleaning(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        redactor = _redactor.get()
        if redactor is not None:
            record.msg, record.args = redactor.clean(record.getMessage()), None
            # A traceback quotes the exceptions behind it, and those the server.
            record.exc_info = record.exc_text = record.stack_info = None
        return True
