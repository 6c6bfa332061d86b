"""Servers that say too much, or what nobody asked: the call in hand ends well, and others notice nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from http_scripts import Answer, older_server
from mcp_helpers import code_mode_over, names, outcome, raw_command, raw_stdio, until

from codemodekit.contracts import ToolResult
from codemodekit.limits import ExecutionLimits
from codemodekit.providers.mcp.sources import mcp

pytestmark = [pytest.mark.anyio, pytest.mark.proves("mcp.hostile")]

MANY = 3_000
LOG = {"level": "info", "data": "x" * 100}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("notifications/message", LOG),
        ("notifications/message", {"level": "no such level"}),
        ("notifications/progress", {"progressToken": "$TOKEN", "progress": 1, "message": "step " * 50}),
        ("notifications/progress", {"progressToken": 999_999, "progress": 1}),
        ("notifications/progress", {"progressToken": "$TOKEN", "progress": "much", "message": {"a": 1}}),
        ("notifications/resources/updated", {"uri": "x:1"}),
        ("notifications/cancelled", {"requestId": "$TOKEN"}),
        ("notifications/tools/list_changed", {}),
        ("vendor/anything", [1, 2]),
    ],
)
async def test_a_flood_of_notifications_holds_up_neither_its_call_nor_another_source(method: str, params: Any) -> None:
    noisy = raw_stdio({"tools": ["t"], "calls": {"t": {"flood": [method, params, MANY]}}})
    quiet = mcp.stdio("quiet", *raw_command({"tools": ["mirror"]}), mode="2025-11-25")
    events: list[Any] = []
    async with code_mode_over(noisy, quiet) as code_mode:
        program = """
        const [flood, ...others] = await Promise.all([
          tools.raw.t({}), ...[1, 2, 3].map((n) => tools.quiet.mirror({ n })),
        ]);
        return [flood, others.map((other) => other.structuredContent.n)];
        """
        result = await code_mode.run(program, on_progress=events.append)
    assert result.value == [{"content": []}, [1, 2, 3]]
    assert len(events) <= ExecutionLimits().max_progress_events + 1


@pytest.mark.proves("mcp.list-changed")
async def test_a_burst_of_changes_is_followed_by_one_listing_and_not_by_one_each() -> None:
    calls = {
        "burst": {"flood": ["notifications/tools/list_changed", {}, 500]},
        "listings": {"counted": "tools/list"},
    }
    async with code_mode_over(raw_stdio({"tools": ["burst", "listings"], "calls": calls})) as code_mode:

        async def listings() -> Any:
            return (await code_mode.run("return (await tools.raw.listings({})).structuredContent.count")).value

        assert await listings() == 1
        await code_mode.run("await tools.raw.burst({})")
        seen = [1]
        while seen[-1] == 1 or seen[-1] != seen[-20:][0] or len(seen) < 20:
            seen.append(await listings())
    # One, and one more where reading the burst took longer than a pause between changes.
    assert seen[-1] in (2, 3)


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":999,"result":{}}',
        '{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
        '{"jsonrpc":"1.0","id":$ID,"result":{}}',
        "\ufeff",
        "Server ready on stdio\r",
        '{"level":30,"msg":"started"}',
        "\x1b[32mINFO\x1b[0m listening",
    ],
)
async def test_lines_that_answer_nothing_are_passed_over(line: str) -> None:
    answer = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}\r'
    async with raw_stdio({"calls": {"t": {"line": f"{line}\n{answer}"}}}).connect() as session:
        assert isinstance(await outcome(session, "t"), ToolResult)
        assert isinstance(await outcome(session, "mirror", {"a": 1}), ToolResult)


async def test_two_answers_to_one_call_are_one_result() -> None:
    line = "\n".join(f'{{"jsonrpc":"2.0","id":$ID,"result":{{"structuredContent":{{"n":{n}}}}}}}' for n in (1, 2))
    async with raw_stdio({"calls": {"t": {"line": line}}}).connect() as session:
        got = [await outcome(session, "t"), await outcome(session, "t"), await outcome(session, "mirror", {"n": 3})]
    assert [answer.structured_content for answer in got if isinstance(answer, ToolResult)] == [
        {"n": 1},
        {"n": 1},
        {"n": 3},
    ]


@pytest.mark.proves("mcp.list-changed")
async def test_tools_come_and_go_as_the_server_says() -> None:
    def pages(*tools: str) -> dict[str, Any]:
        return {"": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in tools]}}

    script = {"pages": pages("swap", "old"), "calls": {"swap": {"pages": pages("new", "swap")}}}
    async with code_mode_over(raw_stdio(script)) as code_mode:
        before = code_mode.snapshot().revision
        await code_mode.run("await tools.raw.swap({})")
        await until(lambda: code_mode.snapshot().revision != before)
        assert list(code_mode.snapshot().sources["raw"].tools) == ["new", "swap"]


async def test_a_server_that_writes_much_to_stderr_is_not_held_up() -> None:
    async with raw_stdio({"tools": ["t"], "stderr": "x" * 1_000, "stderr_times": 2_000}).connect() as session:
        assert names(await session.list_tools()) == ["t"]


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create", "roots/list", "vendor/any"])
async def test_a_server_behind_a_url_that_asks_for_something_gets_an_error_and_its_call_ends_well(method: str) -> None:
    heard: list[dict[str, Any]] = []

    async def tool(name: str, message: dict[str, Any]) -> Answer:
        asked = {"jsonrpc": "2.0", "id": "q", "method": method, "params": {}}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in (asked, answer))
        return 200, {"content-type": "text/event-stream"}, body.encode()

    server = older_server(tool)
    usual = server._respond

    async def respond(verb: str, headers: dict[str, str], message: dict[str, Any]) -> Answer | None:
        if verb == "POST" and "method" not in message:
            heard.append(message)
            return 202, {}, b""
        return await usual(verb, headers, message)

    server._respond = respond
    async with server.running(), mcp.http("x", server.url, mode="2025-11-25").connect() as session:
        assert isinstance(await outcome(session, "t"), ToolResult)
        await until(lambda: bool(heard))
    assert [(message["id"], "error" in message) for message in heard] == [("q", True)]
