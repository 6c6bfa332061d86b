"""From the JSON of an answer to `tools/call` to a result or a failure, field by field and exactly.

Works on plain JSON, not on the SDK's models: those drop fields they do not know and refuse a whole answer for one block
of a new type. What a program may not see goes into the sideband. Knows nothing of connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from anyio import to_thread

from codemodekit import _json
from codemodekit._json import ABSENT, Absent, JsonValue
from codemodekit.contracts import ContentBlock, ToolResult
from codemodekit.errors import ToolCallFailed, ToolResultInvalid
from codemodekit.providers.mcp.redaction import Redactor

__all__ = ["tool_result", "without_secrets"]

_BLOCK_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text"}),
    "image": frozenset({"type", "data", "mimeType"}),
    "audio": frozenset({"type", "data", "mimeType"}),
    "resource": frozenset({"type", "resource"}),
    "resource_link": frozenset({"type", "uri", "name", "title", "description", "mimeType", "size"}),
}
_NEEDED: Final = {"text": "text", "image": "data", "audio": "data", "resource_link": "uri"}
"""By kind: the field without which a block says nothing."""
_RESOURCE_FIELDS: Final = frozenset({"uri", "mimeType", "text", "blob"})
_NEVER: Final = frozenset({"_meta", "annotations"})


_SHOWN: Final = ("content", "structuredContent")

_AT_ONCE: Final = 100_000
"""Characters of an answer that is searched for secrets on the event loop; a longer one is in a thread."""


async def without_secrets(raw: JsonValue, redactor: Redactor) -> JsonValue:
    """The answer as a program may see it.

    Raises:
        ToolResultInvalid: the answer is no JSON.
    """
    try:
        text = _json.dumps(raw)
    except (ValueError, RecursionError) as error:
        raise ToolResultInvalid(
            "the server's answer holds a value that JSON cannot carry, or is nested too deeply"
        ) from error
    if not isinstance(raw, dict):
        return raw
    if len(text) <= _AT_ONCE:
        return _blanked(raw, text, redactor)
    return await to_thread.run_sync(_blanked, raw, text, redactor)


def _blanked(raw: dict[str, Any], text: str, redactor: Redactor) -> dict[str, Any]:
    if not redactor.holds(text):
        return raw
    try:
        return {**raw, **{key: redactor.blank(raw[key]) for key in _SHOWN if key in raw}}
    except RecursionError as error:
        raise ToolResultInvalid("the server's answer is nested too deeply") from error


def tool_result(raw: JsonValue, shown: JsonValue, *, null_is_a_value: bool) -> ToolResult:
    """What a call answered, from the answer as it came and as it may be seen.

    `null_is_a_value`: whether the protocol in use lets `structuredContent` be null; where it may only be an object,
    servers write null for "none".

    Raises:
        ToolCallFailed: the tool reports an error, or asks for more input.
        ToolResultInvalid: the answer is no result.
    """
    if not isinstance(raw, dict):
        raise ToolResultInvalid("the server answered the call with something that is not a result")
    _refuse_unfinished(raw)
    if _is_error(raw.get("isError")):
        raise ToolCallFailed(_error_text(raw.get("content")), details=raw.get("structuredContent"))
    return ToolResult(
        content=_content(shown.get("content")),
        structured_content=_structured(shown, null_is_a_value=null_is_a_value),
        sideband={"original": raw},
    )


def _refuse_unfinished(raw: dict[str, Any]) -> None:
    kind = raw.get("resultType", "complete")
    if kind == "input_required":
        raise ToolCallFailed("the tool asks for more input from a person, which a program cannot give")
    if kind != "complete":
        raise ToolCallFailed(f"the tool answered with {str(kind)[:100]!r}, a kind of result that is not supported here")


def _is_error(mark: object) -> bool:
    # Read strictly: `"false"` taken for true would turn a success into a failure, taken for false hide one.
    if mark is None or isinstance(mark, bool):
        return mark is True
    raise ToolResultInvalid(f"the server's answer has an isError that is {_kind(mark)}, not true or false")


def _structured(raw: dict[str, Any], *, null_is_a_value: bool) -> JsonValue | Absent:
    value = raw.get("structuredContent", ABSENT)
    return ABSENT if value is None and not null_is_a_value else value


# --- content blocks ---------------------------------------------------------------------------------------------------


def _content(blocks: JsonValue) -> tuple[ContentBlock, ...]:
    if blocks is None:  # the protocol asks for the list; servers that have nothing to say leave it out
        return ()
    if not isinstance(blocks, list):
        raise ToolResultInvalid(f"the server's answer has a content that is {_kind(blocks)}, not a list of blocks")
    return tuple(_block(index, block) for index, block in enumerate(blocks))


def _block(index: int, raw: JsonValue) -> ContentBlock:
    where = f"content[{index}]"
    if not isinstance(raw, dict):
        raise ToolResultInvalid(f"the server's answer has a {where} that is {_kind(raw)}, not a content block")
    kind = _text(raw, "type", where)
    known = _BLOCK_FIELDS.get(kind)
    if known is None:
        return {key: value for key, value in raw.items() if key not in _NEVER}
    block = {key: value for key, value in raw.items() if key in known}
    if kind == "resource":
        block["resource"] = _resource(raw.get("resource", ABSENT), f"{where}.resource")
    else:
        _text(block, _NEEDED[kind], where)
    return block


def _resource(raw: JsonValue, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ToolResultInvalid(f"the server's answer has a {where} that is {_kind(raw)}, not an object")
    _text(raw, "text" if "text" in raw else "blob", where)
    return {key: value for key, value in raw.items() if key in _RESOURCE_FIELDS}


def _text(raw: Mapping[str, Any], field: str, where: str) -> str:
    value = raw.get(field, ABSENT)
    if not isinstance(value, str):
        raise ToolResultInvalid(f"the server's answer has a {where}.{field} that is {_kind(value)}, not text")
    return value


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "missing"


def _error_text(content: JsonValue) -> str:
    """What an error says of itself; read kindly, as there is nothing in it that a program builds on."""
    blocks = content if isinstance(content, list) else [content]
    texts = (block.get("text") if isinstance(block, dict) else block for block in blocks)
    said = "\n".join(text for text in texts if isinstance(text, str) and text.strip())
    return said or "the tool reports an error without saying which"
