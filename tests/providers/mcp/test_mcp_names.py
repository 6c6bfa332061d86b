"""Tools with the names servers give them: each is called by exactly its own, whatever language or list it meets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_helpers import code_mode_over, raw_stdio

pytestmark = pytest.mark.anyio

NAMES = [
    "get-item",
    "get_item",
    "getItem",
    "GetItem",
    "contacts",
    "contacts.find",
    "contacts.find.all",
    ".leading",
    "trailing.",
    "a..b",
    "größe/1",
    "搜索",
    "🚀 launch",
    "e\u0301",
    "\u00e9",
    "with space",
    'quo"te',
    "back\\slash",
    "new\nline",
    "\u2028",
    "1st",
    "class",
    "then",
    "constructor",
    "__proto__",
    "prototype",
    "toString",
    "hasOwnProperty",
    "$call",
    "x" * 512,
]


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def script(*tools: dict[str, Any]) -> dict[str, Any]:
    answers = {t["name"]: {"result": {"content": [], "structuredContent": {"called": t["name"]}}} for t in tools}
    return {"pages": {"": {"tools": list(tools)}}, "calls": answers}


@pytest.mark.proves("catalog.names", "sandbox.call-any")
async def test_every_name_a_server_gives_is_called_by_exactly_itself() -> None:
    program = """
    const called = [];
    for (const name of context) {
      const { structuredContent } = await tools.$call("raw", name, {});
      called.push(structuredContent.called);
    }
    return called;
    """
    async with code_mode_over(raw_stdio(script(*map(tool, NAMES)))) as code_mode:
        runs = [await code_mode.run(program, context=NAMES[start : start + 20]) for start in range(0, len(NAMES), 20)]
        diagnostics = code_mode.catalog_diagnostics()
    called = [name for run in runs for name in run.value]
    assert called == NAMES
    assert diagnostics == ()


@pytest.mark.proves("catalog.names", "catalog.dotted", "sandbox.names")
async def test_names_are_reached_by_dots_and_brackets_too() -> None:
    program = """
    const raw = tools.raw;
    const results = await Promise.all([
      raw.get_item({}), raw["get-item"]({}), raw.getItem({}), raw.GetItem({}), raw.contacts({}), raw.contacts.find({}),
      raw["contacts.find"]({}), raw.contacts.find.all({}), raw["搜索"]({}), raw.constructor({}), raw["🚀 launch"]({}),
    ]);
    const called = results.map((result) => result.structuredContent.called);
    return [called, typeof raw.then, Object.keys(raw).includes("then")];
    """
    async with code_mode_over(raw_stdio(script(*map(tool, NAMES)))) as code_mode:
        result = await code_mode.run(program)
    assert result.value is not None, result.to_wire()
    called, then, listed = result.value
    assert called == [
        "get_item",
        "get-item",
        "getItem",
        "GetItem",
        "contacts",
        "contacts.find",
        "contacts.find",
        "contacts.find.all",
        "搜索",
        "constructor",
        "🚀 launch",
    ]
    assert (then, listed) == ("undefined", False)


@pytest.mark.proves("catalog.names", "mcp.hostile")
async def test_names_that_cannot_be_are_left_out_and_told_and_the_others_stay() -> None:
    odd = [tool(""), tool("y" * 10_000), tool(7), tool(None), tool(["a"]), tool("\ud800"), tool("z" * 513)]
    twice = [tool("twice", description="first"), tool("twice", description="second"), tool("Twice")]
    async with code_mode_over(raw_stdio({"pages": {"": {"tools": [*odd, *twice, tool("fine")]}}})) as code_mode:
        found = code_mode.snapshot().sources["raw"]
        notes = [note.to_wire() for note in code_mode.catalog_diagnostics()]
    assert list(found.tools) == ["Twice", "fine", "twice"]
    assert found.tools["twice"].definition.description == "first"
    assert len(notes) == len(odd) + 1
    assert all(len(json.dumps(note)) < 400 for note in notes)
    assert sum("listed more than once; the first one counts" in note["message"] for note in notes) == 1


@pytest.mark.proves("mcp.app-only", "search.hidden", "bridge.never-reaches")
async def test_a_tool_for_an_application_is_nowhere_to_be_seen_and_is_not_called() -> None:
    panel = tool("panel", description="shows the panel", _meta={"ui": {"visibility": ["app"]}})
    async with code_mode_over(raw_stdio(script(panel, tool("fine")))) as code_mode:
        program = """
        const failed = await tools.raw.panel({}).catch((error) => error.code);
        return [failed, Object.keys(tools.raw)];
        """
        result = await code_mode.run(program)
        search = await code_mode.search_tools("panel")
        declared = await code_mode.declarations()
    assert result.value == ["TOOL_NOT_FOUND", ["fine"]]
    assert search["results"] == []
    assert "panel" not in declared
