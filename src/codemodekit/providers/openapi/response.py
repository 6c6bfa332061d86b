"""An HTTP answer into the result of a call, or into the failure it reports.

JSON becomes `structuredContent`, text a text block, anything else a resource block with its bytes in base64. Of the
headers a program sees the few that it can act on.
"""

from __future__ import annotations

import base64
import http
import re
from collections.abc import Mapping
from typing import Any, Final

from codemodekit._json import ABSENT, loads
from codemodekit.contracts import ContentBlock, ToolResult
from codemodekit.errors import ToolCallFailed
from codemodekit.providers.openapi.media import is_json, is_text, media_type_of
from codemodekit.providers.openapi.sending import HttpAnswer

__all__ = ["result_of"]

_TOLD: Final = (
    "content-location", "etag", "last-modified", "link", "location", "retry-after", "x-next-page", "x-page",
    "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "x-total", "x-total-count",
    "x-total-pages", "ratelimit", "ratelimit-policy", "content-range", "allow", "deprecation", "sunset",
)  # fmt: skip
"""Headers that say how to go on: paging, waiting, finding what was made."""

_LONGEST_HEADER: Final = 2_000
_LONGEST_FAULT: Final = 4_000


def result_of(answer: HttpAnswer, url: str, *, null_if_empty: bool) -> ToolResult:
    """What a program gets. `null_if_empty`: whether no content stands for null, because a schema says so.

    Raises:
        ToolCallFailed: the status reports a failure; with status, headers and body in its details.
    """
    status, headers, content = answer.status, answer.headers, answer.content
    told = {name: headers[name][:_LONGEST_HEADER] for name in _TOLD if name in headers}
    kind = headers.get("content-type", "")
    if not 200 <= status < 300:
        raise _failure(status, told, kind, content)
    structured: Any = ABSENT
    blocks: list[ContentBlock] = []
    if not content:
        structured = None if null_if_empty else ABSENT
    elif is_json(kind) or (not kind and content.lstrip()[:1] in (b"{", b"[")):
        try:
            structured = loads(content)
        except (ValueError, RecursionError) as error:
            raise ToolCallFailed("the answer is said to be JSON, and is not", upstream_code=status) from error
    elif not kind or is_text(kind):
        blocks.append({"type": "text", "text": _decoded(content, kind)})
    else:
        blob = base64.b64encode(content).decode("ascii")
        resource = {"uri": url.partition("?")[0], "mimeType": media_type_of(kind), "blob": blob}
        blocks.append({"type": "resource", "resource": resource})
    if told:
        blocks.append({"type": "text", "text": "\n".join(f"{name}: {value}" for name, value in told.items())})
    return ToolResult(
        content=tuple(blocks), structured_content=structured, sideband={"status": status, "headers": dict(headers)}
    )


_CHARSET: Final = re.compile(r"""(?i);\s*charset\s*=\s*["']?([\w.:-]{1,40})""")


def _decoded(content: bytes, content_type: str) -> str:
    named = _CHARSET.search(content_type)
    try:
        return content.decode(named[1] if named else "utf-8", "replace")
    except (LookupError, UnicodeError):  # no such charset, or none that can replace
        return content.decode("utf-8", "replace")


def _failure(status: int, told: Mapping[str, str], kind: str, content: bytes) -> ToolCallFailed:
    details: dict[str, Any] = {"status": status}
    if told:
        details["headers"] = dict(told)
    said = ""
    if is_json(kind):
        try:
            details["body"] = loads(content)
            said = _words(details["body"])
        except (ValueError, RecursionError):
            said = ""
    elif content and (not kind or is_text(kind)):
        details["body"] = content[:_LONGEST_FAULT].decode("utf-8", "replace")
    message = f"HTTP {status} {_phrase(status)}".strip()
    return ToolCallFailed(f"{message}: {said}" if said else message, upstream_code=status, details=details)


def _words(body: Any) -> str:
    """What an API says in its own words: RFC 9457 problems, and the members others use."""
    for _ in range(3):
        if isinstance(body, str):
            return body[:_LONGEST_FAULT]
        if not isinstance(body, Mapping):
            return ""
        found = next(
            (body[key] for key in ("detail", "message", "error_description", "error", "title") if body.get(key)), ""
        )
        body = found
    return ""


def _phrase(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return ""
