"""Sources as they are met in the wild, with what their tools answer, for the programs of the corpora."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from codemodekit import CodeMode, ToolDefinition, ToolResult, allow_all_tool_calls
from codemodekit.compilers.typecheck import TypeScriptChecker
from codemodekit.limits import ExecutionLimits
from codemodekit.testing import InMemoryProvider

__all__ = ["PATIENT_MS", "checked_kit", "programs", "unsettled_kit", "world"]

PATIENT_MS = 60_000
"""A budget for tests that are not about the budget, on machines that are busy."""

TEXT: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
HERE = Path(__file__).parent


def closed(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object that has these properties and no other, as servers in TypeScript declare theirs."""
    return {**opened(required, optional), "additionalProperties": False}


def opened(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object that has at least these properties, as servers in Python declare theirs."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def list_of(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": item}


def words(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def said(text: str) -> ToolResult:
    return ToolResult(content=({"type": "text", "text": text},))


def tool(name: str, given: Any = None, answered: Any = None, **more: Any) -> ToolDefinition:
    return ToolDefinition(
        name=name, input_schema=given if given is not None else {"type": "object"}, output_schema=answered, **more
    )


def source(name: str, tools: Sequence[tuple[ToolDefinition, Any]]) -> InMemoryProvider:
    """A source; each tool with what it answers."""
    made = InMemoryProvider(name, [definition for definition, _ in tools])
    for definition, outcome in tools:
        made.answer(definition.name, outcome)
    return made


NULLABLE: dict[str, Any] = {"anyOf": [TEXT, {"type": "null"}]}
USER = closed({"login": TEXT, "id": INTEGER})
ISSUE = closed(
    {"number": INTEGER, "title": TEXT, "state": words("open", "closed"), "user": USER, "created_at": TEXT},
    {"labels": list_of(closed({"name": TEXT})), "body": NULLABLE, "comments": INTEGER},
)
PLACE = {"owner": TEXT, "repo": TEXT}


def issue(number: int, title: str, *labels: str, state: str = "open", login: str = "ada") -> dict[str, Any]:
    return {
        "number": number, "title": title, "state": state, "user": {"login": login, "id": number * 7},
        "created_at": f"2026-0{number % 9 + 1}-01T10:00:00Z", "labels": [{"name": label} for label in labels],
        "body": None if number % 2 else f"see #{number - 1}", "comments": number % 4,
    }  # fmt: skip


ISSUES = [issue(11, "Crash on start", "bug"), issue(12, "Typo", login="grace"), issue(13, "Slow search", "bug", "perf")]

DEAL = {"$ref": "#/$defs/Deal"}
DEALS = {
    "$defs": {
        "Stage": {"enum": ["lead", "won", "lost"]},
        "Deal": opened(
            {"id": TEXT, "name": TEXT, "amount": {"type": "number"}, "stage": {"$ref": "#/$defs/Stage"}},
            {"contact_id": TEXT, "closed_on": NULLABLE},
        ),
    },
    **opened({"deals": list_of(DEAL), "total": INTEGER}),
}


def git() -> InMemoryProvider:
    """A server in Python: open inputs, text for an answer."""
    repository = {"repo_path": {"type": "string", "title": "Repo Path"}}
    log = "Commit: 1a2b\nAuthor: Ada\nMessage: fix the parser\n\nCommit: 3c4d\nAuthor: Grace\nMessage: add tests"
    return source(
        "git",
        [
            (tool("git_status", opened(repository)), said("On branch main\nnothing to commit")),
            (tool("git_log", opened(repository, {"max_count": {"type": "integer", "default": 10}})), said(log)),
            (tool("git_show", opened({**repository, "revision": TEXT})), said("diff --git a/x b/x")),
            (tool("git_add", opened({**repository, "files": list_of(TEXT)})), said("staged")),
        ],
    )


def github() -> InMemoryProvider:
    """A server in TypeScript: everything closed, everything declared."""
    listing = closed(
        PLACE,
        {
            "state": words("open", "closed", "all"),
            "labels": list_of(TEXT),
            "since": TEXT,
            "page": INTEGER,
            "per_page": {"type": "integer", "minimum": 1, "maximum": 100},
        },
    )
    page = closed({"issues": list_of(ISSUE), "total_count": INTEGER}, {"next_page": {"type": ["integer", "null"]}})
    create = closed({**PLACE, "title": TEXT}, {"body": TEXT, "labels": list_of(TEXT), "assignees": list_of(TEXT)})
    created = closed({"number": INTEGER, "url": TEXT})
    comment = closed({**PLACE, "issue_number": INTEGER, "body": TEXT})
    search = closed({"query": TEXT}, {"sort": words("created", "updated"), "order": words("asc", "desc")})
    return source(
        "github",
        [
            (tool("list_issues", listing, page), {"issues": ISSUES, "total_count": 3, "next_page": None}),
            (tool("get_issue", closed({**PLACE, "issue_number": INTEGER}), ISSUE), ISSUES[0]),
            (tool("create_issue", create, created), {"number": 14, "url": "https://example.com/14"}),
            (tool("add_comment", comment, closed({"id": INTEGER})), {"id": 1}),
            (tool("search_issues", search, list_of(ISSUE)), ISSUES),
        ],
    )


def time() -> InMemoryProvider:
    clock = opened({"timezone": TEXT, "datetime": TEXT, "is_dst": {"type": "boolean"}})
    now = {"timezone": "Europe/Oslo", "datetime": "2026-05-01T12:00:00+02:00", "is_dst": True, "day_of_week": "Friday"}
    return source(
        "time",
        [
            (tool("get_current_time", opened({"timezone": TEXT}), clock), now),
            (
                tool("convert_time", opened({"source_timezone": TEXT, "time": TEXT, "target_timezone": TEXT})),
                said(json.dumps({"target": now, "time_difference": "-6.0h"})),
            ),
        ],
    )


def files() -> InMemoryProvider:
    wrapped = opened({"result": list_of(TEXT)})
    search = opened({"root": TEXT, "pattern": TEXT}, {"exclude": list_of(TEXT)})
    package = said('{"name": "demo", "version": "1.2.0"}')
    return source(
        "files",
        [
            (tool("read_file", opened({"path": TEXT}, {"head": INTEGER, "tail": INTEGER})), package),
            (tool("list_directory", opened({"path": TEXT}), wrapped), {"result": ["a.ts", "b.md", "package.json"]}),
            (tool("write_file", opened({"path": TEXT, "content": TEXT})), said("ok")),
            (tool("search_files", search, wrapped), {"result": ["src/a.ts"]}),
        ],
    )


def crm() -> InMemoryProvider:
    contact = opened({"id": TEXT, "name": TEXT}, {"email": NULLABLE, "tags": list_of(TEXT)})
    ada = {"id": "c1", "name": "Ada", "email": "ada@example.com", "tags": ["vip"], "region": "north"}
    deals = [
        {"id": "d1", "name": "Engines", "amount": 1200.5, "stage": "won", "contact_id": "c1", "owner": "kim"},
        {"id": "d2", "name": "Looms", "amount": 300, "stage": "lead", "contact_id": "c1"},
    ]
    found = opened({"contacts": list_of(contact)})
    update = closed({"id": TEXT, "fields": {"type": "object", "additionalProperties": True}})
    filters = {"anyOf": [closed({"stage": words("lead", "won", "lost")}), closed({"min_amount": {"type": "number"}})]}
    return source(
        "crm",
        [
            (tool("contacts.find", closed({"query": TEXT}, {"limit": INTEGER}), found), {"contacts": [ada]}),
            (tool("contacts.update", update, contact), ada),
            (
                tool("deals.list", closed({}, {"filter": filters, "limit": INTEGER}), DEALS),
                {"deals": deals, "total": 2},
            ),
            (tool("deals.export", closed({"format": words("csv", "json")}), None), said("id,name\nd1,Engines")),
        ],
    )


def chat() -> InMemoryProvider:
    message = closed(
        {"channel": TEXT, "text": TEXT}, {"blocks": list_of({}), "thread": TEXT, "silent": {"type": "boolean"}}
    )
    loose = opened({"ok": {"type": "boolean"}})
    return source(
        "chat",
        [
            (tool("send", message, closed({"id": TEXT})), {"id": "m1"}),
            (tool("history", closed({"channel": TEXT}), loose, output_mismatch="warn"), {"messages": [{"text": "hi"}]}),
        ],
    )


def notes() -> InMemoryProvider:
    remind = closed({"at": TEXT}, {"by": TEXT})
    note = closed({"text": TEXT}, {"tags": list_of(TEXT), "pinned": {"type": "boolean"}, "remind": remind})
    return source(
        "my-notes",
        [
            (tool("add note", note), {"id": 5}),
            (tool("list", closed({}, {"tag": TEXT})), [{"id": 5, "text": "hello", "tags": []}]),
        ],
    )


def world() -> dict[str, InMemoryProvider]:
    """All sources, fresh."""
    return {made.name: made for made in (git(), github(), time(), files(), crm(), chat(), notes())}


def unsettled_kit(providers: Sequence[Any], checker: TypeScriptChecker | None = None, **limits: int) -> CodeMode:
    """A CodeMode with a type checker, not started."""
    return CodeMode(
        providers=providers,
        tool_policy=allow_all_tool_calls(),
        type_checker=checker or TypeScriptChecker(budget_ms=PATIENT_MS),
        limits=ExecutionLimits(**limits),
    )


@asynccontextmanager
async def checked_kit(
    providers: Sequence[Any], checker: TypeScriptChecker | None = None, **limits: int
) -> AsyncIterator[CodeMode]:
    """The same, started, when its sources have settled."""
    async with unsettled_kit(providers, checker, **limits) as made:
        await made.settled(5)
        yield made


def programs(name: str) -> dict[str, str]:
    """The programs of a corpus by their titles: what follows a line `// === title`."""
    parts = (HERE / name).read_text(encoding="utf-8").split("// === ")[1:]
    return {title.strip(): program for title, _, program in (part.partition("\n") for part in parts)}
