"""A CodeMode over scripted sources, for tests."""

from __future__ import annotations

import asyncio
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


def put_forward(seconds: float) -> None:
    """Let the event loop believe that so much time has passed: what is due by then falls due at once."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]


async def turns(number: int = 40) -> None:
    """Let the event loop turn so many times: more than anything takes that is under way and waits for nothing."""
    for _ in range(number):
        await asyncio.sleep(0)
