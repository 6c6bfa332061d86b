"""Answers, failures, redirects and bounds."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import pytest
from api_service import Answer, Received, service, text
from openapi_helpers import called, document

from codemodekit._json import ABSENT
from codemodekit.errors import SourceLost, ToolCallFailed, ToolResultTooLarge
from codemodekit.providers.openapi import sending

pytestmark = pytest.mark.anyio


@pytest.mark.proves("openapi.answers")
@pytest.mark.parametrize(
    ("answer", "structured", "content"),
    [
        (text(200, '{"a": 1}', "application/json"), {"a": 1}, []),
        (text(201, "[1]", "application/problem+json"), [1], []),
        (text(200, "null", "application/json"), None, []),
        (text(200, '"x"', "application/json; charset=utf-8"), "x", []),
        (text(200, "hello", "text/plain"), ABSENT, [{"type": "text", "text": "hello"}]),
        ((200, [("Content-Type", "text/plain; charset=latin-1")], b"\xe9"), ABSENT, [{"type": "text", "text": "é"}]),
        ((200, [("Content-Type", "text/plain; charset=rot13")], b"\xc3\xa9"), ABSENT, [{"type": "text", "text": "é"}]),
        ((200, [("Content-Type", "text/plain")], b"\xff"), ABSENT, [{"type": "text", "text": "\ufffd"}]),
        ((200, [], b'{"a": 1}'), {"a": 1}, []),
        ((200, [], b"plain"), ABSENT, [{"type": "text", "text": "plain"}]),
        ((204, [], b""), ABSENT, []),
        (
            text(200, "[]", "application/json", Link='<https://a/?page=2>; rel="next"', X_Total_Count="9"),
            [],
            [{"type": "text", "text": 'link: <https://a/?page=2>; rel="next"\nx-total-count: 9'}],
        ),
    ],
)
async def test_an_answer_becomes_a_result(answer: Answer, structured: Any, content: Any) -> None:
    async with service() as api:
        api.answer = lambda _: answer
        result = await called(document(api, "/x"), {})
    assert result.structured_content == structured
    assert list(result.content) == content


@pytest.mark.proves("openapi.answers")
async def test_bytes_become_a_resource_block() -> None:
    raw = bytes(range(256))
    async with service() as api:
        api.answer = lambda _: (200, [("Content-Type", "image/png")], raw)
        result = await called(document(api, "/x?secret=1"), {})
        uri = f"{api.address}/x"
    assert result.content == (
        {"type": "resource", "resource": {"uri": uri, "mimeType": "image/png", "blob": base64.b64encode(raw).decode()}},
    )


@pytest.mark.proves("openapi.answers")
@pytest.mark.parametrize(
    ("answer", "message", "details"),
    [
        (
            text(404, '{"message": "no such pet"}', "application/json"),
            "HTTP 404 Not Found: no such pet",
            {"status": 404, "body": {"message": "no such pet"}},
        ),
        (
            text(429, '{"error": {"message": "slow down"}}', "application/json", Retry_After="7"),
            "HTTP 429 Too Many Requests: slow down",
            {"status": 429, "headers": {"retry-after": "7"}, "body": {"error": {"message": "slow down"}}},
        ),
        (
            text(422, '{"title": "Bad", "detail": "age < 0"}', "application/problem+json"),
            "HTTP 422 Unprocessable Entity: age < 0",
            {"status": 422, "body": {"title": "Bad", "detail": "age < 0"}},
        ),
        (text(500, "<html>", "text/html"), "HTTP 500 Internal Server Error", {"status": 500, "body": "<html>"}),
        ((599, [], b""), "HTTP 599", {"status": 599}),
        ((400, [("Content-Type", "application/json")], b"{"), "HTTP 400 Bad Request", {"status": 400}),
        ((304, [("ETag", '"1"')], b""), "HTTP 304 Not Modified", {"status": 304, "headers": {"etag": '"1"'}}),
    ],
)
async def test_a_failure_tells_status_headers_and_body(answer: Answer, message: str, details: Any) -> None:
    async with service() as api:
        api.answer = lambda _: answer
        with pytest.raises(ToolCallFailed) as failure:
            await called(document(api, "/x"), {})
    assert (failure.value.message, failure.value.upstream_code, failure.value.details) == (
        message,
        answer[0],
        details,
    )


@pytest.mark.proves("openapi.answers")
async def test_an_answer_that_is_no_json_although_it_says_so_is_a_failure() -> None:
    async with service() as api:
        api.answer = lambda _: text(200, "{", "application/json")
        with pytest.raises(ToolCallFailed, match="said to be JSON"):
            await called(document(api, "/x"), {})


@pytest.mark.proves("openapi.answers", "limit.results")
async def test_an_answer_without_end_is_given_up_also_when_it_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_ANSWER_BYTES", 1_000_000)
    packed = gzip.compress(b"0" * 50_000_000)
    async with service() as api:
        api.answer = lambda _: (200, [("Content-Type", "text/plain"), ("Content-Encoding", "gzip")], packed)
        with pytest.raises(ToolResultTooLarge, match="1000000 bytes"):
            await called(document(api, "/x"), {})


@pytest.mark.proves("openapi.once")
@pytest.mark.parametrize("status", [500, 502, 503, 429, 408, 401])
async def test_nothing_is_sent_twice_whatever_comes_back(status: int) -> None:
    async with service() as api:
        api.answer = lambda _: (status, [("Retry-After", "0")], b"")
        with pytest.raises(ToolCallFailed):
            await called(document(api, "/x", "post"), {}, auth=None)
        assert len(api.received) == 1


@pytest.mark.proves("openapi.once")
async def test_a_connection_that_breaks_leaves_it_open_whether_the_call_took_effect() -> None:
    def breaks(_: Received) -> Answer:
        raise ConnectionError

    async with service() as api:
        api.answer = breaks
        with pytest.raises(SourceLost):
            await called(document(api, "/x", "post"), {})
        assert len(api.received) == 1


@pytest.mark.proves("openapi.once")
async def test_an_api_that_is_not_there_was_not_asked() -> None:
    with pytest.raises(ToolCallFailed, match="cannot be reached"):
        await called(document("http://127.0.0.1:1", "/x", "post"), {})


def moved(status: int, where: str) -> Any:
    return lambda request: (status, [("Location", where)], b"") if request.target == "/x" else text(200, "there")


@pytest.mark.proves("openapi.auth", "openapi.once")
@pytest.mark.parametrize(
    ("status", "method", "then"),
    [(301, "get", "GET"), (302, "get", "GET"), (307, "get", "GET"), (308, "head", "HEAD"), (303, "post", "GET")],
)
async def test_what_reads_follows_redirects_within_its_origin(status: int, method: str, then: str) -> None:
    async with service() as api:
        api.answer = moved(status, "/there?a=1#f")
        await called(document(api, "/x", method), {})
        assert [(request.method, request.target) for request in api.received] == [
            (method.upper(), "/x"),
            (then, "/there?a=1"),
        ]


@pytest.mark.proves("openapi.once")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_what_may_write_is_not_sent_to_where_it_was_moved(status: int) -> None:
    async with service() as api:
        api.answer = moved(status, "/there")
        with pytest.raises(ToolCallFailed, match="not sent twice"):
            await called(document(api, "/x", "post"), {})
        assert len(api.received) == 1


@pytest.mark.proves("openapi.auth")
@pytest.mark.parametrize(
    "where", ["http://localhost:{port}/there", "//127.0.0.1:1/", "https://127.0.0.1:{port}/", "file:///etc/passwd"]
)
async def test_another_origin_is_not_followed(where: str) -> None:
    async with service() as api:
        api.answer = moved(302, where.format(port=api.address.rpartition(":")[2]))
        with pytest.raises(ToolCallFailed, match="another origin"):
            await called(document(api, "/x"), {}, headers={"X-Key": "secret-secret"})
        assert len(api.received) == 1


@pytest.mark.proves("openapi.answers")
async def test_a_circle_of_redirects_ends() -> None:
    async with service() as api:
        api.answer = lambda _: (302, [("Location", "/x")], b"")
        with pytest.raises(ToolCallFailed, match="more than 5 redirects"):
            await called(document(api, "/x"), {})
