"""Our MCP source as the client that the suite tests: connects to the address it is given, and calls every tool once.

The suite says in its environment which scenario this is, and what to send where that matters.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

import anyio

from codemodekit import CodeMode, allow_all_tool_calls, mcp

SECONDS: Final = 20
ECHO: Final = "json_schema_echo"
SHOWN: Final = "json_schema_2020_12_tool"
"""One scenario wants the schema of the one sent to the other, as we have read it."""

PROGRAM: Final = """
const failures = [];
for (const { name, input } of context) {
  try { await tools.suite[name](input); } catch (error) { failures.push(`${name}: ${error.message}`); }
}
return failures;
"""


def sample(schema: Any) -> Any:
    """A value that a simple schema accepts."""
    if not isinstance(schema, dict):
        return None
    if "default" in schema or "const" in schema or schema.get("enum"):
        return schema.get("default", schema.get("const", (schema.get("enum") or [None])[0]))
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        return {name: sample(inner) for name, inner in schema.get("properties", {}).items()}
    return {"string": "text", "number": 5, "integer": 5, "boolean": True, "array": [], "null": None}.get(kind)


def calls(code_mode: CodeMode) -> list[dict[str, Any]]:
    """What to call: what the suite says, else each tool that there is."""
    tools = code_mode.snapshot().sources["suite"].tools
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls")
    if given:
        # An input that its schema refuses would not be sent: what is null here is left out, which means the same.
        return [{"name": each["name"], "input": _without_nulls(each.get("arguments", {}))} for each in given]
    if ECHO in tools:
        schema = tools[SHOWN].definition.input_schema
        return [{"name": ECHO, "input": {"schema": schema}}]
    return [{"name": name, "input": sample(tool.definition.input_schema)} for name, tool in tools.items()]


def _without_nulls(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


async def main(url: str) -> int:
    async with CodeMode(providers=[mcp.http("suite", url)], tool_policy=allow_all_tool_calls()) as code_mode:
        await code_mode.settled(SECONDS)
        (health,) = code_mode.health()
        print(health, file=sys.stderr)
        result = await code_mode.run(PROGRAM, context=calls(code_mode))
        print(json.dumps(result.to_wire()), file=sys.stderr)
        return 0 if health.state == "healthy" and result.ok else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[-1]))
