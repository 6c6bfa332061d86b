"""The sources behind the examples of docs/diagnostics.md: tools that fail in every way a tool can."""

from __future__ import annotations

import asyncio

from codemodekit import McpToolProvider, ToolError, define_tool, local, mcp, policy_rules

__all__ = ["CRM", "DEMO", "POLICY"]


@define_tool(read_only=True)
def get_user(id: int) -> str:
    """Name of a user."""
    if id > 3:
        raise ToolError(f"there is no user {id}")
    return ("Ada", "Grace", "Hedy", "Mary")[id]


@define_tool(destructive=True)
def delete_user(id: int) -> None:
    """Forget a user."""


@define_tool(read_only=True)
async def wait(seconds: float) -> None:
    """Take your time."""
    await asyncio.sleep(seconds)


@define_tool(read_only=True)
def rows(count: int) -> list[str]:
    """Rows of a kilobyte each."""
    return ["x" * 1024] * count


@define_tool(read_only=True, output_schema={"type": "object", "required": ["total"]})
def count_users() -> dict[str, int]:
    """Does not keep the promise of its output schema."""
    return {"sum": 4}


@define_tool(read_only=True, input_schema={"type": "object", "properties": {"at": {"$ref": "https://example.org/at"}}})
def remind(_input: dict[str, object]) -> None:
    """Has a schema that points out of its own document."""


DEMO = local("demo", [get_user, delete_user, wait, rows, count_users, remind])
CRM: McpToolProvider = mcp.stdio("crm", "no-such-program")
POLICY = policy_rules([{"match": "demo.*", "when": {"readOnly": True}, "effect": "allow"}])
