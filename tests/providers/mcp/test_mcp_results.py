"""What a program gets of an answer: every kind of content, and an error where the answer is no result."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_helpers import code_mode_over, outcome, raw_stdio

from codemodekit.contracts import ToolResult
from codemodekit.errors import ToolCallFailed, ToolResultInvalid

pytestmark = pytest.mark.anyio

IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
BLOB = {"type": "resource", "resource": {"uri": "x:1", "mimeType": "application/octet-stream", "blob": "AAEC"}}
TEXT = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "ä\u2028\0"}}
LINK = {"type": "resource_link", "uri": "x:2", "name": "b", "title": "B", "mimeType": "a/b", "size": 7}
UNKNOWN = {"type": "hologram", "layers": [{"depth": 1.5}], "data": None}


async def answered(answer: Any) -> ToolResult | Exception:
    async with raw_stdio({"calls": {"t": {"result": answer}}}).connect() as session:
        return await outcome(session, "t")


@pytest.mark.proves("mcp.content", "api.content-blocks")
async def test_every_kind_of_content_reaches_the_program_as_it_came() -> None:
    blocks = [{"type": "text", "text": ""}, IMAGE, AUDIO, BLOB, TEXT, LINK, UNKNOWN]
    script = {"calls": {"t": {"result": {"content": blocks, "structuredContent": {"n": 1}}}}}
    async with code_mode_over(raw_stdio({**script, "tools": ["t"]})) as code_mode:
        result = await code_mode.run("return await tools.raw.t({})")
    assert result.value == {"content": blocks, "structuredContent": {"n": 1}}


@pytest.mark.proves("mcp.content")
@pytest.mark.parametrize("nothing", [{}, {"content": None}, {"content": []}])
async def test_an_answer_that_says_nothing_is_an_empty_result(nothing: Any) -> None:
    got = await answered(nothing)
    assert isinstance(got, ToolResult)
    assert got.to_wire() == {"content": []}


@pytest.mark.proves("mcp.content")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"content": "all went well"}, "content that is text, not a list"),
        ({"content": {"type": "text", "text": "a"}}, "content that is an object, not a list"),
        ({"content": 7}, "content that is a number"),
        ({"content": ["a"]}, "content[0] that is text"),
        ({"content": [{"type": "text", "text": "a"}, None]}, "content[1] that is null"),
        ({"content": [{}]}, "content[0].type that is missing"),
        ({"content": [{"type": 3}]}, "content[0].type that is a number"),
        ({"content": [{"type": "text"}]}, "content[0].text that is missing"),
        ({"content": [{"type": "text", "text": ["a"]}]}, "content[0].text that is a list"),
        ({"content": [{"type": "image", "data": False}]}, "content[0].data that is a boolean"),
        ({"content": [{"type": "audio"}]}, "content[0].data that is missing"),
        ({"content": [{"type": "resource"}]}, "content[0].resource that is missing"),
        ({"content": [{"type": "resource", "resource": {"uri": "x"}}]}, "content[0].resource.blob that is missing"),
        ({"content": [{"type": "resource_link", "name": "x"}]}, "content[0].uri that is missing"),
        ({"content": [], "isError": "false"}, "isError that is text"),
    ],
)
async def test_an_answer_that_is_no_result_is_an_error_that_says_where(answer: Any, words: str) -> None:
    got = await answered(answer)
    assert isinstance(got, ToolResultInvalid)
    assert words in got.message


@pytest.mark.proves("mcp.content", "error.codes", "error.catchable")
async def test_a_program_catches_an_answer_that_is_no_result_by_its_code() -> None:
    script = {"calls": {"t": {"result": {"content": "plain"}}}, "tools": ["t"]}
    async with code_mode_over(raw_stdio(script)) as code_mode:
        result = await code_mode.run("return await tools.raw.t({}).catch(error => [error.code, error.message])")
    assert result.value is not None
    assert result.value[0] == "TOOL_OUTPUT_INVALID"
    assert "not a list of blocks" in result.value[1]
    assert (result.calls[0].status, result.calls[0].code) == ("failed", "TOOL_OUTPUT_INVALID")


@pytest.mark.proves("mcp.content", "error.upstream-text")
@pytest.mark.parametrize(
    ("answer", "message", "details"),
    [
        ({"content": [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]}, "a\nb", None),
        ({"content": [IMAGE]}, "the tool reports an error without saying which", None),
        ({"content": [{"type": "text", "text": " "}]}, "the tool reports an error without saying which", None),
        ({"content": "in plain words"}, "in plain words", None),
        (
            {"content": [], "structuredContent": {"reason": 7}},
            "the tool reports an error without saying which",
            {"reason": 7},
        ),
    ],
)
async def test_an_error_of_a_tool_is_told_with_whatever_it_says(answer: Any, message: str, details: Any) -> None:
    got = await answered({**answer, "isError": True})
    assert isinstance(got, ToolCallFailed)
    assert (got.message, got.details, got.upstream_code) == (message, details, None)


@pytest.mark.proves("error.upstream-text")
async def test_an_error_of_the_protocol_keeps_its_code_and_data() -> None:
    error = {"code": -32042, "message": "quota", "data": {"left": 0, "why": "key hush-hush-1"}}
    script = {"calls": {"t": {"error": error}}, "tools": ["t"]}
    async with code_mode_over(raw_stdio(script, secrets=["hush-hush-1"])) as code_mode:
        result = await code_mode.run("await tools.raw.t({})")
    assert result.error is not None
    wire = result.error.to_wire()
    assert (wire["code"], wire["message"]) == ("TOOL_EXECUTION_FAILED", "quota")
    assert wire["tool"] == {"source": "raw", "name": "t", "upstreamCode": -32042}
    assert wire["details"] == {"left": 0, "why": "key [redacted]"}


@pytest.mark.proves("bridge.output-checked")
@pytest.mark.parametrize("mismatch", ["error", "warn"])
async def test_an_answer_that_does_not_match_its_schema_fails_or_passes_with_a_note(mismatch: Any) -> None:
    tool = {
        "name": "t",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    }
    script = {"pages": {"": {"tools": [tool]}}, "calls": {"t": {"result": {"structuredContent": {"n": "x"}}}}}
    async with code_mode_over(raw_stdio(script, output_mismatch=mismatch)) as code_mode:
        result = await code_mode.run("return (await tools.raw.t({})).structuredContent")
    if mismatch == "error":
        assert result.error is not None
        assert result.error.code == "TOOL_OUTPUT_INVALID"
    else:
        assert result.value == {"n": "x"}
        assert any("does not match its output schema: /n" in note for note in result.notes)
