"""No schema makes the kit open a connection or a file, whatever it refers to and however it says so."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from codemodekit.catalog.snapshot import build_source
from codemodekit.contracts import ToolDefinition, ToolListing
from codemodekit.declarations.typescript import declare_catalog

pytestmark = pytest.mark.proves("schema.offline")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port that takes connections, and never answers one."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.setblocking(False)
        yield server


def _connections(server: socket.socket) -> int:
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def _ways(address: str) -> dict[str, Any]:
    """Schemas that lead to an address, which the rest of the name says how."""
    dialects = {"": {}, " of draft 7": {"$schema": "http://json-schema.org/draft-07/schema#"}}
    ways: dict[str, Any] = {
        f"{word}{name}": {**dialect, "properties": {"a": {keyword: address}}}
        for name, dialect in dialects.items()
        for word, keyword in {"ref": "$ref", "dynamic": "$dynamicRef"}.items()
        if not (name and word == "dynamic")
    }
    return ways | {
        "pointer": {"$ref": f"{address}#/$defs/a"},
        "relative": {"$id": address.rpartition("/")[0] + "/base", "$ref": address.rpartition("/")[2]},
        "nested id": {"$defs": {"a": {"$id": address, "items": {"$ref": "other"}}}, "$ref": address},
        "dialect": {"$schema": address},
        "items": {"items": {"allOf": [{"not": {"$ref": address}}]}},
        "large": {"properties": {"a": {"$ref": address}}, "description": "x" * (65 << 10)},
        "branching": {
            "$defs": {"n": {"anyOf": [{"properties": {"x": {"$ref": "#/$defs/n"}}}] * 2}},
            "properties": {"a": {"$ref": address}, "b": {"$ref": "#/$defs/n"}},
        },
        "look ahead": {"properties": {"a": {"$ref": address}, "b": {"pattern": "(?=a)"}}},
    }


def _listed(schemas: dict[str, Any]) -> ToolListing:
    given = [ToolDefinition(name=f"{name}, in", input_schema=schema) for name, schema in schemas.items()]
    answered = [ToolDefinition(name=f"{name}, out", output_schema=schema) for name, schema in schemas.items()]
    return ToolListing(definitions=(*given, *answered, ToolDefinition(name="neighbour")))


def test_an_address_on_the_network_is_never_called(listener: socket.socket) -> None:
    listing = _listed(_ways(f"http://127.0.0.1:{listener.getsockname()[1]}/schemas/pet.json"))
    source = build_source("s", listing)
    assert set(source.tools) == {"neighbour"}
    assert set(source.quarantined) == {one.name for one in listing.definitions} - {"neighbour"}
    declare_catalog({"s": listing.definitions})
    assert _connections(listener) == 0


def test_the_listener_would_have_seen_a_connection(listener: socket.socket) -> None:
    socket.create_connection(listener.getsockname(), timeout=5).close()
    assert _connections(listener) == 1


@pytest.mark.parametrize("form", ["file://{}", "{}", "file:{}", "//localhost{}"])
def test_a_file_is_never_opened(tmp_path: Path, form: str) -> None:
    file = tmp_path / "pet.json"
    file.write_text(json.dumps({"type": "string"}), encoding="utf-8")
    listing = _listed(_ways(form.format(file.as_posix())))
    assert set(build_source("s", listing).tools) == {"neighbour"}
    assert (
        ": string"
        not in declare_catalog({"s": listing.definitions}).split("declare const tools: {")[1].split(";", 1)[1]
    )


@pytest.mark.parametrize("address", ["urn:example:pet", "urn:uuid:deadbeef", "data:application/json,{}", "pet.json"])
def test_a_name_that_is_not_in_the_schema_is_looked_for_nowhere(address: str) -> None:
    schemas = {name: schema for name, schema in _ways(address).items() if name not in ("relative", "nested id")}
    assert set(build_source("s", _listed(schemas)).tools) == {"neighbour"}


def test_a_name_that_is_in_the_schema_is_found_there() -> None:
    schema = {"$ref": "urn:example:pet", "$defs": {"pet": {"$id": "urn:example:pet", "type": "string"}}}
    check = (
        build_source("s", ToolListing(definitions=(ToolDefinition(name="t", input_schema=schema),))).tools["t"].input
    )
    assert check.is_valid("a") and not check.is_valid(1)
