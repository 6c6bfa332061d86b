"""`search_tools` as a model meets it: over MCP, from a whole Code Mode, going on from the text alone."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from tests.catalog.fakes import FakeSource, tool

from codemodekit import CodeMode, allow_all_tool_calls
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.mcp_adapter import register_code_mode_tools

pytestmark = pytest.mark.anyio

LARGE = {
    "type": "object",
    "properties": {f"field_{n}": {"type": "string", "description": "d" * 300} for n in range(60)},
}
SOURCES = (
    ("shop", [tool(f"list_items_{n}", "Lists\nitems", annotations=ToolAnnotations(read_only=True)) for n in range(30)]),
    ("my-mail", [tool("messages.send", "Send a letter"), tool("odd name\n", "Lists items too")]),
    ("wide", [tool(f"wide_{n}", "A wide one", input_schema=LARGE) for n in range(6)]),
)


@asynccontextmanager
async def offered() -> AsyncIterator[tuple[CodeMode, Client]]:
    sources = [FakeSource(name, *tools) for name, tools in SOURCES]
    async with CodeMode(providers=sources, tool_policy=allow_all_tool_calls()) as code_mode:
        await code_mode.settled(10)
        server: MCPServer[Any] = MCPServer("shop", version="1")
        register_code_mode_tools(server, code_mode=code_mode)
        async with Client(server) as client:
            yield code_mode, client


async def text_of(client: Client, **arguments: Any) -> str:
    result = await client.call_tool("search_tools", arguments)
    (block,) = result.content
    assert block.type == "text"
    return block.text


@pytest.mark.proves("search.text", "search.paging")
async def test_from_the_text_alone_every_page_is_reached_and_every_tool_called() -> None:
    async with offered() as (_, client):
        calls: list[str] = []
        arguments: dict[str, Any] = {"query": "*", "limit": 8}
        while True:
            text = await text_of(client, **arguments)
            calls += re.findall(r"^- (tools.+?)(?: \(read-only\))?(?:: .*)?$", text, re.MULTILINE)
            if (cursor := re.search(r"next page: cursor '(\S+)'", text)) is None:
                break
            arguments["cursor"] = cursor[1]
        assert len(calls) == len(set(calls)) == sum(len(tools) for _, tools in SOURCES)
        program = "return [" + ", ".join(f"typeof {call}" for call in calls) + "]"
        ran = await client.call_tool("run_typescript", {"code": program})
        assert ran.structured_content is not None
        assert set(ran.structured_content["value"]) == {"function"}


@pytest.mark.proves("search.text", "search.census")
async def test_the_census_is_told_in_rows() -> None:
    async with offered() as (_, client):
        text = await text_of(client, query="*", limit=1)
        assert 'tools["my-mail"]: 2 tools\ntools.shop: 30 tools\ntools.wide: 6 tools\n' in text


@pytest.mark.proves("search.text")
async def test_the_text_is_no_second_copy_of_the_json() -> None:
    async with offered() as (_, client):
        result = await client.call_tool("search_tools", {"query": "items", "limit": 8})
        (block,) = result.content
        assert block.type == "text"
        with pytest.raises(ValueError, match="Expecting value"):
            json.loads(block.text)
        assert len(block.text) < len(json.dumps(result.structured_content)) / 2


@pytest.mark.proves("search.answer", "search.contract")
async def test_declarations_too_large_for_one_answer_come_whole_and_page_by_page() -> None:
    async with offered() as (code_mode, client):
        seen: list[str] = []
        arguments: dict[str, Any] = {"query": "wide", "source": "wide", "detail": "typescript", "limit": 5}
        while True:
            answer = (await client.call_tool("search_tools", arguments)).structured_content
            assert answer is not None
            assert answer == await code_mode.search_tools(**arguments), "one answer at both faces"
            assert len(json.dumps(answer).encode()) <= 64 * 1024
            assert answer["returned"] == len(answer["results"]) >= 1
            assert all("field_59" in result["declaration"] for result in answer["results"])
            assert "interface ToolResult" in answer["resultContract"]
            seen += [result["tool"] for result in answer["results"]]
            if not answer["truncated"]:
                break
            arguments["cursor"] = answer["nextCursor"]
        assert sorted(seen) == [f"wide_{n}" for n in range(6)]


@pytest.mark.proves("search.input")
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": " \t "},
        {"query": "x" * 257},
        {"query": "x", "limit": 9},
        {"query": "x", "detail": "all"},
        {"query": "x", "cursor": 7},
        {"query": "x", "sources": "shop"},
    ],
)
async def test_a_request_that_is_none_is_a_tool_error_in_words(arguments: dict[str, Any]) -> None:
    async with offered() as (_, client):
        result = await client.call_tool("search_tools", arguments)
        assert result.is_error
        assert result.content[0].type == "text" and len(result.content[0].text) < 300


@pytest.mark.proves("search.input")
@pytest.mark.parametrize("query", ['"items', "items AND (", "title:items*", "items\x00", "\u202eitems", "🧾 items"])
async def test_hostile_text_passes_through_the_protocol_as_text(query: str) -> None:
    async with offered() as (_, client):
        answer = (await client.call_tool("search_tools", {"query": query})).structured_content
        assert answer is not None
        assert answer["query"] == query
        assert answer["results"][0]["tool"].startswith("list_items")


@pytest.mark.proves("search.hidden", "search.hostile-tools")
async def test_what_cannot_be_called_is_not_found_at_this_face_either() -> None:
    hidden = ToolDefinition(name="list_secrets", description="items", model_visible=False)
    broken = ToolDefinition(name="list_broken", description="items", input_schema={"type": "objekt"})
    source = FakeSource("shop", hidden, broken, tool("list_items", "items"))
    async with CodeMode(providers=[source], tool_policy=allow_all_tool_calls()) as code_mode:
        await code_mode.settled(10)
        for query in ("list_secrets", "list_broken", "items", "*", "tools.shop.list_secrets"):
            answer = await code_mode.search_tools(query, limit=8)
            assert {result["tool"] for result in answer["results"]} <= {"list_items"}
            assert not {"tools.shop.list_secrets", "tools.shop.list_broken"} & set(answer.get("suggestions", ()))
