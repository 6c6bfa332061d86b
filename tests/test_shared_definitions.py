"""The table of schemas that tools share: what a schema reaches, and one hash for equal content."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemodekit.shared_definitions import SharedDefinitions, shared_definitions_of, with_reached

pytestmark = pytest.mark.proves("openapi.schemas", "catalog.revision")


def link(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def test_a_schema_keeps_of_its_table_what_it_can_reach() -> None:
    table = SharedDefinitions({"A": {"items": link("B")}, "B": {"properties": {"a": link("A")}}, "C": {}})
    schema = {"type": "object", "properties": {"a": link("A")}, "$defs": table}

    assert with_reached(schema) == {**schema, "$defs": {"A": table["A"], "B": table["B"]}}
    assert with_reached({"type": "object", "$defs": table}) == {"type": "object"}


def test_other_definitions_are_no_table() -> None:
    schema = {"$defs": {"A": {}}, **link("A")}
    assert with_reached(schema) is schema
    assert shared_definitions_of(schema) is None
    assert shared_definitions_of(True) is None


def test_the_hash_of_an_entry_is_that_of_all_it_leads_to_and_of_nothing_else() -> None:
    before = SharedDefinitions({"A": link("B"), "B": link("C"), "C": {"type": "string"}, "D": {}})
    after = SharedDefinitions({"D": {"title": "new"}, "C": {"type": "number"}, "B": link("C"), "A": link("B")})
    same = SharedDefinitions({"C": {"type": "string"}, "A": link("B"), "B": link("C")})

    assert all(before.digest_of(name) != after.digest_of(name) for name in "ABCD")
    assert all(before.digest_of(name) == same.digest_of(name) for name in "ABC")


def test_a_change_within_a_ring_changes_every_hash_of_it() -> None:
    ring = {"A": {"items": link("B")}, "B": {"items": link("C")}, "C": {"items": link("A")}, "D": link("A")}
    changed = {**ring, "C": {"items": link("A"), "title": "x"}}
    one, other = SharedDefinitions(ring), SharedDefinitions(changed)

    assert all(one.digest_of(name) != other.digest_of(name) for name in "ABCD")
    assert len({one.digest_of(name) for name in "ABCD"}) == 4


def test_ten_thousand_entries_in_a_row_are_no_recursion() -> None:
    table = SharedDefinitions({f"N{n}": link(f"N{n + 1}") for n in range(10_000)} | {"N10000": {}})
    assert len(table.digest_of("N0")) == 32
    assert len(table.reached_from(["N0"])) == 10_001


NAMES = [f"N{n}" for n in range(6)]
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3), min_size=1)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(GRAPHS, st.permutations(NAMES), st.sampled_from(NAMES))
def test_the_order_of_questions_and_entries_does_not_matter(
    graph: dict[str, list[str]], order: list[str], changed: str
) -> None:
    entries = {name: {"allOf": [link(to) for to in targets]} for name, targets in graph.items()}
    one = SharedDefinitions(entries)
    other = SharedDefinitions({name: entries[name] for name in order if name in entries})
    touched = SharedDefinitions({**entries, changed: {"title": "changed"}} if changed in entries else entries)

    hashes = {name: other.digest_of(name) for name in order if name in entries}
    assert {name: one.digest_of(name) for name in hashes} == hashes
    for name in hashes:
        reaches = changed in one.reached_from([name])
        assert (touched.digest_of(name) != hashes[name]) == (reaches and entries.get(changed) != {"title": "changed"})
