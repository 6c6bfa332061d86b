"""From the JSON of `tools/list` and `tools/call` to definitions and results, field by field and exactly.

Works on plain JSON, not on the SDK's models: those drop fields they do not know and refuse a whole answer for one bad
item. Knows nothing of connections. What a program may not see goes into the sideband.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from codemodekit import _json
from codemodekit._json import ABSENT, Absent, JsonValue
from codemodekit.contracts import ContentBlock, ToolAnnotations, ToolDefinition, ToolResult
from codemodekit.errors import ToolCallFailed

__all__ = ["Unusable", "tool_definition", "tool_result"]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A listed item that cannot be a tool."""

    reason: str


# --- tools/list -------------------------------------------------------------------------------------------------------

_DEFINED: Final = frozenset({"name", "description", "inputSchema", "outputSchema"})


def tool_definition(
    raw: JsonValue, *, output_mismatch: Literal["error", "warn"] = "error"
) -> ToolDefinition | Unusable:
    """One listed tool; an odd schema is kept as it is, for the catalogue to judge."""
    if not isinstance(raw, dict):
        return Unusable(f"a tool is listed as {type(raw).__name__}, not as an object")
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        return Unusable("a tool is listed without a name")
    try:
        _json.dumps(raw)
    except (ValueError, RecursionError):
        return Unusable(f"the definition of tool {name[:100]!r} is not JSON or is nested too deeply")
    description = raw.get("description")
    return ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        input_schema=raw.get("inputSchema"),  # type: ignore[arg-type]  # not an object: the catalogue quarantines it
        output_schema=raw.get("outputSchema"),
        annotations=_annotations(raw),
        model_visible=_model_visible(raw.get("_meta")),
        output_mismatch=output_mismatch,
        sideband={key: value for key, value in raw.items() if key not in _DEFINED},
    )


def _annotations(raw: dict[str, Any]) -> ToolAnnotations:
    hints = raw.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    title = raw.get("title", hints.get("title"))
    return ToolAnnotations(
        title=title if isinstance(title, str) else None,
        read_only=_flag(hints.get("readOnlyHint")),
        destructive=_flag(hints.get("destructiveHint")),
        idempotent=_flag(hints.get("idempotentHint")),
        open_world=_flag(hints.get("openWorldHint")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _model_visible(meta: object) -> bool:
    """Whether a model may see the tool: the MCP Apps extension names who may, and leaves it out where all may."""
    ui = meta.get("ui") if isinstance(meta, dict) else None
    visibility = ui.get("visibility") if isinstance(ui, dict) else None
    if isinstance(visibility, str):
        visibility = [visibility]
    return not isinstance(visibility, list) or "model" in visibility


# --- tools/call -------------------------------------------------------------------------------------------------------

_BLOCK_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text"}),
    "image": frozenset({"type", "data", "mimeType"}),
    "audio": frozenset({"type", "data", "mimeType"}),
    "resource": frozenset({"type", "resource"}),
    "resource_link": frozenset({"type", "uri", "name", "title", "description", "mimeType", "size"}),
}
_RESOURCE_FIELDS: Final = frozenset({"uri", "mimeType", "text", "blob"})
_NEVER: Final = frozenset({"_meta", "annotations"})


def tool_result(raw: JsonValue, *, null_is_a_value: bool) -> ToolResult:
    """What a call answered.

    `null_is_a_value`: whether the protocol in use lets `structuredContent` be null; where it may only be an object,
    servers write null for "none".

    Raises:
        ToolCallFailed: the tool reports an error, asks for more input, or the answer is no result.
    """
    if not isinstance(raw, dict):
        raise ToolCallFailed("the server answered the call with something that is not a result")
    _refuse_unfinished(raw)
    try:
        _json.dumps(raw)
    except (ValueError, RecursionError) as error:
        raise ToolCallFailed(
            "the server's answer holds a value that JSON cannot carry, or is nested too deeply"
        ) from error
    blocks = raw.get("content")
    content = tuple(_block(block) for block in blocks if isinstance(block, dict)) if isinstance(blocks, list) else ()
    if raw.get("isError") is True:
        raise ToolCallFailed(_error_text(content))
    return ToolResult(
        content=content,
        structured_content=_structured(raw, null_is_a_value=null_is_a_value),
        sideband={"original": raw},
    )


def _refuse_unfinished(raw: dict[str, Any]) -> None:
    kind = raw.get("resultType", "complete")
    if kind == "input_required":
        raise ToolCallFailed("the tool asks for more input from a person, which a program cannot give")
    if kind != "complete":
        raise ToolCallFailed(f"the tool answered with {str(kind)[:100]!r}, a kind of result that is not supported here")


def _structured(raw: dict[str, Any], *, null_is_a_value: bool) -> JsonValue | Absent:
    value = raw.get("structuredContent", ABSENT)
    return ABSENT if value is None and not null_is_a_value else value


def _block(raw: dict[str, Any]) -> ContentBlock:
    kind = raw.get("type")
    known = _BLOCK_FIELDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        return {key: value for key, value in raw.items() if key not in _NEVER}
    block = {key: value for key, value in raw.items() if key in known}
    resource = block.get("resource")
    if isinstance(resource, dict):
        block["resource"] = {key: value for key, value in resource.items() if key in _RESOURCE_FIELDS}
    return block


def _error_text(content: tuple[ContentBlock, ...]) -> str:
    texts = [block["text"] for block in content if block.get("type") == "text" and isinstance(block.get("text"), str)]
    return "\n".join(text for text in texts if text.strip()) or "the tool reports an error without saying which"
