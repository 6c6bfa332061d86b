"""Three servers of others at once (two in Python, one in JavaScript), through `serve`, with a client of either era."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from .processes import needs_proc
from .serving import Served, child_of_this_process, served, write

pytestmark = pytest.mark.slow

OPTIONS = ("--mcp-config", "mcp.json", "--policy", "allow-all")

COMPOSE = """
const [log, weather] = await Promise.all([
  tools.git.git_log({ repo_path: ".", max_count: 40 }),
  tools.everything["get-structured-content"]({ location: "Chicago" }),
]);
const text = log.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const authors = [...text.matchAll(/Author: (.+)/g)].map(([, author]) => author as string);
const sum = await tools.everything["get-sum"]({ a: authors.length, b: 2 });
return {
  adas: authors.filter((author) => author.startsWith("Ada")).length,
  sum: (sum.content[0] as { text: string }).text,
  weather: Object.keys(weather.structuredContent!).sort(),
};
"""

PARALLEL = """
const zones = ["Europe/London", "Asia/Tokyo", "Africa/Accra", "Asia/Dubai"];
const clocks = zones.map(async (zone) => {
  const { structuredContent } =
    await tools.time.convert_time({ source_timezone: "UTC", time: "12:00", target_timezone: zone });
  return structuredContent!.target.timezone;
});
const echoes = zones.map(async (message) => (await tools.everything.echo({ message })).content[0].text);
return await Promise.all([...clocks, ...echoes]);
"""

CAUGHT = """
const failures = [];
for (const revision of ["no-such-revision", "HEAD"]) {
  try {
    const shown = await tools.git.git_show({ repo_path: ".", revision });
    failures.push(shown.content.length > 0);
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
    failures.push([error.code, error.source, error.tool]);
  }
}
return failures;
"""

UNCAUGHT = """const before = await tools.time.get_current_time({ timezone: "UTC" });
await tools.git.git_show({ repo_path: ".", revision: "no-such-revision" });
return before;"""


@dataclass(frozen=True, slots=True)
class Blocking:
    """A server that outlives one test, asked from outside of its event loop."""

    portal: BlockingPortal
    served: Served
    mode: str

    def __call__(self, what: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        return self.portal.call(partial(what, self.served, *arguments, **options))


@pytest.fixture(scope="module", params=["auto", "legacy"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, three_servers: dict[str, Any]
) -> Iterator[Blocking]:
    """Code Mode in front of the three servers, one process for all tests of an era."""
    folder = tmp_path_factory.mktemp(request.param)
    write(folder / "mcp.json", three_servers)
    with start_blocking_portal() as portal:
        with portal.wrap_async_context_manager(served(folder, *OPTIONS, mode=request.param)) as client:
            yield Blocking(portal, client, request.param)


@pytest.mark.proves("surface.tools", "surface.eras")
def test_the_client_gets_two_tools_in_the_era_it_asked_for(server: Blocking) -> None:
    tools = server.portal.call(server.served.client.list_tools).tools
    assert [tool.name for tool in tools] == ["run_typescript", "search_tools"]
    assert server.served.client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[server.mode]


@pytest.mark.proves("bridge.exact-result", "mcp.transports")
def test_a_program_composes_servers_and_returns_only_what_is_asked(server: Blocking) -> None:
    result = server(Served.run, COMPOSE)
    assert result["value"] == {
        "adas": 5,
        "sum": "The sum of 40 and 2 is 42.",
        "weather": ["conditions", "humidity", "temperature"],
    }
    calls = [(call["source"], call["tool"], call["status"]) for call in result["calls"]]
    assert calls == [
        ("git", "git_log", "completed"),
        ("everything", "get-structured-content", "completed"),
        ("everything", "get-sum", "completed"),
    ]


@pytest.mark.proves("limit.concurrency")
def test_eight_calls_to_two_servers_go_out_together(server: Blocking) -> None:
    result = server(Served.run, PARALLEL)
    zones = ["Europe/London", "Asia/Tokyo", "Africa/Accra", "Asia/Dubai"]
    assert result["value"] == [*zones, *(f"Echo: {zone}" for zone in zones)]
    assert [call["status"] for call in result["calls"]] == ["completed"] * 8


@pytest.mark.proves("error.catchable")
def test_a_failed_call_can_be_caught(server: Blocking) -> None:
    answer = server(Served.call, CAUGHT)
    assert not answer.is_error
    assert answer.structured_content["value"] == [["TOOL_EXECUTION_FAILED", "git", "git_show"], True]


@pytest.mark.proves("surface.failures")
def test_a_failed_call_that_is_not_caught_is_a_structured_error(server: Blocking) -> None:
    answer = server(Served.call, UNCAUGHT)
    assert answer.is_error
    error = answer.structured_content["error"]
    assert (error["code"], error["phase"], error["location"]["line"]) == ("TOOL_EXECUTION_FAILED", "tool", 2)
    assert (error["tool"]["source"], error["tool"]["name"]) == ("git", "git_show")
    assert "no-such-revision" in error["message"]
    assert answer.structured_content["rerun"] == "safe"
    assert [block.type for block in answer.content] == ["text"]
    assert "TOOL_EXECUTION_FAILED" in answer.content[0].text


@pytest.mark.proves("search.contract")
def test_search_finds_the_tool_of_each_server_with_its_types(server: Blocking) -> None:
    server(all_sources_called)
    census = server(Served.search, "*")
    log = server(Served.search, "shows the commit logs", limit=1)
    total = server(Served.search, "sum of two numbers", limit=1, detail="typescript")
    assert [space["source"] for space in census["namespaces"]] == ["everything", "git", "time"]
    assert log["results"][0]["callable"] == "tools.git.git_log"
    assert total["results"][0]["callable"] == 'tools.everything["get-sum"]'
    assert "a: number;" in total["results"][0]["declaration"]


@pytest.mark.proves("policy.rules")
@pytest.mark.anyio
async def test_read_only_lets_readers_through_and_nothing_else(
    tmp_path: Path, python_servers: dict[str, Any], repository: Path
) -> None:
    write(tmp_path / "mcp.json", {"mcpServers": python_servers})
    program = """
    const branches = async () => (await tools.git.git_branch({ repo_path: ".", branch_type: "local" })).content[0].text;
    const before = await branches();
    let denied;
    try {
      await tools.git.git_create_branch({ repo_path: ".", branch_name: "never" });
    } catch (error) {
      denied = error.code;
    }
    return [denied, before === (await branches())];
    """
    async with served(tmp_path, "--mcp-config", "mcp.json", "--policy", "read-only") as server:
        result = await server.run(program)
    assert result["value"] == ["TOOL_APPROVAL_DENIED", True]
    assert [call["status"] for call in result["calls"]] == ["completed", "denied", "completed"]
    assert result["rerun"] == "safe"
    assert not (repository / ".git" / "refs" / "heads" / "never").exists()


@pytest.mark.proves("catalog.reconnect", "catalog.independent")
@needs_proc
@pytest.mark.anyio
async def test_a_killed_server_comes_back_and_its_sibling_notices_nothing(
    tmp_path: Path, python_servers: dict[str, Any]
) -> None:
    # zones that no other test names, to know the two processes by
    zones = {"time": "Etc/Zulu", "sibling": "Etc/Greenwich"}
    servers = {name: {**python_servers["time"], "args": ["--local-timezone", zone]} for name, zone in zones.items()}
    write(tmp_path / "mcp.json", {"mcpServers": servers})
    ask = 'return (await tools[context].get_current_time({ timezone: "UTC" })).structuredContent.timezone'
    async with served(tmp_path, *OPTIONS) as server:
        assert [await server.value(ask, name) for name in zones] == ["UTC", "UTC"]
        killed, sibling = map(child_of_this_process, zones.values())
        os.kill(killed, signal.SIGKILL)
        assert await server.value(ask, "sibling") == "UTC"
        codes = []
        with anyio.fail_after(20):
            while not (outcome := await server.run(ask, "time"))["ok"]:
                codes.append(outcome["error"]["code"])
                await anyio.sleep(0.05)
        assert set(codes) <= {"SOURCE_UNAVAILABLE"}
        assert child_of_this_process(zones["time"]) != killed
        assert child_of_this_process(zones["sibling"]) == sibling


async def all_sources_called(server: Served) -> None:
    """Return once every source is connected: a call to one that is still connecting waits for it."""
    await server.value(
        'await Promise.all([tools.time.get_current_time({ timezone: "UTC" }), tools.everything.echo({ message: "" }),'
        ' tools.git.git_status({ repo_path: "." })])'
    )
