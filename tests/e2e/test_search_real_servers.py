"""Tools of servers that others wrote, among two thousand made-up ones, by queries written by hand beforehand."""

from __future__ import annotations

from typing import Any

import pytest
from bench.recall.sources import ListedSource, definition_of
from bench.recall.world import world

from codemodekit import CodeMode, allow_all_tool_calls, mcp
from codemodekit.contracts import ToolDefinition, ToolProvider

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

QUERIES = {
    "recent commits": {"git_log"},
    "what did I change but not commit yet": {"git_diff_unstaged", "git_status", "git_diff"},
    "which files are staged": {"git_diff_staged", "git_status"},
    "stage a file": {"git_add"},
    "record the staged changes with a message": {"git_commit"},
    "make a new branch in git": {"git_create_branch"},
    "list git branches": {"git_branch"},
    "switch branches": {"git_checkout"},
    "show what a revision contains": {"git_show"},
    "working tree state": {"git_status"},
    "unstage everything": {"git_reset"},
    "git_lgo": {"git_log"},
    "current time in Tokyo": {"get_current_time"},
    "what time is it": {"get_current_time"},
    "convert a time to another timezone": {"convert_time"},
    "converttime": {"convert_time"},
    "echo a message back": {"echo"},
    "add two numbers": {"get-sum"},
    "environment variables": {"get-env"},
    "a tiny image": {"get-tiny-image"},
    "long running operation": {"trigger-long-running-operation"},
    "structured content": {"get-structured-content"},
}


def crowd(count: int) -> list[ToolProvider]:
    by_source: dict[str, list[ToolDefinition]] = {}
    for made in world(count, seed=7):
        by_source.setdefault(made.source, []).append(definition_of(made))
    return [ListedSource(name, tools) for name, tools in by_source.items()]


@pytest.mark.proves("search.ranking", "search.typo")
async def test_queries_written_by_hand_find_tools_of_real_servers(three_servers: dict[str, Any]) -> None:
    real = [mcp.stdio(name, **entry) for name, entry in three_servers["mcpServers"].items()]
    async with CodeMode(providers=[*real, *crowd(2_000)], tool_policy=allow_all_tool_calls()) as code_mode:
        await code_mode.settled(60)
        assert all(each.state == "healthy" for each in code_mode.health())
        missed = {}
        for query, wanted in QUERIES.items():
            answer = await code_mode.search_tools(query)
            names = [result["tool"] for result in answer["results"]]
            if wanted.isdisjoint(names):
                missed[query] = names
        assert len(missed) <= len(QUERIES) // 20, missed
