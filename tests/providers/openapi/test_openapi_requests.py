"""Routes, arguments and bodies: what is declared is what is sent, and nothing hostile leaves its place."""

from __future__ import annotations

import base64
import json
import re
from email import message_from_bytes
from typing import Any

import pytest
from api_service import service
from openapi_helpers import call, called, document

from codemodekit.errors import ToolError
from codemodekit.providers.openapi.provider import OpenApiToolProvider

pytestmark = pytest.mark.anyio

PATH = {"name": "id", "in": "path", "required": True, "schema": {}}


@pytest.mark.proves("openapi.route")
@pytest.mark.parametrize(
    "value",
    [
        "..",
        ".",
        "../admin",
        "a/../../b",
        "a\\..\\b",
        "a/..",
        " .. ",
        "",
        "a\0b",
        ["x", ".."],
        {"..": 1},
        [],
        {},
    ],
)
async def test_a_value_that_would_leave_its_route_is_not_sent(value: Any) -> None:
    async with service() as api:
        with pytest.raises(ToolError, match="'id'"):
            await called(document(api, "/users/{id}/posts", parameters=[PATH]), {"id": value})
        assert api.received == []


@pytest.mark.proves("openapi.route")
@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("...", "/users/.../posts"),
        ("a..b", "/users/a..b/posts"),
        ("%2e%2e", "/users/%252e%252e/posts"),
        ("?admin=1", "/users/%3Fadmin%3D1/posts"),
        ("#", "/users/%23/posts"),
        ("//evil.example", "/users/%2F%2Fevil.example/posts"),
        ("@evil.example", "/users/%40evil.example/posts"),
        ("\r\nHost: evil", "/users/%0D%0AHost%3A%20evil/posts"),
        ("\ud800", "/users/%3F/posts"),
    ],
)
async def test_a_value_stays_one_part_of_the_path(value: str, sent: str) -> None:
    async with service() as api:
        await called(document(api, "/users/{id}/posts", parameters=[PATH]), {"id": value})
        assert api.last.target == sent


@pytest.mark.proves("openapi.styles")
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\0", "é", "\x7f"])
async def test_a_header_that_holds_what_it_cannot_carry_is_not_sent(value: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[{"name": "X-Trace", "in": "header", "schema": {}}])
        with pytest.raises(ToolError, match="'X-Trace'"):
            await called(spec, {"X-Trace": value})
        assert api.received == []


@pytest.mark.proves("openapi.documents")
async def test_parameters_of_the_path_item_are_inherited_and_overridden_by_place_and_name() -> None:
    async with service() as api:
        spec = document(api, "/x/{id}", parameters=[{"name": "b", "in": "query", "schema": {}, "explode": False}])
        spec["paths"]["/x/{id}"]["parameters"] = [
            PATH,
            {"name": "a", "in": "query", "schema": {}},
            {"name": "b", "in": "query", "schema": {}},
            {"name": "b", "in": "header", "schema": {}},
        ]
        await called(spec, {"id": 7, "a": 1, "b_query": [1, 2], "b_header": "h"})
        assert api.last.target == "/x/7?a=1&b=1,2"
        assert api.last.header("b") == "h"


@pytest.mark.proves("openapi.documents")
async def test_a_name_that_two_places_have_stays_the_paths() -> None:
    async with service() as api:
        spec = document(api, "/x/{id}", parameters=[PATH, {"name": "id", "in": "query", "schema": {}}])
        async with OpenApiToolProvider("api", spec).connect() as session:
            (tool,) = (await session.list_tools()).definitions
        assert sorted(tool.input_schema["properties"]) == ["id", "id_query"]
        assert tool.input_schema["required"] == ["id"]
        await called(spec, {"id": 1, "id_query": 2})
        assert api.last.target == "/x/1?id=2"


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize("name", ["Accept", "content-type", "Authorization"])
async def test_headers_that_a_parameter_has_no_say_in_are_no_arguments(name: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[{"name": name, "in": "header", "schema": {}}])
        async with OpenApiToolProvider("api", spec).connect() as session:
            (tool,) = (await session.list_tools()).definitions
        assert tool.input_schema["properties"] == {}


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("openapi.documents")
async def test_servers_are_those_of_operation_path_or_document_and_have_variables() -> None:
    async with service() as api:
        spec = document("https://nowhere.invalid", "/x")
        spec["paths"]["/x"]["get"]["servers"] = [
            {
                "url": api.address + "/{version}/{tenant}/",
                "variables": {"version": {"default": "v1"}, "tenant": {"default": "all"}},
            }
        ]
        await called(spec, {}, variables={"tenant": "acme"})
        assert api.last.target == "/v1/acme/x"


