"""Credentials: where they stand, what asks for them, and that nobody else gets them."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import parse_qs

import anyio
import httpx2
import pytest
from api_service import Answer, Received, Service, service, text
from openapi_helpers import call, called, document

from codemodekit.errors import ConfigurationError, SourceLost, ToolCallFailed
from codemodekit.providers.openapi import ApiKey, Basic, Bearer, ClientCredentials
from codemodekit.providers.openapi.auth import Authenticator
from codemodekit.providers.openapi.operation import Operation
from codemodekit.providers.openapi.provider import OpenApiToolProvider
from codemodekit.providers.openapi.request import HttpRequest

pytestmark = [pytest.mark.anyio, pytest.mark.proves("openapi.auth")]

SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
}


def secured(api: Service, *security: Any, **schemes: Any) -> dict[str, Any]:
    spec = document(api, "/x")
    spec["components"] = {"securitySchemes": {**SCHEMES, **schemes}}
    if security != (None,):
        spec["paths"]["/x"]["get"]["security"] = list(security)
    return spec


def where(request: Received) -> dict[str, str | None]:
    """Everything of a request that may hold a credential."""
    found = {
        "authorization": request.header("authorization"),
        "x-key": request.header("x-key"),
        "cookie": request.header("cookie"),
        "query": request.target.partition("?")[2] or None,
    }
    return {key: value for key, value in found.items() if value is not None}


@pytest.mark.parametrize(
    ("auth", "placed"),
    [
        (Bearer("t0ken"), {"authorization": "Bearer t0ken"}),
        (
            Basic("us:er".replace(":", ""), "pä:ss"),
            {"authorization": "Basic " + base64.b64encode("user:pä:ss".encode()).decode()},
        ),
        (ApiKey("k&y"), {"x-key": "k&y"}),
        (ApiKey("k&y", name="key"), {"query": "key=k%26y"}),
        (ApiKey("k", name="sid"), {"cookie": "sid=k"}),
        (ApiKey("k", name="other", place="query"), {"query": "other=k"}),
        ({"query": ApiKey("q")}, {"query": "key=q"}),
    ],
)
async def test_a_credential_stands_where_its_scheme_says(auth: Any, placed: dict[str, str]) -> None:
    async with service() as api:
        security = [{"query": []}] if isinstance(auth, dict) else [None]
        await called(secured(api, *security), {}, auth=auth)
        assert where(api.last) == placed


async def test_schemes_that_are_asked_for_together_go_together_and_the_first_that_is_configured_wins() -> None:
    async with service() as api:
        spec = secured(api, {"bearer": []}, {"header": [], "cookie": []}, {"basic": []})
        auth = {"header": ApiKey("h"), "cookie": ApiKey("c"), "basic": Basic("u", "p")}
        await called(spec, {}, auth=auth)
        assert where(api.last) == {"x-key": "h", "cookie": "sid=c"}


async def test_an_operation_that_asks_for_nothing_gets_nothing() -> None:
    async with service() as api:
        spec = secured(api)
        assert spec["paths"]["/x"]["get"]["security"] == []
        await called(spec, {}, auth=Bearer("t0ken"))
        assert where(api.last) == {}


async def test_a_program_cannot_take_the_place_of_a_key_in_the_query() -> None:
    async with service() as api:
        spec = secured(api, None)
        spec["paths"]["/x"]["get"]["parameters"] = [{"name": "key", "in": "query", "schema": {}}]
        await called(spec, {"key": "mine"}, auth=ApiKey("ours", name="key"))
        assert api.last.target == "/x?key=ours"


async def test_configured_headers_and_credentials_do_not_go_to_an_operations_own_server() -> None:
    async with service() as api, service() as other:
        spec = secured(api, None)
        spec["paths"]["/x"]["get"]["servers"] = [{"url": other.address}]
        await called(spec, {}, auth=Bearer("t0ken"), headers={"X-Key": "secret-header"})
        assert where(other.last) == {}


@pytest.mark.parametrize(
    ("auth", "fault"),
    [
        ({"nope": Bearer("x")}, "no security scheme 'nope'"),
        (ApiKey("x", name="unknown"), None),
        (ClientCredentials(client_id="a", client_secret="b"), "tokenUrl"),
    ],
)
async def test_a_credential_that_cannot_be_used_is_said(auth: Any, fault: str | None) -> None:
    async with service() as api:
        if fault is None:
            await called(secured(api, None), {}, auth=auth)
            assert api.last.header("unknown") == "x"
            return
        with pytest.raises((ConfigurationError, SourceLost), match=fault):
            await called(secured(api, None), {}, auth=auth)


def test_no_credential_shows_itself() -> None:
    shown = repr(
        [
            Bearer("SECRET"),
            Basic("u", "SECRET"),
            ApiKey("SECRET"),
            ClientCredentials(client_id="i", client_secret="SECRET"),
        ]
    )
    assert "SECRET" not in shown


# -- OAuth 2.0 ---------------------------------------------------------------------------------------------------------


class TokenService:
    """Gives tokens that count up, and an API that takes only the newest."""

    def __init__(self, api: Service, **answer: Any) -> None:
        self.given = 0
        self.forms: list[tuple[dict[str, list[str]], str | None]] = []
        self.said = {"expires_in": 3600, **answer}
        self.refuses: set[str] = set()
        api.answer = self.answer

    def answer(self, request: Received) -> Answer:
        if request.target == "/token":
            self.given += 1
            self.forms.append((parse_qs(request.body.decode()), request.header("authorization")))
            return text(200, json.dumps({"access_token": f"t{self.given}", **self.said}), "application/json")
        bearer = (request.header("authorization") or "").removeprefix("Bearer ")
        return (401, [], b"") if bearer in self.refuses else text(200, bearer)


def credentials(api: Service, **more: Any) -> ClientCredentials:
    return ClientCredentials(client_id="me", client_secret="s&cret", token_url=f"{api.address}/token", **more)


async def test_client_credentials_fetch_one_token_for_all_calls() -> None:
    async with service() as api:
        tokens = TokenService(api)
        provider = OpenApiToolProvider(
            "api", secured(api, None), auth=credentials(api, scopes=("a", "b"), audience="x")
        )
        answers: list[Any] = []
        async with provider.connect() as session:

            async def one() -> None:
                answers.append((await session.call(call("op", {}))).content[0]["text"])

            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(one)
        assert answers == ["t1"] * 5
    form = {"grant_type": ["client_credentials"], "scope": ["a b"], "audience": ["x"]}
    assert tokens.forms == [(form, "Basic " + base64.b64encode(b"me:s%26cret").decode())]


async def test_the_client_can_name_itself_in_the_body() -> None:
    async with service() as api:
        tokens = TokenService(api)
        await called(secured(api, None), {}, auth=credentials(api, in_body=True))
    form = {"grant_type": ["client_credentials"], "client_id": ["me"], "client_secret": ["s&cret"]}
    assert tokens.forms == [(form, None)]


async def test_a_token_is_fetched_anew_before_it_expires() -> None:
    now = [0.0]
    operation = Operation(name="op", method="GET", path="/x", server="http://a")
    async with service() as api, httpx2.AsyncClient() as client:
        TokenService(api, expires_in=100)
        authenticator = Authenticator(credentials(api), {}, clock=lambda: now[0])
        sent = []
        for now[0] in (0.0, 60.0, 80.0):
            request = HttpRequest(method="GET", url="http://a/x")
            sent.append((await authenticator.authorized(operation, request, client)).headers["Authorization"])
    assert sent == ["Bearer t1", "Bearer t1", "Bearer t2"]


async def test_a_token_that_is_refused_is_not_used_again_and_the_call_is_not_repeated() -> None:
    async with service() as api:
        tokens = TokenService(api)
        tokens.refuses = {"t1"}
        async with OpenApiToolProvider("api", secured(api, None), auth=credentials(api)).connect() as session:
            with pytest.raises(ToolCallFailed, match="HTTP 401"):
                await session.call(call("op", {}))
            assert (await session.call(call("op", {}))).content[0]["text"] == "t2"
        assert [request.target for request in api.received] == ["/token", "/x", "/token", "/x"]


@pytest.mark.parametrize(
    "answer",
    [
        text(401, '{"error": "invalid_client", "error_description": "s&cret is wrong"}', "application/json"),
        text(200, "{}", "application/json"),
        text(200, "no json"),
        text(302, "", Location="http://127.0.0.1:1/"),
    ],
)
async def test_a_token_that_cannot_be_had_fails_the_call_without_telling_the_secret(answer: Answer) -> None:
    async with service() as api:
        api.answer = lambda _: answer
        with pytest.raises(ToolCallFailed, match="no access token was given") as failure:
            await called(secured(api, None), {}, auth=credentials(api))
        assert "cret" not in str(failure.value)
        assert [request.target for request in api.received] == ["/token"]


@pytest.mark.proves("error.secrets")
@pytest.mark.parametrize("status", [200, 400])
async def test_a_credential_that_comes_back_reaches_nobody(status: int) -> None:
    secret = "sEcr3t-t0ken-value"
    basic = base64.b64encode(f"user:{secret}".encode()).decode()
    told = {"you": f"sent Bearer {secret}", "deep": [{"again": secret, basic: 1}]}
    async with service() as api:
        api.answer = lambda _: text(status, json.dumps(told), "application/json", Link=f"<https://a/?token={secret}>")
        try:
            result = repr(await called(secured(api, None), {}, auth=Basic("user", secret)))
        except ToolCallFailed as failure:
            result = repr((str(failure), failure.message, failure.details))
    assert "sent" in result
    assert secret not in result.partition("sideband")[0]
    assert basic not in result.partition("sideband")[0]
