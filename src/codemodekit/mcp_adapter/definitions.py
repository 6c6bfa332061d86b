"""What a model reads about the two tools, in wire form. The text never depends on the catalogue or on a config, so a
client may cache it and a prompt that contains it stays the same from day to day."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["INSTRUCTIONS", "RUN", "SEARCH", "surface_tools"]

RUN: Final = "run_typescript"
SEARCH: Final = "search_tools"

INSTRUCTIONS: Final = (
    "Every tool is reached by a short TypeScript program given to run_typescript. "
    "Do as much as you can in one program, and return only what you need to see."
)

_FIND_WITH_SEARCH: Final = "use search_tools first; `Object.keys(tools)` and `Object.keys(tools.<source>)` list names."
_FIND_WITHOUT: Final = "`Object.keys(tools)` and `Object.keys(tools.<source>)` list names."

_RUN_TEXT: Final = """\
Run a TypeScript program that calls tools: in sequence, in parallel, with loops and filters. One program replaces many \
tool calls, and only what it returns comes back.

It is the body of an async function: `await` anywhere and `return` the answer (a last expression is not returned). No \
imports, network, files or timers: `tools` is the only way out.

- Call: `await tools.<source>.<tool>({{...}})`, or `tools["my-source"]["my-tool"]({{...}})`. One object argument.
- Result: `{{content, structuredContent?}}`. Use `structuredContent` if there, else the `text` of `content` blocks, \
parsed only if it is JSON.
- Never guess names or arguments: {find}
- Parallel: `await Promise.all([...])`.
- A failed call throws ToolCallError (`code`, `message`, `tool`, `details`); catch it to go on.
- `context` is the JSON given beside the code; `console.log` comes back in `logs`.
- Default limits: 32 calls, 8 at once; 5 s of computing; 256 KiB of result. Filter before you return.

`calls` lists all calls made. After a failure `rerun` says whether to run again: `safe` (nothing changed), `unsafe` \
(something did), `unknown`: check first, then repeat only what is missing."""

_SEARCH_TEXT: Final = (
    "Find tools for run_typescript. Give words about the task, part of a name, or `*` to list all sources. "
    "`typescript` detail shows exact calls with argument and result types."
)

_STRING: Final = {"type": "string"}
_OBJECTS: Final = {"type": "array", "items": {"type": "object"}}

_RUN_TOOL: Final[dict[str, Any]] = {
    "name": RUN,
    "inputSchema": {
        "type": "object",
        "properties": {
            "code": _STRING,
            "context": {
                "type": ["object", "array", "string", "number", "boolean", "null"],
            },
        },
        "required": ["code"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "executionId": _STRING,
            "value": {},
            "error": {
                "type": "object",
                "properties": {"code": _STRING, "message": _STRING},
                "required": ["code", "message"],
            },
            "logs": _OBJECTS,
            "calls": _OBJECTS,
            "rerun": {"enum": ["safe", "unsafe", "unknown"]},
            "notes": {"type": "array", "items": _STRING},
        },
        "required": ["ok", "executionId", "logs", "calls", "rerun"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}

_SEARCH_TOOL: Final[dict[str, Any]] = {
    "name": SEARCH,
    "description": _SEARCH_TEXT,
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 256},
            "source": {"type": "string", "description": "only this one"},
            "detail": {"type": "string", "enum": ["summary", "typescript"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 8},
            "cursor": {"type": "string", "description": "nextCursor of the page before"},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "catalogRevision": _STRING,
            "total": {"type": "integer"},
            "truncated": {"type": "boolean"},
            "nextCursor": _STRING,
            "results": _OBJECTS,
        },
        "required": ["catalogRevision", "total", "truncated", "results"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def surface_tools(*, search: bool = True) -> list[dict[str, Any]]:
    """The tools as `tools/list` gives them."""
    find = _FIND_WITH_SEARCH if search else _FIND_WITHOUT
    run = {**_RUN_TOOL, "description": _RUN_TEXT.format(find=find)}
    return [run, _SEARCH_TOOL] if search else [run]
