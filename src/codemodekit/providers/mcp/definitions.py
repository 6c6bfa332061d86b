"""From the JSON of one listed tool to its definition, field by field and exactly.

Works on plain JSON, not on the SDK's models: those drop fields they do not know. What a program may not see goes into
the sideband; a secret of the source that stands in its text is blanked, and one that stands where it would be part of a
call costs the tool. Knows nothing of connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from codemodekit import _json
from codemodekit._json import JsonValue
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.mcp.settings import OutputMismatch

__all__ = ["Unusable", "tool_definition"]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A listed item that cannot be a tool."""

    reason: str


_DEFINED: Final = frozenset({"name", "description", "inputSchema", "outputSchema"})
_PROSE: Final = frozenset({"title", "description", "$comment", "default", "examples"})
"""Keys of a schema that say something to a reader and nothing to a validator."""


def tool_definition(
    raw: JsonValue, redactor: Redactor, *, output_mismatch: OutputMismatch = "error"
) -> tuple[ToolDefinition, int] | Unusable:
    """One listed tool and its size as JSON; an odd schema is kept as it is, for the catalogue to judge."""
    if not isinstance(raw, dict):
        return Unusable(f"a tool is listed as {type(raw).__name__}, not as an object")
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        return Unusable("a tool is listed without a name")
    try:
        text = _json.dumps(raw)
    except (ValueError, RecursionError):
        return Unusable(f"the definition of tool {name[:100]!r} is not JSON or is nested too deeply")
    try:
        shown = _shown(raw, text, redactor)
    except RecursionError:
        return Unusable(f"the definition of tool {redactor.clean(name[:100])!r} is nested too deeply")
    if shown is None:
        return Unusable("a tool is left out: its name or schema holds a secret of its source's configuration")
    description = shown.get("description")
    definition = ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        input_schema=shown.get("inputSchema"),  # type: ignore[arg-type]  # not an object: the catalogue quarantines it
        output_schema=shown.get("outputSchema"),
        annotations=_annotations(shown),
        model_visible=_model_visible(raw.get("_meta")),
        output_mismatch=output_mismatch,
        sideband={key: value for key, value in raw.items() if key not in _DEFINED},
    )
    return definition, len(text)


def _shown(raw: dict[str, Any], text: str, redactor: Redactor) -> dict[str, Any] | None:
    """The definition as it may be seen; None if a call could not do without a secret in it."""
    if not redactor.holds(text):
        return raw
    shown = {key: _blanked(value, redactor, key in _PROSE) for key, value in raw.items() if key != "_meta"}
    needed = _json.dumps([shown.get(key) for key in ("name", "inputSchema", "outputSchema")])
    return None if redactor.holds(needed) else shown


def _blanked(value: JsonValue, redactor: Redactor, prose: bool = False) -> JsonValue:
    """The same with secrets blanked out of what is written for readers, and of nothing else."""
    if prose and not isinstance(value, dict):
        return redactor.blank(value)
    if isinstance(value, dict):
        return {key: _blanked(item, redactor, prose or key in _PROSE) for key, item in value.items()}
    return [_blanked(item, redactor) for item in value] if isinstance(value, list) else value


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
