"""From one line of a server to a message of the protocol.

A line that cannot be read fails the one call whose answer it is, so that it need not wait for its time to run out; what
is no message at all is noise.
"""

from __future__ import annotations

import json
import re
from typing import Final

import mcp_types as types
from mcp.shared.message import SessionMessage

from codemodekit.providers.mcp import lines
from codemodekit.providers.mcp.lines import END_BYTES, Line
from codemodekit.providers.mcp.link import INVALID_MARK, TOO_LARGE_MARK, failed_answer

__all__ = ["read_message", "too_large", "too_large_words"]

_FIRST_ID: Final = re.compile(
    rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"'
)
_LAST_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def read_message(line: Line) -> SessionMessage | None:
    """The message on a line; None for noise."""
    if not line.whole:
        return too_large(line)
    try:
        # Python's own parser: the SDK's refuses lone surrogates, which JSON allows.
        value = json.loads(line.head)
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (RecursionError, ValueError) as error:
        return _failed(line, f"the server's answer cannot be read ({type(error).__name__})", INVALID_MARK)


def too_large(line: Line, request_id: types.RequestId | None = None) -> SessionMessage | None:
    """What stands in the place of an answer that was too long to be held; None if nobody knows whose it was."""
    if request_id is not None:
        return failed_answer(request_id, types.PARSE_ERROR, too_large_words(), mark=TOO_LARGE_MARK)
    return _failed(line, too_large_words(), TOO_LARGE_MARK)


def too_large_words() -> str:
    """What to tell about an answer that was too long."""
    return f"the server's answer is longer than {lines.MAX_MESSAGE_BYTES} bytes"


def _failed(line: Line, why: str, mark: str) -> SessionMessage | None:
    if b'"jsonrpc"' not in line.head[:END_BYTES] and b'"jsonrpc"' not in line.tail[-END_BYTES:]:
        return None
    found = _FIRST_ID.search(line.head[:END_BYTES]) or _LAST_ID.search(line.tail[-END_BYTES:])
    return failed_answer(int(found[1]), types.PARSE_ERROR, why, mark=mark) if found else None
