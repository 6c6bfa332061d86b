"""Finding tools."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codemodekit.catalog.manager import CatalogManager, SourceState
from codemodekit.catalog.search.candidates import candidates_of
from codemodekit.catalog.search.index import SearchIndex
from codemodekit.catalog.search.query import query_of
from codemodekit.catalog.search.request import SearchRefused
from codemodekit.catalog.search.tool_search import ToolSearch
from codemodekit.catalog.snapshot import build_source
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.errors import ClosedError, SourceLost

from .fakes import FakeSource, Naps, listing, tool, until

pytestmark = pytest.mark.anyio


def properties(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


READ = ToolAnnotations(read_only=True)
GITHUB = (
    tool("create_issue", "Open a new issue in a repository", input_schema=properties("owner", "repo", "title")),
    tool("list_pull_requests", "List the pull requests of a repository", annotations=READ),
    tool("mergePullRequest", "Merge one"),
    tool("get_file_contents", "Read a file", annotations=READ, input_schema=properties("path", "branchName")),
    tool("S3Upload", ""),
    tool("wfrun", ""),
)
MAIL = (
    tool("messages.send", "Send an e-mail to somebody", input_schema=properties("to", "subject")),
    tool("messages.find", "Find e-mails"),
    tool("secret", "for the app only", model_visible=False),
    tool("broken", "cannot be enforced", input_schema={"type": "objekt"}),
)


@asynccontextmanager
async def searching(*sources: FakeSource, **options: Any) -> AsyncIterator[ToolSearch]:
    manager = CatalogManager(sources, sleep=Naps(wait=True))
    await manager.start()
    await manager.settled(5)
    try:
        yield ToolSearch(manager, **options)
    finally:
        await manager.aclose()


def office() -> tuple[FakeSource, FakeSource]:
    return FakeSource("github", *GITHUB), FakeSource("my-mail", *MAIL)


def found(answer: dict[str, Any]) -> list[str]:
    return [result["tool"] for result in answer["results"]]


@pytest.mark.proves("search.answer")
async def test_an_answer_has_the_agreed_form() -> None:
    async with searching(*office()) as search:
        answer = await search.search("pull requests")
        revision = answer.pop("catalogRevision")
        assert isinstance(revision, str)
        assert answer == {
            "query": "pull requests",
            "total": 2,
            "returned": 2,
            "truncated": False,
            "results": [
                {
                    "source": "github",
                    "tool": "list_pull_requests",
                    "callable": "tools.github.list_pull_requests",
                    "description": "List the pull requests of a repository",
                    "readOnly": True,
                },
                {
                    "source": "github",
                    "tool": "mergePullRequest",
                    "callable": "tools.github.mergePullRequest",
                    "description": "Merge one",
                },
            ],
        }


@pytest.mark.proves("search.ranking")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("tools.github.create_issue", "create_issue"),
        ("tools.github.create_issue({ title: 'x' })", "create_issue"),
        ("github.create_issue", "create_issue"),
        ("create_issue", "create_issue"),
        ("createIssue", "create_issue"),
        ("CREATE-ISSUE", "create_issue"),
        ("createissue", "create_issue"),
        ('tools["my-mail"].messages.send', "messages.send"),
        ("messages.send", "messages.send"),
        ("my mail send", "messages.send"),
        ("open issues", "create_issue"),
        ("merge a pull request", "mergePullRequest"),
        ("pullrequests merge", "mergePullRequest"),
        ("file", "get_file_contents"),
        ("branch name", "get_file_contents"),
        ("branchname", "get_file_contents"),
        ("s3", "S3Upload"),
        ("upload", "S3Upload"),
        ("wfrun", "wfrun"),
        ("please show me how to send something to someone", "messages.send"),
        ("subject", "messages.send"),
        ("creat isue", "create_issue"),
        ("craete_issue", "create_issue"),
        ("mrege pul reqest", "mergePullRequest"),
        ("uplaod", "S3Upload"),
        ("wfurn", "wfrun"),
        ("conten", "get_file_contents"),
        ("git hub create", "create_issue"),
        ("quarterly issue statistics", "create_issue"),
    ],
)
async def test_what_is_meant_comes_first(query: str, first: str) -> None:
    async with searching(*office()) as search:
        answer = await search.search(query)
        assert found(answer)[0] == first


@pytest.mark.proves("search.ranking")
@pytest.mark.parametrize("fillers", [0, 700], ids=["few tools", "many tools"])
async def test_a_word_that_was_written_goes_before_one_that_was_guessed(fillers: int) -> None:
    git = FakeSource(
        "git",
        tool("git_reset", "Unstages everything"),
        tool("git_log", "Shows the commit logs"),
        *(tool(f"other{number}", "Shows one of very many commits") for number in range(fillers)),
    )
    async with searching(git) as search:
        first = found(await search.search("resat commits", limit=8))  # nearest to `resat` is `reset`
        if fillers:
            assert "git_reset" not in first
        else:
            assert first == ["git_log", "git_reset"]
        assert "git_reset" not in found(await search.search("recent commits")), "a word of the language is no slip"
        assert found(await search.search("comit logs"))[0] == "git_log"


@pytest.mark.proves("search.ranking")
async def test_the_name_of_a_source_finds_its_tools() -> None:
    async with searching(*office()) as search:
        assert {result["source"] for result in (await search.search("github", limit=8))["results"]} == {"github"}


@pytest.mark.proves("search.hidden")
async def test_hidden_and_quarantined_tools_are_never_found() -> None:
    async with searching(*office()) as search:
        for query in ("secret", "broken", "app enforced", "*"):
            assert not {"secret", "broken"} & set(found(await search.search(query, limit=8)))


@pytest.mark.proves("search.hidden", "search.census")
async def test_tools_of_a_lost_source_are_left_out_and_the_census_says_so() -> None:
    github, mail = office()
    async with searching(github, mail) as search:
        mail.dies(SourceLost("gone"))
        await until(lambda: search._manager.state("my-mail") == SourceState.UNAVAILABLE)
        assert found(await search.search("messages.send")) == []
        answer = await search.search("*")
        assert answer["namespaces"] == [{"source": "github", "namespace": "tools.github", "tools": 6}]
        assert answer["diagnostic"] == "not every source can be called now: 'my-mail' is unavailable"
        answer = await search.search("send", source="my-mail")
        assert answer["results"] == []
        assert answer["diagnostic"] == "the source 'my-mail' is unavailable; its tools cannot be called now"


@pytest.mark.proves("search.census")
async def test_a_star_gives_the_census_and_a_first_page() -> None:
    async with searching(*office()) as search:
        answer = await search.search("*")
        assert answer["namespaces"] == [
            {"source": "github", "namespace": "tools.github", "tools": 6},
            {"source": "my-mail", "namespace": 'tools["my-mail"]', "tools": 2},
        ]
        assert (answer["total"], answer["returned"], answer["truncated"]) == (8, 5, True)
        rest = await search.search("*", cursor=answer["nextCursor"])
        assert found(answer) + found(rest) == [
            *sorted(t.name for t in GITHUB),
            "messages.find",
            "messages.send",
        ]
        assert "namespaces" not in rest
        assert "nextCursor" not in rest


@pytest.mark.proves("search.census")
async def test_a_star_with_a_source_lists_that_source() -> None:
    async with searching(*office()) as search:
        answer = await search.search("*", source="my-mail")
        assert found(answer) == ["messages.find", "messages.send"]
        assert "namespaces" not in answer


@pytest.mark.proves("error.near-names", "search.answer")
async def test_a_source_that_does_not_exist_is_answered_with_near_ones() -> None:
    async with searching(*office()) as search:
        answer = await search.search("x", source="my_mail")
        assert answer["diagnostic"] == "there is no source 'my_mail'; did you mean 'my-mail'?"
        assert answer["suggestions"] == ["my-mail"]
        assert (answer["total"], answer["results"]) == (0, [])


@pytest.mark.proves("search.answer")
async def test_a_source_filter_leaves_the_others_out() -> None:
    async with searching(*office()) as search:
        assert {
            result["source"] for result in (await search.search("find file send issue", source="my-mail"))["results"]
        } == {"my-mail"}


@pytest.mark.proves("search.typo")
async def test_nothing_found_comes_with_suggestions_where_a_name_is_near() -> None:
    async with searching(*office()) as search:
        answer = await search.search("creationissues")
        assert answer["results"] == []
        assert answer["suggestions"] == ["tools.github.create_issue"]


@pytest.mark.proves("search.paging")
async def test_pages_follow_each_other_without_gap_or_repetition() -> None:
    source = FakeSource("a", *(tool(f"get_thing_{index}", "fetch a thing", annotations=READ) for index in range(900)))
    async with searching(source, FakeSource("b", "make_thing", "get_other")) as search:
        seen: list[str] = []
        cursor = None
        while True:
            answer = await search.search("get thing", limit=8, cursor=cursor)
            seen += found(answer)
            if not answer["truncated"]:
                break
            cursor = answer["nextCursor"]
        assert answer["total"] == 902
        assert len(seen) == len(set(seen)) == 902


@pytest.mark.proves("search.paging")
async def test_a_cursor_is_bound_to_its_catalogue_and_query() -> None:
    github, mail = office()
    async with searching(github, mail) as search:
        cursor = (await search.search("*"))["nextCursor"]
        other = await search.search("issue", cursor=cursor)
        assert other["diagnostic"] == "the cursor belongs to another query; search again without it"
        before = search._manager.snapshot()
        mail.changes("messages.send")
        await until(lambda: search._manager.snapshot() is not before)
        stale = await search.search("*", cursor=cursor)
        assert stale["diagnostic"] == "the tools have changed since this cursor was given; search again without it"
        assert stale["results"] == []


@pytest.mark.proves("search.paging")
@pytest.mark.parametrize("cursor", ["", "x", "§", "e30", "W10", "WzEsMiwzXQ", "A" * 5000, "\ud800"])
async def test_a_made_up_cursor_is_refused_in_words(cursor: str) -> None:
    async with searching(*office()) as search:
        answer = await search.search("*", cursor=cursor)
        assert answer["diagnostic"] == "the cursor is not one that a search gave; search again without it"


@pytest.mark.proves("search.input")
@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({"query": ""}, "/query"),
        ({"query": "  "}, "/query"),
        ({"query": "x" * 257}, "/query"),
        ({"query": None}, "/query"),
        ({"query": "x", "detail": "full"}, "/detail"),
        ({"query": "x", "detail": ["summary"]}, "/detail"),
        ({"query": "x", "limit": 0}, "/limit"),
        ({"query": "x", "limit": 9}, "/limit"),
        ({"query": "x", "limit": True}, "/limit"),
        ({"query": "x", "source": 5}, "/source"),
        ({"query": "x", "cursor": 5}, "/cursor"),
    ],
)
async def test_a_request_that_is_none_is_refused_by_field(request_: dict[str, Any], pointer: str) -> None:
    async with searching(*office()) as search:
        with pytest.raises(SearchRefused) as refused:
            await search.search(**request_)
        assert [error.pointer for error in refused.value.errors] == [pointer]


@pytest.mark.proves("search.input")
@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE tools; --",
        "NEAR(a b)",
        "name:create OR",
        "AND",
        "NOT",
        "a* ^b -c +d",
        "((((",
        "\x00",
        "\ud800",
        "²①",
        "* *",
        "☃",
        "{name}",
        "a" * 256,
        " ".join("abcdefgh"),
        "發送郵件",
    ],
)
async def test_no_query_breaks_the_search(query: str) -> None:
    async with searching(*office()) as search:
        answer = await search.search(query)
        assert answer["returned"] == len(answer["results"])


@pytest.mark.proves("search.ranking")
async def test_names_in_any_script_are_found() -> None:
    async with searching(FakeSource("büro", tool("größe_ändern", "發送郵件給客戶"), tool("🔥", ""))) as search:
        assert found(await search.search("größe")) == ["größe_ändern"]
        assert found(await search.search("🔥")) == ["🔥"]
        assert found(await search.search("郵件")) == ["größe_ändern"]


@pytest.mark.proves("search.answer")
async def test_long_descriptions_are_cut_in_summaries() -> None:
    async with searching(FakeSource("a", tool("x", "word " * 1000))) as search:
        (result,) = (await search.search("x"))["results"]
        assert len(result["description"]) <= 300
        assert result["description"].endswith("…")


@pytest.mark.proves("search.answer")
async def test_what_a_terminal_or_transport_could_not_take_is_left_out_of_summaries() -> None:
    async with searching(FakeSource("a", tool("x", "red\x1b[31m\n\ttext \ud800 end"))) as search:
        (result,) = (await search.search("x"))["results"]
        assert result["description"] == "red [31m text end"


@pytest.mark.proves("search.contract")
async def test_typescript_detail_declares_each_result_and_the_contract_once() -> None:
    async with searching(*office()) as search:
        answer = await search.search("*", detail="typescript", limit=8)
        assert answer["returned"] == 5
        assert "interface ToolResult" in answer["resultContract"]
        assert all("ToolResult" in result["declaration"] for result in answer["results"])
        assert all("description" not in result for result in answer["results"])


@pytest.mark.proves("search.answer")
async def test_an_answer_too_large_loses_whole_results_from_the_end() -> None:
    async with searching(
        *office(), declare=lambda _source, definition, _callable: definition.name[0] * 15_000
    ) as search:
        answer = await search.search("*", detail="typescript")
        assert len(json.dumps(answer).encode()) <= 64 * 1024
        assert (answer["returned"], answer["truncated"]) == (4, True)
        assert all(len(result["declaration"]) == 15_000 for result in answer["results"])
        rest = await search.search("*", detail="typescript", cursor=answer["nextCursor"])
        assert not set(found(answer)) & set(found(rest))


@pytest.mark.proves("search.answer")
async def test_a_result_that_is_too_large_by_itself_is_told() -> None:
    async with searching(*office(), declare=lambda _source, _definition, _callable: "x" * 100_000) as search:
        answer = await search.search("issue", detail="typescript")
        assert answer["results"] == []
        assert answer["truncated"]
        assert "summary" in answer["diagnostic"]


@pytest.mark.proves("search.census")
async def test_a_census_of_very_many_sources_stays_within_the_size() -> None:
    sources = [FakeSource(f"{index:04}" + "n" * 200, "x") for index in range(450)]
    async with searching(*sources) as search:
        answer = await search.search("*")
        assert len(json.dumps(answer).encode()) <= 64 * 1024
        assert answer["namespaces"]


@pytest.mark.proves("search.deterministic")
async def test_the_order_does_not_depend_on_which_source_came_first() -> None:
    contributions = [build_source(name, listing(*(f"get_{i}" for i in range(30)))) for name in ("a", "b", "c")]
    orders = []
    for arranged in (contributions, contributions[::-1]):
        index = SearchIndex(["b", "c", "a"])
        for contribution in arranged:
            index.replace(contribution)
        index.replace(build_source("b", listing("other")))
        index.replace(contributions[1])
        orders.append(candidates_of(query_of("get 7", index), index, ["a", "b", "c"]))
        index.close()
    assert orders[0] == orders[1]


@pytest.mark.proves("catalog.atomic")
async def test_a_refresh_of_one_source_replaces_only_its_rows() -> None:
    github, mail = office()
    async with searching(github, mail) as search:
        before = search._manager.snapshot()
        mail.changes("archive_everything")
        await until(lambda: search._manager.snapshot() is not before)
        assert found(await search.search("archive")) == ["archive_everything"]
        assert found(await search.search("messages.send")) == []
        assert found(await search.search("create issue")) == ["create_issue"]


@pytest.mark.proves("search.answer")
async def test_search_without_any_tool_says_so() -> None:
    async with searching() as search:
        answer = await search.search("x")
        assert (answer["total"], answer["results"]) == (0, [])
        assert (await search.search("*"))["total"] == 0


@pytest.mark.proves("api.close")
async def test_after_closing_nothing_is_found() -> None:
    async with searching(*office()) as search:
        pass
    answer = await search.search("issue")
    assert answer["results"] == []
    assert answer["diagnostic"] == "not every source can be called now: 'github' is stopped, 'my-mail' is stopped"


@pytest.mark.proves("api.close")
async def test_a_closed_index_says_so_and_takes_nothing_in() -> None:
    index = SearchIndex(["a"])
    index.close()
    index.close()
    index.replace(build_source("a", listing("x")))
    with pytest.raises(ClosedError):
        index.occurs("x")


# fmt: off
VERBS = (
    "get", "list", "create", "update", "delete", "search", "find", "fetch", "send", "start", "stop", "export",
    "import", "sync", "merge", "open", "close",
)
NOUNS = (
    "invoice", "payment", "customer", "order", "ticket", "message", "channel", "calendar", "contact", "document",
    "table", "query", "deploy", "metric",
)
# fmt: on


def generated(count: int) -> list[ToolDefinition]:
    """Tools with names that differ in words, and descriptions that share most of theirs."""
    chance = random.Random(11)
    names: dict[str, None] = {}
    while len(names) < count:
        parts = [chance.choice(VERBS), chance.choice(NOUNS), chance.choice(NOUNS), chance.choice(NOUNS)]
        names["_".join(parts)] = None
    return [
        tool(name, " ".join(chance.choices(VERBS + NOUNS, k=12)) if place % 3 else "")
        for place, name in enumerate(names)
    ]


def slipped(word: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(word) - 1)
    return chance.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + "x" + word[place:],
        ]
    )


@pytest.mark.proves("search.typo", "search.scale")
async def test_names_and_misspelt_names_find_their_tool_among_two_thousand() -> None:
    tools = generated(2_000)
    chance = random.Random(5)
    sources = [FakeSource(f"s{index}", *tools[index::10]) for index in range(10)]
    async with searching(*sources) as search:
        missed: dict[str, list[str]] = {"name": [], "words": [], "camel": [], "typo": []}
        for definition in chance.sample(tools, 60):
            parts = definition.name.split("_")
            typo = "_".join([parts[0], slipped(parts[1], chance), *parts[2:]])
            queries = {
                "name": definition.name,
                "words": " ".join(parts),
                "camel": parts[0] + "".join(part.title() for part in parts[1:]),
                "typo": typo,
            }
            for kind, query in queries.items():
                if definition.name not in found(await search.search(query)):
                    missed[kind].append(query)
        assert missed == {"name": [], "words": [], "camel": [], "typo": []}


@pytest.mark.proves("catalog.atomic", "search.ranking")
async def test_names_of_a_source_that_changed_are_its_new_ones_and_those_of_others_stay() -> None:
    github, mail = office()
    async with searching(github, FakeSource("copy", "create_issue"), mail) as search:
        before = search._manager.snapshot()
        github.changes("createIssue")
        await until(lambda: search._manager.snapshot() is not before)
        answer = await search.search("create-issue")
        assert [(each["source"], each["tool"]) for each in answer["results"]] == [
            ("copy", "create_issue"),
            ("github", "createIssue"),
        ]
        assert found(await search.search("github.create_issue"))[0] == "createIssue"
        assert found(await search.search("mergepullrequest")) == []
