"""The endpoint over Streamable HTTP: who may use it, what is refused, and how it ends."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from http_hosts import OTHER, TOKEN, host, structured
from tests.docs.docs_pages import ROOT
from tests.docs.docs_sources import load_source

from codemodekit import Allow, ConfigurationError, Deny, PolicyRequest, allow_all_tool_calls, local
from codemodekit.servers.http.auth import Authentication
from codemodekit.servers.http.serve import serve_code_mode_http

pytestmark = pytest.mark.anyio

MODES = ["auto", "legacy"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def run(client: Any, code: str, **more: Any) -> dict[str, Any]:
    return structured(await client.call_tool("run_typescript", {"code": code, **more}))


@pytest.mark.proves("host.serves", "surface.eras")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stateless", [False, True])
async def test_a_client_of_either_era_runs_programs_and_searches(mode: str, stateless: bool) -> None:
    async with host(stateless=stateless) as running, running.client(mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await run(client, "return (await tools.app.echo({ value: context })).structuredContent", context=[1])
        found = structured(await client.call_tool("search_tools", {"query": "echo"}))
    assert names == ["run_typescript", "search_tools"]
    assert result["value"] == [1]
    assert found["results"][0]["callable"] == "tools.app.echo"


@pytest.mark.proves("host.auth")
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        TOKEN,
        "Bearer \u00e9",
    ],
)
async def test_nobody_gets_in_without_a_valid_token(authorization: str | None) -> None:
    headers = dict(HEADERS) if authorization is None else {**HEADERS, "Authorization": authorization.encode("latin-1")}
    async with host(verify=Authentication([TOKEN])) as running, httpx2.AsyncClient() as http:
        answer = await http.post(running.address, headers=headers, json=INITIALIZE)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in answer.text


@pytest.mark.proves("host.auth")
async def test_two_credentials_at_once_are_none() -> None:
    pairs = [*HEADERS.items(), ("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {OTHER}")]
    async with host(verify=Authentication([TOKEN])) as running, httpx2.AsyncClient() as http:
        answer = await http.post(running.address, headers=pairs, json=INITIALIZE)
    assert answer.status_code == 401


@pytest.mark.proves("host.auth", "policy.decides")
@pytest.mark.parametrize("mode", MODES)
async def test_the_policy_sees_who_asks_and_the_program_does_not(mode: str) -> None:
    async def policy(request: PolicyRequest) -> Any:
        return Allow() if request.principal == "ada" else Deny(f"not for {request.principal}")

    program = (
        "return [JSON.stringify(globalThis.context ?? null), (await tools.app.echo({ value: 1 })).structuredContent]"
    )
    async with host(policy=policy, verify=Authentication({"ada": TOKEN, "bob": OTHER})) as running:
        async with running.client(TOKEN, mode) as ada, running.client(OTHER, mode) as bob:
            allowed, denied = await run(ada, program), await run(bob, program)
    assert allowed["value"] == ["null", 1]
    assert denied["error"]["code"] == "TOOL_APPROVAL_DENIED"
    assert "not for bob" in denied["error"]["message"]


@pytest.mark.proves("host.auth")
async def test_a_session_cannot_be_gone_on_with_by_somebody_else() -> None:
    verify = Authentication({"ada": TOKEN, "bob": OTHER})
    async with host(verify=verify) as running, httpx2.AsyncClient() as http:
        opened = await http.post(
            running.address, headers={**HEADERS, "Authorization": f"Bearer {TOKEN}"}, json=INITIALIZE
        )
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answers = [
            await http.post(
                running.address, headers={**HEADERS, **session, "Authorization": f"Bearer {token}"}, json=listing
            )
            for token in (OTHER, TOKEN)
        ]
    assert [answer.status_code for answer in answers] == [404, 200]


@pytest.mark.proves("host.auth")
async def test_a_verifier_of_the_hosts_tells_who_asks() -> None:
    async def verify(token: str) -> Any:
        return {"name": "ada"} if token == TOKEN else None

    seen: list[Any] = []

    async def policy(request: PolicyRequest) -> Any:
        seen.append(request.principal)
        return Allow()

    async with host(policy=policy, verify=verify) as running, running.client(TOKEN) as client:
        await run(client, "await tools.app.echo({ value: 1 })")
    assert seen == [{"name": "ada"}]


@pytest.mark.proves("host.auth")
@pytest.mark.parametrize(
    "tokens", [[], ["short"], [TOKEN, TOKEN], ["a token with blanks in it"], ["t\u00f6ken-of-some-length"], {"a": ""}]
)
def test_tokens_that_protect_nothing_are_refused(tokens: Any) -> None:
    with pytest.raises(ConfigurationError):
        Authentication(tokens)


@pytest.mark.proves("host.auth")
@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
async def test_an_address_others_can_reach_needs_authentication(address: str) -> None:
    with pytest.raises(ConfigurationError, match="reached from other machines"):
        await serve_code_mode_http(
            name="x", version="1", tool_policy=allow_all_tool_calls(), sources=[local("a", [])], host=address, port=0
        )


@pytest.mark.proves("host.guards")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "127.0.0.1:1"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_a_page_of_somewhere_else_is_not_answered(headers: dict[str, str], status: int) -> None:
    async with host() as running, httpx2.AsyncClient() as http:
        answer = await http.post(running.address, headers={**HEADERS, **headers}, json=INITIALIZE)
    assert answer.status_code == status


@pytest.mark.proves("host.guards")
async def test_hosts_that_are_named_are_answered_and_others_are_not() -> None:
    async with host(allowed_hosts=("code.example",)) as running, httpx2.AsyncClient() as http:
        statuses = [
            (await http.post(running.address, headers={**HEADERS, "Host": name}, json=INITIALIZE)).status_code
            for name in ("code.example", "localhost")
        ]
    assert statuses == [200, 421]


@pytest.mark.proves("host.guards")
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_its_limit_is_refused_whether_its_length_is_declared_or_not(chunked: bool) -> None:
    body = json.dumps({**INITIALIZE, "padding": "x" * 5_000}).encode()

    async def pieces() -> Any:
        for at in range(0, len(body), 500):
            yield body[at : at + 500]

    async with host(max_body_bytes=2_000) as running, httpx2.AsyncClient() as http:
        answer = await http.post(running.address, headers=HEADERS, content=pieces() if chunked else body)
    assert answer.status_code == 413


@pytest.mark.proves("host.guards")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff", b"[" * 10_000])
async def test_a_body_that_is_no_message_is_an_error_of_the_client(content: bytes) -> None:
    async with host() as running, httpx2.AsyncClient() as http:
        answer = await http.post(running.address, headers=HEADERS, content=content)
        after = await http.post(running.address, headers=HEADERS, json=INITIALIZE)
    assert 400 <= answer.status_code < 500
    assert after.status_code == 200


@pytest.mark.proves("host.guards")
async def test_requests_beyond_what_is_answered_at_once_are_told_to_come_back() -> None:
    async with host(max_requests=1) as running, running.client(mode="legacy") as client, httpx2.AsyncClient() as http:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, client, "return (await tools.app.wait()).structuredContent")
            await running.entered.wait()
            answer = await http.post(running.address, headers=HEADERS, json=INITIALIZE)
            running.finish.set()
        again = await http.post(running.address, headers=HEADERS, json=INITIALIZE)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert again.status_code == 200


@pytest.mark.proves("host.watched")
async def test_whoever_watches_learns_that_it_lives_and_is_ready_and_nothing_else() -> None:
    async with host(verify=Authentication([TOKEN])) as running, httpx2.AsyncClient() as http:
        async with running.client(TOKEN) as client:
            await run(client, "return (await tools.app.echo({ value: 1 })).structuredContent")
        alive = await http.get(f"{running.root}/health")
        ready = await http.get(f"{running.root}/ready")
    assert (alive.status_code, alive.json()) == (200, {"status": "alive"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "sources": {"healthy": 1}})


@pytest.mark.proves("host.ends", "result.receipt")
@pytest.mark.parametrize("mode", MODES)
async def test_a_run_that_is_going_on_when_the_server_ends_is_ended_and_answered_with_its_receipt(mode: str) -> None:
    answers: list[dict[str, Any]] = []

    async def ask(client: Any) -> None:
        answers.append(await run(client, "return (await tools.app.wait()).structuredContent"))

    async with host(grace_s=0.05) as running, running.client(mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await running.entered.wait()
            running.stop.set()
    assert [answer["error"]["code"] for answer in answers] == ["EXECUTION_CANCELLED"]
    assert [(call["tool"], call["status"]) for call in answers[0]["calls"]] == [("wait", "unfinished")]
    assert answers[0]["rerun"] == "unknown"


@pytest.mark.proves("host.ends")
async def test_a_run_that_can_finish_in_time_does() -> None:
    answers: list[dict[str, Any]] = []

    async def ask(client: Any) -> None:
        answers.append(await run(client, "return (await tools.app.wait()).structuredContent"))

    async with host(grace_s=20) as running, running.client() as client, running.client() as late:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await running.entered.wait()
            running.stop.set()
            await anyio.lowlevel.checkpoint()  # the turn in which it begins to end
            refused = await late.call_tool("run_typescript", {"code": "return 1"})
            running.finish.set()
    assert [answer["value"] for answer in answers] == ["waited"]
    assert refused.is_error
    assert "ending" in refused.content[0].text  # type: ignore[union-attr]


@pytest.mark.proves("host.serves")
async def test_a_port_that_is_taken_is_said_to_be() -> None:
    async with host() as running:
        port = int(running.root.rpartition(":")[2])
        with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1:{port}"):
            await serve_code_mode_http(
                name="x", version="1", tool_policy=allow_all_tool_calls(), sources=[local("a", [])], port=port
            )


@pytest.mark.proves("house.docs", "host.auth")
async def test_the_documented_server_lets_in_whom_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    documented = load_source(ROOT / "docs_src" / "serve_http.py")
    given: dict[str, Any] = {}

    async def record(**options: Any) -> None:
        given.update(options)

    monkeypatch.setattr(documented, "serve_code_mode_http", record)
    await documented.main()
    async with host(policy=given["tool_policy"], verify=given["verifier"], sources=given["sources"]) as running:
        async with running.client("a-token-that-ada-keeps") as client:
            result = await run(client, "return (await tools.calendar.today({})).structuredContent")
    assert result["value"] == "2030-01-01"
