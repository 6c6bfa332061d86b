"""Documents of each version: what becomes a tool, under which name and schema, and what is skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from api_service import service, text
from openapi_helpers import called, document

from codemodekit.catalog.snapshot import SourceCatalog, build_source
from codemodekit.contracts import ToolDefinition, ToolListing
from codemodekit.errors import SourceLost
from codemodekit.providers.openapi.provider import OpenApiToolProvider
from codemodekit.shared_definitions import with_reached

pytestmark = pytest.mark.anyio


async def listing(spec: Any, **settings: Any) -> ToolListing:
    settings.setdefault("base_url", "http://127.0.0.1:1")
    async with OpenApiToolProvider("api", spec, **settings).connect() as session:
        return await session.list_tools()


async def tools(spec: Any, **settings: Any) -> dict[str, ToolDefinition]:
    return {tool.name: tool for tool in (await listing(spec, **settings)).definitions}


async def source(spec: Any) -> SourceCatalog:
    return build_source("api", await listing(spec))


SWAGGER = {
    "swagger": "2.0",
    "host": "api.example",
    "basePath": "/v2",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "definitions": {
        "Pet": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "friend": {"$ref": "#/definitions/Pet"}},
        },
    },
    "parameters": {
        "limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 10, "exclusiveMaximum": True}
    },
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/parameters/limit"}],
            "get": {
                "operationId": "listPets",
                "parameters": [
                    {
                        "name": "tags",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": "pipes",
                    }
                ],
                "responses": {
                    "200": {"description": "", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}
                },
            },
            "post": {
                "operationId": "addPet",
                "parameters": [
                    {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}
                ],
                "responses": {"201": {"description": "", "schema": {"$ref": "#/definitions/Pet"}}},
            },
        },
        "/pets/{id}/photo": {
            "post": {
                "operationId": "addPhoto",
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "id", "in": "path", "type": "string", "required": True},
                    {"name": "photo", "in": "formData", "type": "file", "required": True},
                    {"name": "title", "in": "formData", "type": "string", "x-nullable": True},
                ],
                "responses": {"204": {"description": ""}},
            }
        },
    },
}


@pytest.mark.proves("openapi.documents", "openapi.schemas")
async def test_a_document_of_swagger_2_gives_tools_like_any_other() -> None:
    found = await tools(SWAGGER)
    assert {name: with_reached(tool.input_schema)["properties"] for name, tool in found.items()} == {
        "listPets": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "limit": {"type": "integer", "exclusiveMaximum": 10},
        },
        "addPet": {"limit": {"type": "integer", "exclusiveMaximum": 10}, "body": {"$ref": "#/$defs/Pet"}},
        "addPhoto": {
            "id": {"type": "string"},
            "body": {
                "type": "object",
                "properties": {
                    "photo": found["addPhoto"].input_schema["properties"]["body"]["properties"]["photo"],
                    "title": {"type": ["string", "null"]},
                },
                "required": ["photo"],
            },
        },
    }
    assert with_reached(found["addPet"].output_schema or {}) == {
        "$ref": "#/$defs/Pet",
        "$defs": {
            "Pet": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "friend": {"$ref": "#/$defs/Pet"}},
                "required": ["name"],
            }
        },
    }


@pytest.mark.proves("openapi.documents", "openapi.styles")
async def test_collections_of_swagger_2_are_sent_in_their_format() -> None:
    async with service() as api:
        await called(SWAGGER, {"tags": ["a", "b"], "limit": 3}, "listPets", base_url=api.address)
        assert api.last.target == "/pets?tags=a%7Cb&limit=3"


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize(
    ("said", "server"),
    [
        ({}, "https://api.example/v2"),
        ({"schemes": ["http"]}, "http://api.example/v2"),
        ({"schemes": ["ws"]}, None),
        ({"host": None}, None),
    ],
)
async def test_the_server_of_swagger_2_is_made_of_its_parts(said: Any, server: str | None) -> None:
    provider = OpenApiToolProvider("api", {**SWAGGER, **said})
    async with provider.connect() as session:
        found = await session.list_tools()
        operations = session._offer.operations  # type: ignore[attr-defined]
    assert {operation.server for operation in operations.values()} == ({server} if server else set())
    assert len(found.notes) == (0 if server else 3)


NAMES = [
    ({"operationId": "repos/get-it.v1"}, "repos/get-it.v1"),
    ({}, "get_x_id_y"),
    ({"operationId": "  "}, "get_x_id_y"),
    ({"operationId": 7}, "get_x_id_y"),
]


@pytest.mark.proves("openapi.documents", "catalog.names")
@pytest.mark.parametrize(("said", "name"), NAMES)
async def test_a_tool_has_the_name_of_its_operation_or_of_its_route(said: Any, name: str) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": {}}
    spec = document("http://a", "/x/{id}/y", parameters=[parameter])
    del spec["paths"]["/x/{id}/y"]["get"]["operationId"]
    spec["paths"]["/x/{id}/y"]["get"] |= said
    assert list(await tools(spec)) == [name]


@pytest.mark.proves("openapi.documents")
async def test_two_operations_of_one_name_are_both_tools() -> None:
    spec = document("http://a", "/x")
    spec["paths"]["/y"] = {"get": spec["paths"]["/x"]["get"]}
    found = await listing(spec)
    assert [tool.name for tool in found.definitions] == ["op", "get_y"]
    assert "more than once" in found.notes[0]


@pytest.mark.proves("openapi.documents")
async def test_the_description_says_what_it_does_and_where_and_the_hints_come_from_the_method() -> None:
    said = {"summary": "Delete it", "description": "For good.", "deprecated": True}
    (tool,) = (await tools(document("http://a", "/x", "delete", **said))).values()
    assert tool.description == "Deprecated. Delete it\n\nFor good.\n\nDELETE /x"
    hints = tool.annotations
    assert (hints.title, hints.read_only, hints.destructive, hints.idempotent) == ("Delete it", False, True, True)


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize(
    ("method", "read_only", "idempotent"),
    [("get", True, True), ("head", True, True), ("post", False, False), ("patch", False, False), ("put", False, True)],
)
async def test_hints_follow_the_method(method: str, read_only: bool, idempotent: bool) -> None:
    (tool,) = (await tools(document("http://a", "/x", method))).values()
    assert (tool.annotations.read_only, tool.annotations.idempotent) == (read_only, idempotent)


@pytest.mark.proves("openapi.documents")
async def test_globs_choose_the_tools() -> None:
    spec = document("http://a", "/x")
    spec["paths"] = {f"/{name}": {"get": {"operationId": name}} for name in ("users.get", "users.delete", "pets.get")}
    assert list(await tools(spec, include=("users.*",), exclude=("*.delete",))) == ["users.get"]


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ("text", "no object but str"),
        ({"parameters": [{"$ref": "other.yaml#/a"}]}, "'other.yaml#/a' leaves the document"),
        ({"parameters": [{"$ref": "#/nowhere"}]}, "'#/nowhere' leads nowhere"),
        ({"parameters": [{"$ref": "#/components/parameters/loop"}]}, "in a circle"),
        ({"parameters": [{"in": "query"}]}, "no name"),
        ({"parameters": [{"name": "a", "in": "body"}]}, "unknown place"),
        ({"parameters": [{"name": "a", "in": "query", "style": "matrix"}]}, "style 'matrix'"),
        (
            {"requestBody": {"content": {"application/json": {"schema": {"$ref": "http://evil/x"}}}}},
            "leaves the document",
        ),
        ({"responses": {"200": {"$ref": "#/nowhere"}}}, "leads nowhere"),
        ({"responses": {"200": {"content": {"application/json": {"schema": "x"}}}}}, "a schema is an object"),
    ],
)
async def test_a_fault_of_one_operation_costs_that_operation(operation: Any, reason: str) -> None:
    spec = document("http://a", "/x")
    spec["components"] = {"parameters": {"loop": {"$ref": "#/components/parameters/loop"}}}
    spec["paths"]["/y"] = {"get": operation}
    found = await listing(spec)
    assert [tool.name for tool in found.definitions] == ["op"]
    assert found.notes[0].startswith("skipped 'get_y': ")
    assert reason in found.notes[0]


@pytest.mark.proves("openapi.documents")
async def test_callbacks_and_webhooks_are_told_and_not_offered() -> None:
    spec = document("http://a", "/x", callbacks={"done": {}})
    spec["webhooks"] = {"pinged": {}}
    found = await listing(spec)
    assert len(found.notes) == 2
    assert all("not offered" in note for note in found.notes)


FAULTY = [
    (b"", "no object|object, not NoneType"),
    (b"[]", "an object, not list"),
    (b"{}", "neither 'openapi' nor 'swagger'"),
    (b'{"openapi": "4.0.0"}', "'4.0.0' is not supported"),
    (b'{"swagger": "1.2"}', "'1.2' is not supported"),
    (b"{", "neither JSON nor YAML"),
    (b"a: &a [*a]", "neither JSON nor YAML"),
    (b"\xff\xfe\x00", "neither JSON nor YAML|an object"),
    (b"[" * 100_000, "neither JSON nor YAML|nested too deeply"),
    (b"!!python/object/apply:os.getcwd []", "neither JSON nor YAML"),
]


@pytest.mark.proves("openapi.documents")
@pytest.mark.parametrize(("content", "fault"), FAULTY)
async def test_a_file_that_is_no_document_is_said_to_be_none(tmp_path: Path, content: bytes, fault: str) -> None:
    file = tmp_path / "api.yaml"
    file.write_bytes(content)
    with pytest.raises(SourceLost, match=fault) as lost:
        await listing(str(file))
    assert str(tmp_path) not in str(lost.value)


@pytest.mark.proves("openapi.documents")
async def test_a_file_of_yaml_is_read_as_yaml_1_2(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(
        "openapi: 3.0.3\n"
        "paths:\n"
        "  /x:\n"
        "    get:\n"
        "      operationId: on\n"
        "      parameters:\n"
        "        - {name: country, in: query, schema: {type: string, enum: [no, yes, 2020-01-01]}}\n"
        "      responses:\n"
        "        200: {description: well}\n",
        encoding="utf-8",
    )
    (tool,) = (await tools(file)).values()
    assert tool.name == "on"
    assert tool.input_schema["properties"]["country"]["enum"] == ["no", "yes", "2020-01-01"]


@pytest.mark.proves("openapi.documents")
async def test_a_missing_file_or_address_is_said_without_where_it_lies(tmp_path: Path) -> None:
    with pytest.raises(SourceLost, match=r"gone\.yaml: No such file") as lost:
        await listing(str(tmp_path / "gone.yaml"))
    assert str(tmp_path) not in str(lost.value)
    async with service() as api:
        api.answer = lambda _: text(404, "")
        with pytest.raises(SourceLost, match="HTTP 404"):
            await listing(f"{api.address}/openapi.json")


# -- schemas -----------------------------------------------------------------------------------------------------------


def with_schemas(version: str, schemas: Any, **operation: Any) -> dict[str, Any]:
    spec = document("http://a", "/x", "post", version, **operation)
    spec["components"] = {"schemas": schemas}
    return spec


def takes_and_gives(schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {
        "requestBody": {"content": content, "required": True},
        "responses": {"200": {"description": "", "content": content}},
    }


async def both(spec: Any) -> tuple[Any, Any]:
    """The schema of the body and of the answer, each with what it reaches."""
    (tool,) = (await tools(spec)).values()
    given = with_reached(tool.input_schema)
    return {**given["properties"]["body"], **{k: v for k, v in given.items() if k == "$defs"}}, with_reached(
        tool.output_schema or {}
    )


CONVERTED = [
    ("3.0.3", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ("3.0.3", {"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
    (
        "3.0.3",
        {"nullable": True, "allOf": [{"type": "object"}]},
        {"anyOf": [{"allOf": [{"type": "object"}]}, {"type": "null"}]},
    ),
    ("3.0.3", {"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
    ("3.0.3", {"type": "integer", "minimum": 1, "exclusiveMinimum": False}, {"type": "integer", "minimum": 1}),
    ("3.0.3", {"type": "object", "example": {"$ref": "x"}, "xml": {}, "x-a": 1}, {"type": "object"}),
    ("3.0.3", {"type": "object", "required": True}, {"type": "object"}),
    ("3.1.0", {"type": ["string", "null"], "const": "a", "examples": []}, {"type": ["string", "null"], "const": "a"}),
    ("3.1.0", {"exclusiveMinimum": 3}, {"exclusiveMinimum": 3}),
    ("3.1.0", True, {}),
]


@pytest.mark.proves("openapi.schemas")
@pytest.mark.parametrize(("version", "schema", "expected"), CONVERTED)
async def test_a_schema_says_the_same_in_json_schema(version: str, schema: Any, expected: Any) -> None:
    (tool,) = (await tools(with_schemas(version, {}, **takes_and_gives(schema)))).values()
    assert tool.output_schema == expected


@pytest.mark.proves("openapi.schemas")
async def test_what_is_read_only_is_not_asked_for_and_what_is_write_only_is_not_promised() -> None:
    schemas = {
        "Account": {
            "type": "object",
            "required": ["id", "name", "password"],
            "properties": {
                "id": {"type": "integer", "readOnly": True},
                "name": {"type": "string"},
                "password": {"type": "string", "writeOnly": True},
                "parent": {"$ref": "#/components/schemas/Account"},
            },
        },
        "Wrapper": {"type": "object", "properties": {"account": {"$ref": "#/components/schemas/Account"}}},
        "Plain": {"type": "object"},
    }
    reference = {"allOf": [{"$ref": "#/components/schemas/Wrapper"}, {"$ref": "#/components/schemas/Plain"}]}
    given, answered = await both(with_schemas("3.0.3", schemas, **takes_and_gives(reference)))

    assert sorted(given["$defs"]) == ["AccountRequest", "Plain", "WrapperRequest"]
    assert given["$defs"]["AccountRequest"]["required"] == ["name", "password"]
    assert given["$defs"]["AccountRequest"]["properties"]["parent"] == {"$ref": "#/$defs/AccountRequest"}
    assert sorted(answered["$defs"]) == ["Account", "Plain", "Wrapper"]
    assert answered["$defs"]["Account"]["required"] == ["id", "name"]


@pytest.mark.proves("openapi.schemas")
async def test_a_discriminator_chooses_between_its_alternatives() -> None:
    schemas = {
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
        "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}},
    }
    schema = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"wuff": "#/components/schemas/Dog", "bark": "Dog"}},
    }
    found = (await source(with_schemas("3.0.3", schemas, **takes_and_gives(schema)))).tools["op"].input
    assert [found.is_valid({"body": {"kind": kind}}) for kind in ("Cat", "wuff", "bark", "Dog", "cat")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert not found.is_valid({"body": {}})


@pytest.mark.proves("openapi.schemas")
async def test_recursion_diamonds_and_odd_names_are_checked_as_they_are() -> None:
    schemas: dict[str, Any] = {
        "Tree«T/~%»": {
            "type": "object",
            "properties": {"next": {"$ref": "#/components/schemas/Tree%C2%ABT~1~0%25%C2%BB"}},
            "additionalProperties": False,
        }
    }
    for level in range(20):
        link = {"$ref": f"#/components/schemas/D{level + 1}"}
        schemas[f"D{level}"] = {"type": "object", "properties": {"a": link, "b": link}}
    schemas["D20"] = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/components/schemas/Tree%C2%ABT~1~0%25%C2%BB"},
            "diamond": {"$ref": "#/components/schemas/D0"},
        },
    }
    found = (await source(with_schemas("3.1.0", schemas, **takes_and_gives(schema)))).tools["op"].input
    deep: Any = 1
    for _ in range(20):
        deep = {"a": deep}
    assert found.is_valid({"body": {"tree": {"next": {"next": {}}}, "diamond": deep}})
    assert not found.is_valid({"body": {"tree": {"next": {"next": {"nxt": 1}}}}})
    assert not found.is_valid({"body": {"diamond": {"a": {"b": "x"}}}})


@pytest.mark.proves("openapi.schemas", "schema.quarantine")
async def test_a_schema_that_cannot_be_enforced_costs_the_tools_that_use_it() -> None:
    bad = {"type": "object", "properties": {"a": {"type": "nonsense"}}}
    schemas = {"Bad": bad, "Uses": {"items": {"$ref": "#/components/schemas/Bad"}}, "Good": {"type": "string"}}
    spec = with_schemas("3.1.0", schemas)
    for name in ("Bad", "Uses", "Good"):
        spec["paths"][f"/{name}"] = {
            "post": {"operationId": name, **takes_and_gives({"$ref": f"#/components/schemas/{name}"})}
        }
    found = await source(spec)
    assert sorted(found.tools) == ["Good", "op"]
    assert sorted(found.quarantined) == ["Bad", "Uses"]
    assert "nonsense" in found.quarantined["Uses"]


@pytest.mark.proves("openapi.schemas", "catalog.revision")
async def test_the_revision_follows_the_content_and_nothing_else() -> None:
    schemas = {"A": {"type": "string"}, "B": {"items": {"$ref": "#/components/schemas/A"}}}
    spec = with_schemas("3.1.0", schemas, **takes_and_gives({"$ref": "#/components/schemas/B"}))
    again = json.loads(json.dumps(spec, sort_keys=True))
    changed = with_schemas(
        "3.1.0", {**schemas, "A": {"type": "number"}}, **takes_and_gives({"$ref": "#/components/schemas/B"})
    )
    unused = with_schemas("3.1.0", {**schemas, "C": {}}, **takes_and_gives({"$ref": "#/components/schemas/B"}))
    revisions = [(await source(each)).revision for each in (spec, again, changed, unused)]
    assert revisions[0] == revisions[1] == revisions[3] != revisions[2]


@pytest.mark.proves("openapi.answers", "openapi.schemas")
@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ({"200": "json"}, {"type": "object"}),
        ({"201": "json", "default": "other"}, {"type": "object"}),
        ({"2XX": "json"}, {"type": "object"}),
        ({"default": "json"}, None),
        ({"404": "json"}, None),
        ({"200": "text"}, None),
        ({"200": "json", "204": None}, {"anyOf": [{"type": "object"}, {"type": "null"}]}),
        ({"204": None}, None),
        ({"200": "json", "202": "other"}, {"anyOf": [{"type": "object"}, {"type": "array"}]}),
        ({"200": "json", "201": "json"}, {"type": "object"}),
        ({"200": "json", "202": "text"}, None),
    ],
)
async def test_the_output_schema_is_that_of_the_answers_that_succeed(responses: Any, expected: Any) -> None:
    kinds = {
        "json": {"application/json": {"schema": {"type": "object"}}},
        "other": {"application/vnd.x+json": {"schema": {"type": "array"}}},
        "text": {"text/plain": {}},
        None: {},
    }
    said = {status: {"description": "", "content": kinds[kind]} for status, kind in responses.items()}
    (tool,) = (await tools(document("http://a", "/x", responses=said))).values()
    assert tool.output_schema == expected


@pytest.mark.proves("openapi.documents", "sandbox.off-loop")
async def test_reading_does_not_hold_up_the_loop() -> None:
    """A document is read in a thread; the loop turns meanwhile."""
    spec = document("http://a", "/x")
    spec["paths"] = {f"/{n}": {"get": {"operationId": f"op{n}"}} for n in range(3000)}
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        assert len(await tools(spec)) == 3000
        group.cancel_scope.cancel()
    assert turns > 10
