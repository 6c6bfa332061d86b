"""Every file that the pages show runs, and does what they say it does."""

from __future__ import annotations

import sys
from typing import Any, Final

import pytest
from docs_pages import ROOT
from docs_sources import load_source
from mcp import Client, StdioServerParameters

import codemodekit

pytestmark = pytest.mark.proves("house.docs")

EXPECTED: Final[dict[str, Any]] = {
    "first_run": {"warmest": "Rome", "degrees": [4.5, 18]},
    "read_a_result": (
        "TOOL_INPUT_INVALID", "line 1", "greet: rejected", "rerun: safe", "let the model mend the program",
    ),
    "find_the_failure": "\n".join(
        [
            "TypeError: cannot read property 'name' of undefined",
            "  1 | type Row = { city?: { name: string } };",
            "> 2 | const nameOf = (row: Row) => row.city!.name;",
            "    |                                        ^",
            "  3 |",
            "  in nameOf, line 2",
            "  in names, line 6",
            "  in the program, line 8",
        ]
    ),
    "tools_from_functions": ("Printer on fire", ["step 1 of 2", "step 2 of 2"]),
    "own_policy": [["moved 5 to tea", "moved 900 to rent", "TOOL_APPROVAL_DENIED"], ["TOOL_APPROVAL_DENIED"]],
    "policy_from_rules": "notes.write was not allowed: only drafts may be written",
    "look_into_the_catalogue": {
        "found": ["tools.billing.list_invoices"],
        "declared": True,
        "health": [("billing", "healthy", 1)],
        "put aside": ["remind"],
    },
    "observe_runs": {"progress": ["disk.backup: half of it"] * 2, "calls": {"disk.backup completed": 2}},
    "compare_catalogues": [("report", "inputSchema", ("/properties/year",))],
    "plugin_sources": {"plugin": "kitchen", "sources": ["clock"], "left out": ["wrong"], "value": "12:00"},
    "audit_log": [
        "ada: rule 1 says allow",
        "bank.transfer {'amount': 90}: completed",
        "ada: rule 2 says deny",
        "bank.transfer {'amount': 900}: denied",
        "run: failed, TOOL_APPROVAL_DENIED",
    ],
    "type_checking": (
        "TYPE_ERROR", "`tools.mail.send` takes no field `body`; it takes: to, text (nothing has run)", [],
    ),
    "own_source": {"keeps the contract": True, "capital": "Oslo"},
    "api_source": {
        "scarce": ["nails: 2"],
        "missing": {"status": 404, "body": {"message": "no such shelf"}},
    },
    "limits": ["TOOL_CALL_LIMIT_EXCEEDED", "COMPUTE_LIMIT_EXCEEDED"],
    "trusted_host_code": {
        "the program saw": ["content"],
        "the host saw": ["/vault/7"],
        "the model reads": "archive.broken failed with an internal error of its own",
        "the host's record": "RuntimeError('password hunter2 was refused')",
        "joined by": True,
    },
}  # fmt: skip
RUN_ELSEWHERE: Final = {"serve", "serve_http", "failing_tools"}


def test_every_documented_source_is_run() -> None:
    assert {file.stem for file in (ROOT / "docs_src").glob("*.py")} == set(EXPECTED) | RUN_ELSEWHERE


@pytest.mark.anyio
@pytest.mark.parametrize("name", EXPECTED)
async def test_a_documented_source_gives_what_is_expected(name: str) -> None:
    assert await load_source(ROOT / "docs_src" / f"{name}.py").main() == EXPECTED[name]


def test_the_documented_server_has_the_sources_it_names() -> None:
    sources = load_source(ROOT / "docs_src" / "serve.py").SOURCES
    assert [source.name for source in sources] == ["calendar", "git", "tracker", "old"]


@pytest.mark.anyio
async def test_the_example_of_an_own_server_offers_code_mode_beside_its_tool() -> None:
    server = StdioServerParameters(command=sys.executable, args=[str(ROOT / "examples" / "own_server" / "server.py")])
    program = "return (await tools.cities.area({ city: 'Bern' })).structuredContent"
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("run_typescript", {"code": program})
    assert names == ["run_typescript", "search_tools", "ping"]
    assert answer.structured_content is not None
    assert answer.structured_content["value"] == 51.6


def test_every_public_name_is_importable_and_on_the_page() -> None:
    page = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert all(getattr(codemodekit, name) is not None for name in codemodekit.__all__)
    assert [name for name in codemodekit.__all__ if name not in page] == []