@pytest.mark.proves("openapi.documents")
async def test_a_base_url_takes_the_place_of_every_server() -> None:
    async with service() as api:
        spec = document("https://nowhere.invalid/api", "/x")
        spec["paths"]["/x"]["servers"] = [{"url": "https://elsewhere.invalid"}]
        await called(spec, {}, base_url=api.address + "/base/")
        assert api.last.target == "/base/x"


@pytest.mark.proves("openapi.documents")
async def test_a_document_behind_an_address_may_name_its_server_by_the_way_from_there() -> None:
    async with service() as api:
        spec = document("../api", "/x")

        def answer(request: Any) -> Any:
            body = json.dumps(spec if request.target == "/docs/openapi.json" else {"well": True}).encode()
            return 200, [("Content-Type", "application/json")], body

        api.answer = answer
        async with OpenApiToolProvider("api", f"{api.address}/docs/openapi.json").connect() as session:
            await session.call(call("op", {}))
        assert [request.target for request in api.received] == ["/docs/openapi.json", "/api/x"]


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize("url", ["/api", "", "file:///etc", "ftp://x/y", "{scheme}://x", "http://"])
async def test_an_operation_without_an_address_is_skipped_with_the_cure(url: str) -> None:
    spec = document(url, "/x")
    async with OpenApiToolProvider("api", spec).connect() as session:
        listing = await session.list_tools()
    assert listing.definitions == ()
    assert listing.notes[0].startswith("skipped 'op': ")
    assert "baseUrl" in listing.notes[0]


# -- bodies ------------------------------------------------------------------------------------------------------------


def body_of(kind: str, schema: Any = None, **media: Any) -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema or {}, **media}}}


@pytest.mark.proves("openapi.bodies")
@pytest.mark.parametrize(
    "kind", ["application/json", "application/merge-patch+json", "application/json; charset=utf-8"]
)
async def test_a_body_of_json(kind: str) -> None:
    async with service() as api:
        await called(document(api, "/x", "post", requestBody=body_of(kind)), {"body": {"a": ["é", None, 1.0]}})
        assert json.loads(api.last.body) == {"a": ["é", None, 1.0]}
        assert api.last.header("content-type") == kind


@pytest.mark.proves("openapi.bodies")
@pytest.mark.parametrize(
    ("value", "encoding", "sent"),
    [
        ({"a": "b c&d=é", "n": 1, "t": True, "z": None}, {}, "a=b+c%26d%3D%C3%A9&n=1&t=true"),
        ({"a": [1, 2]}, {}, "a=1&a=2"),
        ({"a": {"x": 1}}, {}, "a=%7B%22x%22%3A1%7D"),
        ({"a": [1, 2]}, {"a": {"explode": False}}, "a=1,2"),
        ({"a": {"x": 1, "y": [2]}}, {"a": {"style": "deepObject", "explode": True}}, "a%5Bx%5D=1&a%5By%5D%5B%5D=2"),
        ({"a": [1, 2]}, {"a": {"style": "pipeDelimited", "explode": False}}, "a=1%7C2"),
        ({"a&b": "c"}, {}, "a%26b=c"),
    ],
)
async def test_a_body_that_is_a_form(value: Any, encoding: Any, sent: str) -> None:
    async with service() as api:
        body = body_of("application/x-www-form-urlencoded", {"type": "object"}, encoding=encoding)
        await called(document(api, "/x", "post", requestBody=body), {"body": value})
        assert api.last.body.decode() == sent
        assert api.last.header("content-type") == "application/x-www-form-urlencoded"


