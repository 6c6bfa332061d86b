"""A listing as a catalogue value."""

from __future__ import annotations

from typing import Any

import pytest

from codemodekit.catalog.addresses import callable_of
from codemodekit.catalog.near import near_names
from codemodekit.catalog.snapshot import Catalog, SourceCatalog, build_source, catalog_of
from codemodekit.contracts import ToolAnnotations, ToolDefinition, ToolListing

from .fakes import listing, tool


@pytest.mark.proves("catalog.names")
@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("git", "log", "tools.git.log"),
        ("my-src", "do_it", 'tools["my-src"].do_it'),
        ("crm", "contacts.find", "tools.crm.contacts.find"),
        ("crm", "contacts.find-all", 'tools.crm["contacts.find-all"]'),
        ("crm", "contacts.then", 'tools.crm["contacts.then"]'),
        ("crm", "a..b", 'tools.crm["a..b"]'),
        ("crm", "", 'tools.crm[""]'),
        ("crm", 'say "hi"\n', 'tools.crm["say \\"hi\\"\\n"]'),
        ("crm", "1st", 'tools.crm["1st"]'),
        ("crm", "größe", 'tools.crm["größe"]'),
        ("crm", "delete", "tools.crm.delete"),
        ("then", "x", 'tools.$call("then", "x", args)'),
        ("crm", "then", 'tools.$call("crm", "then", args)'),
        ("$call", "x", 'tools.$call("$call", "x", args)'),
        ("a.b", "c", 'tools["a.b"].c'),
    ],
)
def test_every_name_has_a_way_to_be_called(source: str, name: str, expected: str) -> None:
    assert callable_of(source, name) == expected


@pytest.mark.proves("schema.quarantine", "mcp.app-only")
def test_tools_are_sorted_into_callable_hidden_and_quarantined() -> None:
    built = build_source(
        "app",
        listing(
            tool("good", output_schema={"type": "object"}),
            tool("for_the_app", model_visible=False),
            tool("bad_input", input_schema={"type": "objekt"}),
            tool("bad_output", output_schema={"$ref": "http://example.com/s"}),
        ),
    )
    assert list(built.tools) == ["good"]
    assert built.tools["good"].callable == "tools.app.good"
    assert built.tools["good"].output is not None
    assert built.hidden == {"for_the_app"}
    assert list(built.quarantined) == ["bad_input", "bad_output"]
    assert built.quarantined["bad_input"].startswith("input schema: the schema is invalid at /type")
    assert built.quarantined["bad_output"].startswith("output schema: $ref 'http://example.com/s' leaves the schema")


@pytest.mark.proves("catalog.names")
def test_the_first_of_two_tools_of_one_name_counts() -> None:
    built = build_source("a", listing(tool("x", "first"), tool("x", "second"), tool("x", model_visible=False)))
    assert built.tools["x"].definition.description == "first"
    assert built.hidden == frozenset()
    assert len(built.notes) == 2


@pytest.mark.proves("catalog.names")
def test_names_that_differ_by_case_or_separator_stay_apart() -> None:
    built = build_source("a", listing("getIssue", "get_issue", "get-issue", "GetIssue"))
    assert {found.callable for found in built.tools.values()} == {
        "tools.a.getIssue",
        "tools.a.get_issue",
        'tools.a["get-issue"]',
        "tools.a.GetIssue",
    }


@pytest.mark.proves("catalog.names")
@pytest.mark.parametrize("name", ["", "x" * 600, "\ud800", 5])
def test_a_name_nobody_could_write_is_left_out_with_a_note(name: Any) -> None:
    built = build_source("a", listing(tool(name), tool("fine")))
    assert list(built.tools) == ["fine"]
    assert len(built.notes) == 1


@pytest.mark.proves("catalog.public-face")
def test_what_the_listing_noted_is_kept() -> None:
    built = build_source("a", ToolListing(definitions=(), notes=("a page came back",)))
    assert built.notes == ("a page came back",)


@pytest.mark.proves("schema.quarantine")
def test_a_description_that_is_not_text_puts_its_tool_aside() -> None:
    built = build_source("a", listing(tool("x", 5), tool("y")))  # type: ignore[arg-type]
    assert list(built.tools) == ["y"]
    assert "not text" in built.quarantined["x"]


def with_tool(**changes: Any) -> str:
    values: dict[str, Any] = {"name": "x", "description": "d", "input_schema": {"type": "object", "title": "t"}}
    return build_source("a", listing(ToolDefinition(**{**values, **changes}))).revision


@pytest.mark.proves("catalog.revision")
def test_the_revision_does_not_depend_on_order_or_sideband() -> None:
    assert with_tool() == with_tool(input_schema={"title": "t", "type": "object"}, sideband={"_meta": {"at": 5}})
    one, other = tool("one"), tool("other")
    assert build_source("a", listing(one, other)).revision == build_source("a", listing(other, one)).revision
    a, b = build_source("a", listing("x")), build_source("b", listing("y"))
    assert catalog_of({"a": a, "b": b}).revision == catalog_of({"b": b, "a": a}).revision


@pytest.mark.proves("catalog.revision")
def test_the_revision_is_the_same_in_every_process() -> None:
    assert with_tool() == "69f1b181f9dc94b1"


@pytest.mark.proves("catalog.revision")
@pytest.mark.parametrize(
    "change",
    [
        {"name": "y"},
        {"description": "other"},
        {"input_schema": {"type": "object"}},
        {"output_schema": {}},
        {"annotations": ToolAnnotations(read_only=True)},
        {"model_visible": False},
        {"output_mismatch": "warn"},
    ],
)
def test_every_change_that_can_be_seen_changes_the_revision(change: dict[str, Any]) -> None:
    assert with_tool(**change) != with_tool()


@pytest.mark.proves("error.near-names")
def test_a_catalogue_names_what_is_near() -> None:
    built = build_source("github", listing("list_issues", "get_issue", "create_pull_request", "zzz"))
    catalog = Catalog().with_source(built).with_source(SourceCatalog("gitlab"))
    assert catalog.near_tools("github", "listIssue") == ("list_issues", "get_issue")
    assert catalog.near_tools("nowhere", "x") == ()
    assert catalog.near_tools("github", "☃") == ()


@pytest.mark.proves("error.near-names")
def test_near_names_are_three_at_most_and_always_the_same() -> None:
    names = [f"get_user_{index:05}" for index in range(5_000)]
    assert near_names("get_user_00010", names) == ("get_user_00010", "get_user_00001", "get_user_00011")
    assert near_names("get_user_00010", reversed(names)) == near_names("get_user_00010", names)
    assert near_names("x" * 100_000, names) == ()


@pytest.mark.proves("catalog.atomic")
def test_a_contribution_replaces_only_its_own_source() -> None:
    before = catalog_of({name: build_source(name, listing("x")) for name in ("a", "b")})
    after = before.with_source(build_source("a", listing("y")))
    assert after.sources["b"] is before.sources["b"]
    assert list(after.sources["a"].tools) == ["y"]
    assert list(before.sources["a"].tools) == ["x"]
    with pytest.raises(TypeError):
        after.sources["c"] = after.sources["b"]  # type: ignore[index]
