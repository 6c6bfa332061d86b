"""Everything that can go wrong with an MCP server, as one of two failures: its tool failed, or the server is lost.

The one place where exceptions of the SDK, of HTTP and of the operating system are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import mcp_types as types
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from codemodekit.errors import SourceLost, ToolCallFailed, ToolResultInvalid, ToolResultTooLarge
from codemodekit.providers.mcp.guard import STATUS_MARK, describe, describe_status
from codemodekit.providers.mcp.link import INVALID_MARK, LOST_MARK, TOO_LARGE_MARK
from codemodekit.providers.mcp.redaction import Redactor

__all__ = ["as_lost", "translate"]


def translate(
    error: BaseException, redactor: Redactor, *, closed: str = "the connection was closed"
) -> SourceLost | ToolCallFailed:
    """The failure that `error` stands for, cleaned; `closed` says why a closed connection was closed."""
    failure = _failure(_most_telling(error), closed)
    if isinstance(failure, SourceLost):
        lost = SourceLost(redactor.clean(str(failure)))
        for note in getattr(failure, "__notes__", ()):
            lost.add_note(redactor.clean(note))
        return lost
    message = redactor.clean(failure.message)
    for kind in (ToolResultTooLarge, ToolResultInvalid):
        if isinstance(failure, kind):
            return kind(message)
    return ToolCallFailed(message, upstream_code=failure.upstream_code, details=redactor.clean_details(failure.details))


def as_lost(failure: SourceLost | ToolCallFailed, doing: str) -> SourceLost:
    """The same failure where no tool was called: an error answer there means that the server is of no use."""
    return failure if isinstance(failure, SourceLost) else SourceLost(f"{doing} failed: {failure.message}")


def _failure(error: BaseException, closed: str) -> SourceLost | ToolCallFailed:
    match error:
        case SourceLost() | ToolCallFailed():
            return error
        case MCPError():
            return _answered(error, closed)
        case httpx2.HTTPStatusError():
            return SourceLost(describe_status(error.response.status_code))
        case httpx2.TransportError():
            return SourceLost(describe(error))
        case SubscriptionLost():
            return SourceLost(closed)
        case ValidationError():
            return SourceLost("the server sent a message that is not valid in this protocol")
        case TimeoutError():
            return SourceLost("the server did not answer in time")
        case OSError():
            return SourceLost(f"the connection failed ({error.strerror or type(error).__name__})")
        case _:
            return SourceLost(f"the connection failed ({type(error).__name__}: {error})")


def _answered(error: MCPError, closed: str) -> SourceLost | ToolCallFailed:
    data = error.data if isinstance(error.data, dict) else {}
    if data.get(LOST_MARK) is True:
        return SourceLost(error.message)
    if data.get(TOO_LARGE_MARK) is True:
        return ToolResultTooLarge(error.message)
    if data.get(INVALID_MARK) is True:
        return ToolResultInvalid(error.message)
    if error.code == types.PARSE_ERROR and error.message.startswith(_SDK_WORDS_FOR_UNREADABLE):
        return ToolResultInvalid("the server's answer cannot be read")
    if (error.code, error.message) == (types.CONNECTION_CLOSED, "Connection closed"):
        return SourceLost(closed)
    if _is_sdk_word_for_lost(error.code, error.message):
        return SourceLost("the connection broke before the answer came")
    if error.code == types.REQUEST_TIMEOUT and error.message.startswith("Request '"):
        return SourceLost("the server did not answer in time")
    status = data.get(STATUS_MARK)
    return ToolCallFailed(
        error.message or "the server reports an error without saying which",
        upstream_code=status if isinstance(status, int) else error.code,
        details=None if isinstance(status, int) else error.data or None,
    )


_SDK_WORDS_FOR_UNREADABLE: Final = ("Failed to parse JSON response:", "Failed to parse SSE message:")
"""What follows is a piece of the answer."""


def _is_sdk_word_for_lost(code: int, message: str) -> bool:
    """Whether the SDK itself wrote this in the place of an answer; servers use the same code for errors of theirs."""
    return code == types.CONNECTION_CLOSED and message.startswith(("SSE stream ended", "SSE stream failed"))


def _most_telling(error: BaseException) -> BaseException:
    """Of all the exceptions in nested groups, the one that says most: what merely follows from a closing says least."""
    return min(_leaves(error), key=_dullness)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _dullness(error: BaseException) -> int:
    match error:
        case SourceLost() | ToolCallFailed():
            return 0
        case MCPError() if error.code == types.CONNECTION_CLOSED:
            return 3
        case MCPError() | httpx2.HTTPError() | OSError():
            return 1
        case _:
            return 2
