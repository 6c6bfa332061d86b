"""What becomes of a listing, whatever is on its pages."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp_helpers import names, outcome, raw_stdio

from codemodekit.contracts import ToolAnnotations, ToolDefinition, ToolResult
from codemodekit.errors import SourceLost, ToolCallFailed
from codemodekit.providers.mcp import listing as listing_module
from codemodekit.providers.mcp import session as session_module

pytestmark = pytest.mark.anyio


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


async def listing(pages: dict[str, Any], **more: Any) -> Any:
    async with raw_stdio({"pages": pages}, **more).connect() as session:
        with anyio.fail_after(10):
            return await session.list_tools()


@pytest.mark.proves("catalog.paging")
async def test_all_pages_are_read_in_order() -> None:
    pages = {
        "": {"tools": [tool("a")], "nextCursor": "1"},
        "1": {"tools": [tool("b")], "nextCursor": "2"},
        "2": {"tools": [tool("c")], "nextCursor": ""},
    }
    found = await listing(pages)
    assert (names(found), found.notes) == (["a", "b", "c"], ())


@pytest.mark.proves("catalog.paging")
async def test_a_cursor_that_comes_back_ends_the_listing_with_a_note() -> None:
    pages = {"": {"tools": [tool("a")], "nextCursor": "1"}, "1": {"tools": [tool("b")], "nextCursor": "1"}}
    found = await listing(pages)
    assert names(found) == ["a", "b"]
    assert found.notes == ("the tool listing ends early: its cursor came back",)


@pytest.mark.proves("catalog.paging")
async def test_a_listing_without_end_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_module, "MAX_PAGES", 3)
    pages = {("" if i == 0 else str(i)): {"tools": [tool(f"t{i}")], "nextCursor": str(i + 1)} for i in range(9)}
    found = await listing(pages)
    assert names(found) == ["t0", "t1", "t2"]
    assert "beyond" in found.notes[0]


@pytest.mark.proves("mcp.hostile")
async def test_malformed_tools_and_pages_do_not_take_down_the_others() -> None:
    pages = {
        "": {"tools": [tool("a"), 7, {}, {"name": 3}, {"name": "bare"}], "nextCursor": "1"},
        "1": {"tools": "none", "nextCursor": "2"},
        "2": {"tools": [tool("b", inputSchema=[]), tool("c", description=5, outputSchema=True)], "nextCursor": 9},
    }
    found = await listing(pages)
    assert names(found) == ["a", "bare", "b", "c"]
    schemas = {definition.name: definition.input_schema for definition in found.definitions}
    assert schemas == {"a": {"type": "object"}, "bare": None, "b": [], "c": {"type": "object"}}
    assert found.notes == (
        "a tool is listed as int, not as an object",
        "a tool is listed without a name",
        "a tool is listed without a name",
        "page 2 of the tool listing holds no list of tools",
        "the tool listing ends early: its cursor is not text",
    )


@pytest.mark.proves("api.trusted-side")
async def test_a_definition_keeps_everything_and_shows_only_what_is_known() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "x-vendor": [1.0, None]}
    raw = {
        "name": "Größe.get-it",
        "title": "Size",
        "description": "How big",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "destructiveHint": "no", "idempotentHint": False, "vendorHint": 1},
        "_meta": {"a/b": 1},
        "vendor": {"x": 1},
    }
    found = await listing({"": {"tools": [raw]}}, output_mismatch="warn")
    assert found.definitions == (
        ToolDefinition(
            name="Größe.get-it",
            description="How big",
            input_schema=schema,
            output_schema={"type": "object"},
            annotations=ToolAnnotations(title="Size", read_only=True, idempotent=False),
            output_mismatch="warn",
            sideband={key: raw[key] for key in ("title", "annotations", "_meta", "vendor")},
        ),
    )


@pytest.mark.proves("mcp.app-only")
@pytest.mark.parametrize(
    ("meta", "visible"),
    [
        ({"ui": {"visibility": ["app"]}}, False),
        ({"ui": {"visibility": "app"}}, False),
        ({"ui": {"visibility": []}}, False),
        ({"ui": {"visibility": ["model", "app"]}}, True),
        ({"ui": {"resourceUri": "ui://x"}}, True),
        ({"ui": 3}, True),
        ([], True),
    ],
)
async def test_tools_for_an_application_only_are_hidden_from_the_model(meta: Any, visible: bool) -> None:
    found = await listing({"": {"tools": [tool("a", _meta=meta)]}})
    assert [definition.model_visible for definition in found.definitions] == [visible]


@pytest.mark.proves("mcp.hostile")
async def test_a_server_that_does_not_know_tools_has_none() -> None:
    async with raw_stdio({}).connect() as session:
        assert names(await session.list_tools()) == []


@pytest.mark.proves("catalog.reconnect")
async def test_a_server_that_does_not_list_in_time_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "REQUEST_TIMEOUT_S", 0.2)
    async with raw_stdio({"ignore": ["tools/list"]}).connect() as session:
        with pytest.raises(SourceLost, match="did not answer in time"):
            await session.list_tools()


@pytest.mark.proves("bridge.exact-result", "mcp.content")
async def test_a_result_keeps_unknown_blocks_and_hides_what_belongs_to_the_host() -> None:
    result = {
        "content": [
            {"type": "text", "text": "a", "annotations": {"priority": 1}, "_meta": {"s": 1}, "vendor": 2},
            {"type": "hologram", "depth": 1.0, "_meta": {"s": 1}},
            {"type": "resource", "resource": {"uri": "u:1", "text": "t", "_meta": {"s": 1}}},
        ],
        "structuredContent": None,
        "_meta": {"trace": 1},
        "vendor": True,
    }
    async with raw_stdio({"calls": {"t": {"result": result}}}).connect() as session:
        got = await outcome(session, "t")
    assert got == ToolResult(
        content=(
            {"type": "text", "text": "a"},
            {"type": "hologram", "depth": 1.0},
            {"type": "resource", "resource": {"uri": "u:1", "text": "t"}},
        ),
        sideband={"original": result},
    )


@pytest.mark.proves("error.upstream-text")
@pytest.mark.parametrize(
    ("action", "message", "code"),
    [
        ({"result": {"content": [{"type": "text", "text": "boom"}], "isError": True}}, "boom", None),
        ({"result": {"isError": True}}, "the tool reports an error without saying which", None),
        ({"error": {"code": -32000, "message": "custom"}}, "custom", -32000),
        ({"error": {"code": -32050, "message": "for key hush-hush"}}, "for key [redacted]", -32050),
        ({"result": {"resultType": "input_required", "inputRequests": {}}}, None, None),
        ({"result": {"resultType": "task", "task": {}}}, None, None),
    ],
)
async def test_failures_of_a_tool_are_told_apart_from_the_loss_of_its_server(
    action: Any, message: str | None, code: int | None
) -> None:
    async with raw_stdio({"calls": {"t": action}}, secrets=["hush-hush"]).connect() as session:
        failure = await outcome(session, "t")
        assert isinstance(failure, ToolCallFailed)
        assert failure.upstream_code == code
        assert message is None or failure.message == message
        assert isinstance(await outcome(session, "mirror"), ToolResult)


MODERN = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}


@pytest.mark.proves("mcp.hostile", "mcp.eras")
async def test_odd_schemas_cost_their_tools_only_in_the_newer_protocol_too() -> None:
    deep: Any = {"x-mcp-header": "A"}
    for _ in range(350):
        deep = {"type": "object", "properties": {"a": deep}}
    schemas = [
        None,
        [],
        "object",
        {"properties": []},
        {"properties": {"a": None}},
        {"properties": {"a": {"x-mcp-header": 7}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A\r\nB: c"}}},
        {"properties": {"a": {"type": ["string"], "x-mcp-header": {"a": 1}}}},
        {"properties": {"a": {"$ref": "#/properties/a", "x-mcp-header": "A"}}},
        deep,
    ]
    odd = [{"name": f"odd{index}", "inputSchema": schema} for index, schema in enumerate(schemas)]
    script = {"discover": MODERN, "pages": {"": {"tools": [*odd, tool("fine")]}}}
    async with raw_stdio(script, mode="2026-07-28").connect() as session:
        found = await session.list_tools()
        assert "fine" in names(found)
        assert isinstance(await outcome(session, "mirror", {"a": 1}), ToolResult)
