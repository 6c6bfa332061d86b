"""MCP servers behind URLs: how they vanish, refuse, redirect and overflow."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.abc
import httpx2
import pytest
from http_scripts import Answer, Script, older_server, result
from mcp_helpers import a_call, free_port, names, outcome, upstream

from codemodekit.contracts import ToolResult
from codemodekit.errors import SourceLost, ToolCallFailed, ToolResultInvalid, ToolResultTooLarge
from codemodekit.providers.mcp import http, lines, watch
from codemodekit.providers.mcp.sources import mcp

pytestmark = pytest.mark.anyio


async def lost(provider: Any) -> str:
    with pytest.raises(SourceLost) as caught:
        with anyio.fail_after(15):
            async with provider.connect():
                pass
    return str(caught.value)


@pytest.mark.proves("catalog.health")
@pytest.mark.parametrize("factory", [mcp.http, mcp.sse])
async def test_a_server_that_is_not_there_is_said_to_be_out_of_reach(factory: Any) -> None:
    assert "cannot be reached" in await lost(factory("x", f"http://127.0.0.1:{free_port()}/mcp"))


@pytest.mark.proves("error.upstream-text")
@pytest.mark.parametrize("factory", [mcp.http, mcp.sse])
async def test_a_server_that_refuses_us_is_quoted_with_its_status(factory: Any) -> None:
    async def respond(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer:
        return 401, {"content-type": "text/plain"}, b"go away"

    async with Script(respond).running() as server:
        assert "HTTP 401 Unauthorized" in await lost(factory("x", server.url))


@pytest.mark.proves("catalog.reconnect")
@pytest.mark.parametrize("factory", [mcp.http, mcp.sse])
async def test_a_server_that_never_answers_is_given_up(factory: Any) -> None:
    async def respond(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer:
        await anyio.sleep_forever()
        raise AssertionError

    async with Script(respond).running() as server:
        assert "did not answer within 0.5 seconds" in await lost(factory("x", server.url, connect_timeout_s=0.5))


@pytest.mark.proves("mcp.headers")
@pytest.mark.parametrize("factory", [mcp.http, mcp.sse])
async def test_headers_never_leave_for_another_origin(factory: Any) -> None:
    async def elsewhere(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer:
        return 200, {}, b""

    async with Script(elsewhere).running() as thief:

        async def respond(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer:
            return 307, {"location": thief.url}, b""

        async with Script(respond).running() as server:
            await lost(factory("x", server.url, headers={"Authorization": "Bearer hush-hush-hush"}))
        assert server.seen[0][1]["authorization"] == "Bearer hush-hush-hush"
        assert thief.seen == []


@pytest.mark.proves("mcp.hostile")
async def test_one_failed_request_fails_one_call_and_nothing_else() -> None:
    answered = anyio.Event()

    async def tool(name: str, message: dict[str, Any]) -> Answer | None:
        if name == "broken":
            return None
        if name == "cut":
            return 200, {"content-type": "application/json", "content-length": "99"}, b'{"jsonrpc"'
        if name == "slow":
            await answered.wait()
        return result(message, {"content": []})

    got: dict[str, Any] = {}
    async with older_server(tool).running() as server:
        async with mcp.http("x", server.url, mode="2025-11-25").connect() as session:

            async def slow() -> None:
                got["slow"] = await outcome(session, "slow")

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(slow)
                for name in ("broken", "ok", "cut", "fine"):
                    got[name] = await outcome(session, name)
                answered.set()
    assert {name: type(value) for name, value in got.items()} == {
        "slow": ToolResult,
        "broken": SourceLost,
        "ok": ToolResult,
        "cut": SourceLost,
        "fine": ToolResult,
    }


@pytest.mark.proves("mcp.hostile")
async def test_one_failed_request_fails_one_call_also_beside_an_event_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = http._transport

    class Breaking(httpx2.AsyncBaseTransport):
        def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
            self._inner = inner

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if request.method == "POST" and b'"refuse"' in request.content:
                raise httpx2.ConnectError("broken")
            return await self._inner.handle_async_request(request)

        async def aclose(self) -> None:
            await self._inner.aclose()

    monkeypatch.setattr(http, "_transport", lambda url: Breaking(plain(url)))
    async with upstream("sse") as server, server.provider().connect() as session:
        failure = await outcome(session, "refuse")
        assert isinstance(failure, SourceLost)
        assert "broken" in str(failure)
        assert isinstance(await outcome(session, "echo", {"x": 1}), ToolResult)


@pytest.mark.proves("mcp.hostile")
@pytest.mark.parametrize(
    ("answer", "kind", "words", "code"),
    [
        ((502, {}, b""), SourceLost, "HTTP 502", None),
        ((403, {"content-type": "text/html"}, b"<html>"), ToolCallFailed, "HTTP 403 Forbidden", 403),
        ((200, {"content-type": "application/json"}, b"x" * 3000), ToolResultTooLarge, "longer than 2000", None),
        ((200, {"content-type": "application/json"}, b"nonsense"), ToolResultInvalid, "cannot be read", None),
        ((200, {"content-type": "text/html"}, b"<html>"), ToolCallFailed, "text/html", -32600),
        (
            (200, {"content-type": "application/json", "content-encoding": "gzip"}, b"no"),
            SourceLost,
            "decompress",
            None,
        ),
        (
            (
                400,
                {"content-type": "application/json"},
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}',
            ),
            ToolCallFailed,
            "m",
            -1,
        ),
    ],
)
async def test_odd_answers_fail_their_call_only(
    answer: Answer, kind: type[Exception], words: str, code: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_MESSAGE_BYTES", 2000)

    async def tool(name: str, message: dict[str, Any]) -> Answer:
        return answer if name == "odd" else result(message, {"content": []})

    async with older_server(tool).running() as server:
        async with mcp.http("x", server.url, mode="2025-11-25").connect() as session:
            failure = await outcome(session, "odd")
            assert type(failure) is kind
            assert words in str(failure)
            assert getattr(failure, "upstream_code", None) == code
            assert isinstance(await outcome(session, "fine"), ToolResult)


@pytest.mark.proves("catalog.idle-death")
@pytest.mark.parametrize("mode", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_the_death_of_a_server_is_noticed_idle_and_in_flight(
    kind: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "PROBE_INTERVAL_S", 0.2)
    async with upstream(kind) as server:
        with pytest.raises(SourceLost):
            async with server.provider(mode=mode).connect() as session:
                await session.list_tools()
                with anyio.move_on_after(0.5) as quiet:  # several probes: a server that answers them is not lost
                    await session.wait_for_change()
                assert quiet.cancelled_caught
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(swallow, session)
                    server.kill()
                    with anyio.fail_after(5), pytest.raises(SourceLost):
                        await session.wait_for_change()
                raise SourceLost("as the supervisor does")


async def swallow(session: Any) -> None:
    failure = await outcome(session, "slow")
    assert isinstance(failure, SourceLost)


@pytest.mark.proves("catalog.idle-death")
async def test_a_server_that_forgot_the_session_is_lost() -> None:
    async with upstream("http") as server:
        async with server.provider(mode="2025-11-25").connect() as session:
            await session.list_tools()
            server.kill()
            await server.start()
            assert isinstance(await outcome(session, "echo", {"x": 1}), SourceLost)
            with anyio.fail_after(5), pytest.raises(SourceLost):
                await session.wait_for_change()
        async with server.provider(mode="2025-11-25").connect() as again:
            assert "echo" in names(await again.list_tools())


@pytest.mark.proves("catalog.idle-death")
async def test_a_busy_server_that_does_not_answer_probes_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PROBE_INTERVAL_S", 0.05)
    monkeypatch.setattr(watch, "PROBE_TIMEOUT_S", 0.05)
    free = anyio.Event()

    async def tool(name: str, message: dict[str, Any]) -> Answer:
        await free.wait()
        return result(message, {"content": []})

    server = older_server(tool)
    usual = server._respond
    pings = 0

    async def respond(method: str, headers: dict[str, str], message: dict[str, Any]) -> Answer | None:
        nonlocal pings
        if message.get("method") == "ping":
            pings += 1
            if pings > 3:
                free.set()
            await free.wait()
        return await usual(method, headers, message)

    server._respond = respond
    async with server.running():
        async with mcp.http("x", server.url, mode="2025-11-25").connect() as session:
            with anyio.fail_after(5):
                await session.call(a_call("t"))
            with anyio.move_on_after(0.3) as quiet:
                await session.wait_for_change()
            assert quiet.cancelled_caught
