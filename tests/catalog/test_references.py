"""References in schemas: the validator and the declarations come to the same end, soon, and nothing is fetched."""

from __future__ import annotations

import re
import socket
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemodekit.catalog.schemas import SchemaUnsupported, compile_schema
from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import declare_catalog
from fuzzing import fuzzed

pytestmark = pytest.mark.proves("schema.offline", "schema.bounded", "types.bounded")

NAMES = ["a", "a/b", "a~b", "a%b", "ä", "", "0", "x y", '"']
POINTERS = st.sampled_from([
    "#", "#/", "#a", "#anchor", "#/$defs/a", "#/$defs/a~1b", "#/$defs/a~0b", "#/$defs/a%25b", "#/$defs/%C3%A4",
    "#/$defs/ä", "#/$defs/", "#/$defs/0", "#/$defs/x%20y", "#/$defs/%22", "#/properties/a", "#/allOf/0",
    "#/$defs/nope", "#/$defs/a/..", "http://127.0.0.1:1/s.json", "https://example.com/s#/$defs/a",
    "file:///etc/passwd", "other.json", "//x", "urn:x:y", "#/$defs/a~2", "#%", "a#b#c", "/$defs/a",
    "#/$defs/a/properties/b", "http://json-schema.org/draft-07/schema#",
])  # fmt: skip
LEAVES = st.sampled_from([{"type": "string"}, {"type": "integer"}, True, {}, {"$anchor": "anchor", "type": "object"}])
REFERENCES = st.builds(
    lambda to, keyword: {keyword: to}, POINTERS, st.sampled_from(["$ref", "$ref", "$ref", "$dynamicRef"])
)
SCHEMAS = st.recursive(
    LEAVES | REFERENCES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "additionalProperties": inner,
            "$id": st.sampled_from(["http://127.0.0.1:1/x.json", "urn:x:y", "#a"]),
            "$ref": POINTERS,
        },
    ),
    max_leaves=6,
)
DOCUMENTS = st.builds(
    lambda root, definitions: {"type": "object", **(root if isinstance(root, dict) else {}), "$defs": definitions},
    SCHEMAS,
    st.dictionaries(st.sampled_from(NAMES), SCHEMAS, max_size=4),
)
VALUES: list[Any] = [{}, {"a": 1}, {"a": "x", "b": {}}, {"a": {"a": {"a": 1}}}]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something wants to be fetched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@fuzzed(250)
@given(DOCUMENTS)
def test_references_end_the_same_for_validator_and_declarations(document: dict[str, Any]) -> None:
    definition = ToolDefinition(name="t", input_schema=document)
    text = declare_catalog({"s": [definition]})
    assert text == declare_catalog({"s": [definition]})
    assert not re.search(r"[:<|] any\b", text)
    try:
        check = compile_schema(document)
    except SchemaUnsupported as refused:
        assert str(refused)
        return
    for value in VALUES:
        assert check.is_valid(value) is (check.errors(value) == ())


@pytest.mark.parametrize(
    ("pointer", "name"),
    [
        ("#/$defs/a~1b", "a/b"),
        ("#/$defs/a~0b", "a~b"),
        ("#/$defs/a%25b", "a%b"),
        ("#/$defs/%C3%A4", "ä"),
        ("#/$defs/x%20y", "x y"),
        ("#/$defs/%22", '"'),
        ("#/$defs/", ""),
        ("#here", "a"),
    ],
)
def test_an_escaped_pointer_means_the_same_to_both(pointer: str, name: str) -> None:
    definitions = {
        name: {"$anchor": "here", "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    }
    schema = {"type": "object", "properties": {"x": {"$ref": pointer}}, "required": ["x"], "$defs": definitions}

    check = compile_schema(schema)
    text = declare_catalog({"s": [ToolDefinition(name="t", input_schema=schema)]})

    assert check.is_valid({"x": {"n": 1}})
    assert not check.is_valid({"x": {"n": "1"}})
    assert "n: number" in text