def parts(content_type: str, body: bytes) -> list[tuple[str | None, str | None, str | None, bytes]]:
    """Name, file name, media type and content of each part, read by Python's own parser."""
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    found = []
    for part in message.get_payload():  # type: ignore[union-attr]
        disposition = part["Content-Disposition"]  # type: ignore[index]
        name = re.search(r'; name="([^"]*)"', disposition)
        filename = re.search(r'; filename="([^"]*)"', disposition)
        content = part.get_payload(decode=True)  # type: ignore[union-attr]
        found.append((name and name[1], filename and filename[1], part["Content-Type"], content))  # type: ignore[index]
    return found  # type: ignore[return-value]


@pytest.mark.proves("openapi.bodies")
async def test_a_body_of_parts_holds_fields_json_and_files() -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "meta": {"type": "object"},
            "file": {"type": "string", "format": "binary", "description": "The picture."},
            "more": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
        "required": ["file"],
    }
    raw = bytes(range(256))
    given = {
        "title": "é",
        "meta": {"a": 1},
        "file": {"base64": base64.b64encode(raw).decode(), "filename": 'a"\r\nb.png', "contentType": "image/png"},
        "more": ["text", {"base64": ""}],
    }
    async with service() as api:
        body = body_of("multipart/form-data", schema)
        spec = document(api, "/x", "post", "3.0.3", requestBody=body)
        await called(spec, {"body": given})
        sent = parts(api.last.header("content-type") or "", api.last.body)
    assert sent == [
        ("title", None, None, "é".encode()),
        ("meta", None, "application/json", b'{"a":1}'),
        ("file", "a%22%0D%0Ab.png", "image/png", raw),
        ("more", "more", "application/octet-stream", b"text"),
        ("more", "more", "application/octet-stream", b""),
    ]


@pytest.mark.proves("openapi.bodies")
@pytest.mark.parametrize(
    ("kind", "value", "sent", "header"),
    [
        ("text/plain", "é", "é".encode(), "text/plain; charset=utf-8"),
        ("application/xml", "<a/>", b"<a/>", "application/xml; charset=utf-8"),
        ("application/octet-stream", "abc", b"abc", "application/octet-stream"),
        ("image/*", {"base64": "/w==", "contentType": "image/png"}, b"\xff", "image/png"),
        ("*/*", {"base64": "/w=="}, b"\xff", "application/octet-stream"),
    ],
)
async def test_bodies_of_text_and_bytes(kind: str, value: Any, sent: bytes, header: str) -> None:
    async with service() as api:
        await called(document(api, "/x", "put", requestBody=body_of(kind)), {"body": value})
        assert (api.last.body, api.last.header("content-type")) == (sent, header)


@pytest.mark.proves("openapi.bodies")
@pytest.mark.parametrize("value", [{"base64": "no base64!"}, {"base64": "YQ==", "contentType": "a\r\nb: c"}])
async def test_bytes_that_are_none_are_not_sent(value: Any) -> None:
    async with service() as api:
        spec = document(api, "/x", "put", requestBody=body_of("application/octet-stream"))
        with pytest.raises(ToolError):
            await called(spec, {"body": value})
        assert api.received == []


@pytest.mark.proves("openapi.bodies")
async def test_of_several_media_types_json_is_used() -> None:
    async with service() as api:
        content = {kind: {"schema": {}} for kind in ("application/xml", "multipart/form-data", "application/json")}
        await called(document(api, "/x", "post", requestBody={"content": content}), {"body": 1})
        assert (api.last.body, api.last.header("content-type")) == (b"1", "application/json")
        await called(document(api, "/x", "post", requestBody={"content": content}), {})
        assert (api.last.body, api.last.header("content-type")) == (b"", None)
