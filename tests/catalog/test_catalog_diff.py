"""Two revisions of a catalogue: saved and read back, compared, and the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemodekit._json import ABSENT
from codemodekit.catalog.diff import CatalogDiff, Change, ToolChange, diff_catalogs
from codemodekit.catalog.revision import CatalogRevision
from codemodekit.catalog.snapshot import build_source, catalog_of
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.errors import ConfigurationError

from .fakes import listing, tool

pytestmark = pytest.mark.proves("catalog.diff")

SCHEMA = {"type": "object", "properties": {"a/b": {"type": "string"}, "n": {"enum": [1, 2]}}, "required": ["n"]}


def revision(missing: tuple[str, ...] = (), **sources: Any) -> CatalogRevision:
    catalog = catalog_of({name: build_source(name, listing(*tools)) for name, tools in sources.items()})
    return CatalogRevision.of(catalog, [*sources, *missing])


def again(taken: CatalogRevision) -> CatalogRevision:
    return CatalogRevision.from_wire(json.loads(json.dumps(taken.to_wire())))


def one(**fields: Any) -> ToolDefinition:
    return ToolDefinition(**{"name": "x", "input_schema": SCHEMA, **fields})


def test_what_was_added_removed_and_changed_is_told_sorted() -> None:
    before = revision(a=["gone", "kept", tool("said", "one")], old=["z"], same=["s"])
    after = revision(a=["kept", "new", tool("said", "two")], young=["y", "x"], same=["s"])
    assert diff_catalogs(before, after) == CatalogDiff(
        before=before.revision,
        after=after.revision,
        sources_added=("young",),
        sources_removed=("old",),
        added=(("a", "new"), ("young", "x"), ("young", "y")),
        removed=(("a", "gone"), ("old", "z")),
        changed=(ToolChange("a", "said", (Change("description", "one", "two"),)),),
    )


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"description": "a"}, {"description": "b"}, [("description", "a", "b", ())]),
        (
            {},
            {"input_schema": {**SCHEMA, "properties": {"a/b": {"type": "number"}, "n": {"enum": [1, 3]}}}},
            [("inputSchema", SCHEMA, ..., ("/properties/a~1b/type", "/properties/n/enum/1"))],
        ),
        (
            {},
            {"input_schema": {"type": "object", "required": ["n", "m"]}},
            [("inputSchema", SCHEMA, ..., ("/properties", "/required"))],
        ),
        ({}, {"output_schema": {"type": "object"}}, [("outputSchema", ABSENT, {"type": "object"}, ())]),
        ({"output_schema": {}}, {}, [("outputSchema", {}, ABSENT, ())]),
        (
            {"annotations": ToolAnnotations(read_only=True, title="A")},
            {"annotations": ToolAnnotations(read_only=False, title="A", open_world=True)},
            [("annotations", ..., ..., ("/openWorld", "/readOnly"))],
        ),
        ({}, {"output_mismatch": "warn"}, [("outputMismatch", ABSENT, "warn", ())]),
        (
            {"description": "a", "annotations": ToolAnnotations(idempotent=True)},
            {"description": "b"},
            [("annotations", {"idempotent": True}, {}, ("/idempotent",)), ("description", "a", "b", ())],
        ),
    ],
)
def test_each_aspect_of_a_tool_is_told_with_its_place(before: Any, after: Any, changes: list[Any]) -> None:
    found = diff_catalogs(revision(s=[one(**before)]), again(revision(s=[one(**after)])))
    assert (found.equal, found.added, found.removed) == (False, (), ())
    assert len(found.changed[0].changes) == len(changes)
    for change, (aspect, old, new, at) in zip(found.changed[0].changes, changes, strict=True):
        assert (change.aspect, change.at) == (aspect, at)
        assert old in (..., change.before)
        assert new in (..., change.after)


def test_a_tool_that_cannot_be_called_any_more_is_changed_and_not_removed() -> None:
    fine = revision(s=[one(), tool("y")])
    broken = revision(s=[one(input_schema={"$ref": "https://example.com/x"}), tool("y", model_visible=False)])
    found = diff_catalogs(fine, broken)
    assert found.removed == ()
    assert [{change.aspect for change in each.changes} for each in found.changed] == [
        {"annotations", "description", "inputSchema", "quarantined"},
        {"annotations", "description", "inputSchema", "hidden"},
    ]


def test_a_source_that_was_down_is_not_compared_and_nothing_of_it_seems_gone() -> None:
    whole, part = revision(a=["x"], b=["y"]), revision(missing=("a",), b=["y"])
    for found in (diff_catalogs(whole, part), diff_catalogs(again(part), whole)):
        assert (found.removed, found.added, found.not_compared, found.equal) == ((), (), ("a",), False)


def test_equal_catalogues_are_equal_whatever_their_order_and_after_being_saved() -> None:
    first = revision(a=["x", one(name="y")], b=["z", tool("w", "é\ud800")])
    second = revision(b=[tool("w", "é\ud800"), "z"], a=[one(name="y"), "x"])
    assert diff_catalogs(first, again(second)).equal
    assert json.dumps(first.to_wire(), sort_keys=True) == json.dumps(again(second).to_wire(), sort_keys=True)


def test_a_great_difference_between_schemas_is_told_in_part() -> None:
    def wide(kind: str) -> ToolDefinition:
        return one(input_schema={"type": "object", "properties": {f"p{n}": {"type": kind} for n in range(5000)}})

    found = diff_catalogs(revision(s=[wide("string")]), revision(s=[wide("number")]))
    assert len(found.changed[0].changes[0].at) == 20


texts = st.text(st.characters(codec="utf-8"), max_size=3)
tools = st.builds(
    ToolDefinition,
    name=st.sampled_from(["x", "y", "x.y", "X"]),
    description=texts,
    input_schema=st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(texts, st.just({}))}),
    output_schema=st.none() | st.just({"type": "object"}) | st.just({"$ref": "#/nowhere"}),
    annotations=st.builds(ToolAnnotations, title=st.none() | texts, read_only=st.none() | st.booleans()),
    model_visible=st.booleans(),
    output_mismatch=st.sampled_from(["error", "warn"]),
)
catalogs = st.dictionaries(st.sampled_from(["a", "b", "a.b"]), st.lists(tools, max_size=3), max_size=3)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(catalogs, catalogs)
@pytest.mark.proves("catalog.revision")
def test_revisions_are_equal_exactly_when_there_is_no_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = revision(**one), again(revision(**other))
    found, back = diff_catalogs(first, second), diff_catalogs(second, first)
    assert found.equal == (first.revision == second.revision)
    assert (found.added, found.removed) == (back.removed, back.added)
    assert [(each.source, each.tool) for each in found.changed] == [(each.source, each.tool) for each in back.changed]
    assert diff_catalogs(first, again(first)).equal


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda wire: wire["sources"]["s"]["x"].update(description="other"), "changed after it was saved"),
        (lambda wire: wire.update(catalogRevision="0"), "changed after it was saved"),
        (lambda wire: wire.update(catalogFormat=2), "format 1"),
        (lambda wire: wire.update(sources=[]), "'sources'"),
        (lambda wire: wire.update(missing="a"), "'missing'"),
        (lambda wire: wire["sources"].update(s=[]), "'s'"),
        (lambda wire: wire["sources"]["s"].update(x=5), "s.x"),
        (lambda wire: wire["sources"]["s"]["x"].pop("annotations"), "'annotations'"),
        (lambda wire: wire["sources"]["s"]["x"].pop("inputSchema"), "s.x"),
        (lambda wire: wire["sources"]["s"]["x"].update(annotations={"evil": 1}), "s.x"),
        (lambda wire: wire["sources"]["s"]["x"].update(description=[]), "s.x"),
        (lambda wire: wire.clear(), "format 1"),
    ],
)
def test_what_is_no_saved_catalogue_is_refused(damage: Any, said: str) -> None:
    wire = json.loads(json.dumps(revision(s=[one()]).to_wire()))
    damage(wire)
    with pytest.raises(ConfigurationError, match=said):
        CatalogRevision.from_wire(wire)


@pytest.mark.parametrize("wire", [None, 5, "text", [], [{}]], ids=repr)
def test_what_is_no_object_is_no_saved_catalogue(wire: Any) -> None:
    with pytest.raises(ConfigurationError):
        CatalogRevision.from_wire(wire)


def test_nothing_that_only_trusted_host_code_sees_is_saved() -> None:
    definition = one(sideband={"_meta": {"token": "hunter2"}})
    assert "hunter2" not in json.dumps(revision(s=[definition]).to_wire())


PROCESS = """
import json, sys
from codemodekit.catalog.revision import CatalogRevision
from codemodekit.catalog.snapshot import build_source, catalog_of
from codemodekit.contracts import ToolDefinition, ToolListing
names = list({"b", "a", "c", "é", "a.b"})
tools = [ToolDefinition(name=n, input_schema={"type": "object", "required": list({"p", "q"} & {"p"}),
         "properties": {k: {"type": "string"} for k in set("xyzw")}}) for n in names]
catalog = catalog_of({s: build_source(s, ToolListing(definitions=tuple(tools))) for s in names})
print(json.dumps(CatalogRevision.of(catalog).to_wire()))
"""


@pytest.mark.proves("catalog.revision")
def test_saved_bytes_and_revision_are_the_same_in_processes_that_order_sets_differently() -> None:
    def process(seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run([sys.executable, "-c", PROCESS], env=environment, capture_output=True, check=True).stdout

    first, second = (json.loads(process(seed)) for seed in ("1", "2"))
    assert first["catalogRevision"] == second["catalogRevision"]
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert CatalogRevision.from_wire(first).revision == second["catalogRevision"]
