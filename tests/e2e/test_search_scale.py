"""A catalogue of 47,000 tools of 300 servers, whole: built, searched, listed in a program, refreshed."""

from __future__ import annotations

import pytest
from bench.recall.queries import queries
from bench.recall.sources import open_world
from bench.recall.world import world
from tests.catalog.fakes import until

from codemodekit.contracts import ToolDefinition

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SIZE = 47_000
LISTING = "let n = 0; for (const source of Object.keys(tools)) n += Object.keys(tools[source]).length; return n"


@pytest.mark.proves("search.scale", "search.typo", "catalog.atomic")
async def test_forty_seven_thousand_tools_are_found_listed_and_refreshed() -> None:
    made = world(SIZE)
    known = {(tool.source, tool.name): tool for tool in made}
    async with open_world(made) as (code_mode, sources):
        assert (await code_mode.search_tools("*"))["total"] == SIZE
        missed = []
        for query in queries(made[:25]):
            if query.kind in ("name", "words", "typo", "split"):
                found = (await code_mode.search_tools(query.text))["results"]
                if not any(query.counts(known[each["source"], each["tool"]]) for each in found):
                    missed.append(query.text)
        assert missed == []
        assert (await code_mode.run(LISTING)).value == SIZE
        before = code_mode.snapshot()
        sources[0].tools.append(ToolDefinition(name="fresh_from_the_press", description="Something new."))
        sources[0].changed.set()
        await until(lambda: code_mode.snapshot() is not before)
        after = code_mode.snapshot()
        kept = [name for name in before.sources if after.sources[name] is before.sources[name]]
        assert len(kept) == len(sources) - 1, "the others are the same values as before"
        assert (await code_mode.search_tools("fresh from the press"))["results"][0]["tool"] == "fresh_from_the_press"
