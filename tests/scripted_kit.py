"""A CodeMode over scripted sources, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from codemodekit.code_mode import CodeMode
from codemodekit.contracts import ToolAnnotations, ToolDefinition, ToolPolicy, ToolProvider
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.testing import InMemoryProvider

INTEGER = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "title": {"type": "string"}},
    "required": ["count"],
    "additionalProperties": False,
}


def app() -> InMemoryProvider:
    """A source with one tool of each kind."""
    return InMemoryProvider(
        "app",
        [
            "echo",
            "hold",
            "fail",
            ToolDefinition(name="strict", input_schema=INTEGER),
            ToolDefinition(name="declared", output_schema=INTEGER),
            ToolDefinition(name="lenient", output_schema=INTEGER, output_mismatch="warn"),
            ToolDefinition(name="broken", input_schema={"type": "object", "$ref": "https://example.com/schema"}),
            ToolDefinition(name="panel", model_visible=False),
            ToolDefinition(name="look", annotations=ToolAnnotations(read_only=True)),
            ToolDefinition(name="put", annotations=ToolAnnotations(idempotent=True)),
        ],
    )


@asynccontextmanager
async def kit(
    *providers: ToolProvider, policy: ToolPolicy | None = None, limits: dict[str, int] | None = None, **more: Any
) -> AsyncIterator[CodeMode]:
    """A started CodeMode whose sources have settled."""
    made = CodeMode(
        providers=providers,
        tool_policy=policy if policy is not None else allow_all_tool_calls(),
        limits=ExecutionLimits(**(limits or {})),
        **more,
    )
    async with made:
        await made.settled(5)
        yield made
