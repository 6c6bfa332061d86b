"""What counts as a mistake follows from what the sources declare, and in doubt nothing does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typecheck_world import INTEGER, TEXT, checked_kit, closed, list_of, opened, tool, unsettled_kit

from codemodekit import CodeMode, ToolDefinition
from codemodekit.catalog.snapshot import Catalog, build_source
from codemodekit.compilers.typecheck.catalogue import MentionedCatalogue
from codemodekit.contracts import ToolListing
from codemodekit.diagnostics import DiagnosticCode
from codemodekit.testing import InMemoryProvider

pytestmark = pytest.mark.proves("typecheck.catches", "typecheck.no-false-block")

CORPUS = Path(__file__).parents[2] / "corpus"


async def kinds(code_mode: CodeMode, program: str) -> list[str]:
    """The kinds of mistakes that keep a program from running."""
    check = await code_mode.check(program)
    assert check.checked, check.notes
    return [] if check.error is None else [error["kind"] for error in check.error.details["errors"]]


async def judged(programs: Mapping[str, str | None], *tools: ToolDefinition | str) -> dict[str, str | None]:
    """The same programs, each with the kind of the one mistake that was found."""
    async with checked_kit([InMemoryProvider("app", tools)]) as code_mode:
        found = {program: await kinds(code_mode, program) for program in programs}
    assert all(len(each) <= 1 for each in found.values()), found
    return {program: each[0] if each else None for program, each in found.items()}


@pytest.mark.anyio
async def test_a_field_counts_as_unknown_only_where_the_schema_leaves_no_room_for_it() -> None:
    wide = {"type": "object", "properties": {"id": TEXT}, "additionalProperties": True}
    condition = {"if": {"properties": {"kind": {"const": "a"}}}, "then": opened({"size": TEXT})}
    either = {"oneOf": [closed({"path": TEXT}), closed({"url": TEXT})]}
    joined = {"allOf": [opened({"id": TEXT}), opened({}, {"note": TEXT})]}
    programs = {
        "tools.app.open({ id: 'a', extra: 1 })": "wrongField",
        "tools.app.closed({ id: 'a', extra: 1 })": "wrongField",
        "tools.app.wide({ id: 'a', extra: 1 })": None,
        "tools.app.conditional({ kind: 'a', size: 'b' })": None,
        "tools.app.either({ path: 'a' }); tools.app.either({ url: 'b' })": None,
        "tools.app.joined({ id: 'a', note: 'b' })": None,
        "tools.app.joined({ id: 'a', nota: 'b' })": "wrongField",
        "tools.app.anything({ whatever: [1] })": None,
    }
    assert programs == await judged(
        programs, tool("open", opened({"id": TEXT})), tool("closed", closed({"id": TEXT})), tool("wide", wide),
        tool("conditional", {**opened({"kind": TEXT}), **condition}), tool("either", either),
        tool("joined", joined), "anything",
    )  # fmt: skip


@pytest.mark.anyio
async def test_a_field_of_a_result_counts_as_unknown_only_if_it_cannot_be_there() -> None:
    row = {"assignee": TEXT, "created_at": TEXT, "status": TEXT}
    programs = {
        "return (await tools.app.open()).structuredContent.assignees": None,
        "return (await tools.app.open()).structuredContent.color": None,
        "return (await tools.app.open()).structuredContent.stratus": "wrongResult",
        "return (await tools.app.open()).structuredContent.stasus": None,
        "return (await tools.app.open()).structuredContent.createdAt": "wrongResult",
        "return (await tools.app.open()).structuredContent.statsu": "wrongResult",
        "const r = await tools.app.open(); return r.structuredContent.statsu ?? 'none'": None,
        "const r = await tools.app.open(); if (r.structuredContent.statsu) return r.structuredContent.statsu": None,
        "try { return (await tools.app.open()).structuredContent.statsu.x } catch { return 1 }": None,
        "return (await tools.app.closed()).structuredContent.color": "wrongResult",
        "return (await tools.app.list()).structuredContent.map((row) => row.status)": None,
        "return (await tools.app.list()).structuredContent.rows.length": "wrongResult",
        "return (await tools.app.loose()).structuredContent.statsu": None,
        "return (await tools.app.untyped()).structuredContent.a.b.c": None,
        "const { content, structuredContent, isError } = await tools.app.open(); return [content, isError]": None,
    }
    assert programs == await judged(
        programs, tool("open", None, opened(row)), tool("closed", None, closed(row)),
        tool("list", None, list_of(opened(row))), tool("loose", None, closed(row), output_mismatch="warn"), "untyped",
    )  # fmt: skip


@pytest.mark.anyio
async def test_a_value_counts_as_wrong_only_if_its_type_is_certain() -> None:
    programs = {
        "tools.app.take({ id: 1, mode: 'x' })": "wrongValue",
        "const id = '1'; tools.app.take({ id })": "wrongType",
        "let id = '1'; tools.app.take({ id })": "wrongType",
        "let id = '1'; id = context; tools.app.take({ id })": None,
        "const at = { id: '1' }; at.id = context; tools.app.take({ id: at.id })": None,
        "const at = { id: '1' }; tools.app.take(at)": None,
        "const f = (id = '') => tools.app.take({ id }); f(1)": None,
        "const f = (id) => tools.app.take({ id }); f('1')": None,
        "tools.app.take({ id: String(context) })": "wrongType",
        "tools.app.take({ id: context ? 1 : '1' })": None,
        "tools.app.take({ id: context ? 'a' : 'b' })": "wrongType",
        "const id = context ? 1 : '1'; tools.app.take({ id })": None,
        "let page = 1; page = 2; const r = tools.app.typed({ page }); return r.structuredContent": "notAwaited",
        "for (const f of Object.values(tools.app)) await f({ id: '1' }) // take, typed": None,
        "const all = Object.values(tools.app).map((f) => f({ id: '1' })) // take": None,
        "[tools.app.take, tools.app.other].map((f) => f({ id: '1' }))": None,
        "(context ? tools.app.take : tools.app.other)({ id: '1' })": None,
        "const { take: grab } = tools.app; const app = tools.app; grab({ id: '1' })": "wrongType",
        "tools.app.take({ id: JSON.parse('1') })": None,
        "const mode = 'fast' + ''; tools.app.take({ id: 1, mode })": None,
        "const tools2 = { app: { take: (x) => x } }; tools2.app.take({ id: '1' })": None,
        "{ const tools = { app: { take: (x) => x } }; tools.app.take({ id: '1' }); }": None,
        "let take = tools.app.take; take = tools.app.other; take({ id: '1' })": None,
        "tools.app.other({ id: '1' })": None,
    }
    take = closed({"id": INTEGER}, {"mode": {"enum": ["fast", "slow"]}})
    assert programs == await judged(programs, tool("take", take), "other", tool("typed", None, closed({"a": TEXT})))


@pytest.mark.anyio
async def test_a_name_counts_as_unknown_only_if_the_program_does_not_ask_for_it() -> None:
    programs = {
        "return tools.apps.echo({})": "unknownSource",
        "return tools.app.ecco({})": "unknownTool",
        "if ('apps' in tools) return tools.apps.echo({})": None,
        "if (Object.keys(tools).includes('apps')) return tools.apps.echo({})": None,
        "if (!Object.keys(tools.app).includes('ecco')) return 1; return tools.app.ecco({})": None,
        "return tools.app.ecco ? tools.app.ecco({}) : null": None,
        "return tools.app.ecco?.({})": None,
        "for (const name of ['echo', 'ecco']) await tools.app[name]({})": None,
        "return tools['app']['\\u0065cho']({})": None,
        "return typeof tools.apps": None,
        "return Object.values(tools).filter((s) => s.find).map((s) => s.find({})) // app": None,
        "for (const source of [tools.app]) await source.ecco({})": None,
        "const app = tools.app, { ecco } = app; return ecco({})": "unknownTool",
        "return tools.app.echo.name": None,
        "return `${tools.app}` + String(tools.app.echo)": None,
    }
    assert programs == await judged(programs, "echo")


@pytest.mark.anyio
async def test_sources_that_have_not_listed_and_tools_that_were_put_aside_are_left_alone() -> None:
    slow = InMemoryProvider("slow")
    slow.connect_gate = gate = InMemoryProvider().gate("unused")
    broken = tool("broken", {"type": "object", "$ref": "https://example.com/schema"})
    app = InMemoryProvider("app", [broken, tool("panel", model_visible=False)])
    async with unsettled_kit([app, slow]) as code_mode:
        while not code_mode.snapshot().sources:  # noqa: ASYNC110 -- one source settles, the other must not
            await asyncio.sleep(0.01)
        waiting = await code_mode.check("return tools.slow.echo({ any: 1 })")
        assert await kinds(code_mode, "return tools.app.broken({})") == []
        assert await kinds(code_mode, "return tools.app.panel({})") == ["unknownTool"]
        mistaken = asyncio.create_task(code_mode.run("return tools.slow.ecco({})"))
        gate.open()
        result = await mistaken
    assert (waiting.error, "'slow' had not listed" in waiting.notes[0]) == (None, True)
    assert result.error is not None
    assert result.error.code is DiagnosticCode.TYPE_ERROR


@pytest.mark.anyio
async def test_a_tool_that_comes_or_changes_is_checked_as_it_is_now() -> None:
    source = InMemoryProvider("app", [tool("put", closed({"id": TEXT}))])
    async with checked_kit([source]) as code_mode:
        assert await kinds(code_mode, "tools.app.put({ key: 'a' }); tools.app.get({})") == ["wrongField", "unknownTool"]
        before = code_mode.snapshot().revision
        source.change(tool("put", closed({"key": TEXT})), "get")
        while code_mode.snapshot().revision == before:  # noqa: ASYNC110 -- the catalogue tells nobody
            await asyncio.sleep(0.01)
        assert await kinds(code_mode, "tools.app.put({ key: 'a' }); tools.app.get({})") == []


@pytest.mark.anyio
async def test_names_and_texts_of_hostile_sources_break_no_check() -> None:
    plain = ["then", "toJSON", "constructor", "__proto__", "new", "a.b", "a", "a.b.c", "a.then", "$call", "toString"]
    more = ["interface", "-", "unknown", "any", "日本 語", "x\u2028y", "'", "`${1}`", "a" * 512]
    names = ["*/ declare const tools: any; /*", '"];};', *plain, *more]
    schema = {
        "type": "object",
        "description": "*/ } declare const tools: never; /*",
        "properties": {
            name: {"type": "string", "description": f"{name} */", "default": name} for name in ["a-b", *names]
        },
        "additionalProperties": False,
    }
    sources = [
        InMemoryProvider(name, [tool(each, schema, schema) for each in names]) for name in ("new", "a", names[0])
    ]
    program = f"const words = {json.dumps(names, ensure_ascii=False)}"
    async with checked_kit(sources) as code_mode:
        assert await kinds(code_mode, program) == []
        right = f"{program}; tools.a.b({{ unknown: 'x', 'a-b': 'y' }}); tools['new']['-']({{}}); tools.a.b.c()"
        assert (await code_mode.check(right)).checked
        assert await kinds(code_mode, f"{program}; tools['new'].a.b({{ 'a-c': 'y' }})") == ["wrongField"]
        assert await kinds(code_mode, f"{program}; tools['new'].any({{ unknown: 5 }})") == ["wrongType"]


def test_declarations_do_not_grow_with_the_catalogue() -> None:
    definitions = tuple(tool(f"tool_{number}", closed({"id": TEXT}), opened({"x": TEXT})) for number in range(10_000))
    listed = build_source("app", ToolListing(definitions=definitions))
    declare = MentionedCatalogue().declare
    one = declare("return tools.app.tool_77({})", Catalog({"app": listed}), ["app", "other"])
    all_of_them = " ".join(f"tool_{number}" for number in range(10_000))
    most = declare(f"// {all_of_them}\nreturn tools.app.tool_9999({{}})", Catalog({"app": listed}), ["app"])
    assert [each.name for each in one.tools.values()] == ["tool_77"]
    assert len(one.text) < 600
    assert len(most.tools) == 100
    assert len(most.text) < 500_000


def test_declarations_hold_no_unknown_and_no_comment() -> None:
    schema = closed(
        {"unknown": {}, "b": list_of({}), "c": {"const": "unknown // */"}},
        {"d": {"type": "object", "additionalProperties": True, "description": "unknown /* x */"}},
    )
    listed = build_source("app", ToolListing(definitions=(tool("unknown", schema, schema),)))
    text = MentionedCatalogue().declare("tools.app.unknown", Catalog({"app": listed}), ["app"]).text
    assert "unknown: any;" in text
    assert 'c: "unknown // */";' in text
    assert "/*" not in text.replace("// */", "")
    assert text.count("unknown") == text.count("unknown:") + text.count('"unknown') + text.count("unknown(")


@pytest.mark.anyio
async def test_what_is_told_of_odd_names_can_be_sent_on() -> None:
    put = tool("put", closed({"\U0001f600": TEXT, "b": INTEGER}))
    program = (
        'await tools.app.put({ "\U0001f600": 5, b: "1" });\n'
        'await tools.app["\\ud800x"]({}); tools.app.put({ "\U0001f601": 1 })'
    )
    async with checked_kit([InMemoryProvider("app", [put])]) as code_mode:
        result = await code_mode.run(program)
    assert result.error is not None
    sent = json.dumps(result.to_wire(), ensure_ascii=False).encode()
    assert [error["kind"] for error in json.loads(sent)["error"]["details"]["errors"]] == [
        "wrongType", "wrongType", "unknownTool", "wrongField",
    ]  # fmt: skip
    assert "`\U0001f600` of `tools.app.put` must be string" in result.error.message


@pytest.mark.anyio
async def test_many_mistakes_are_told_together_and_bounded() -> None:
    async with checked_kit([InMemoryProvider("app")]) as code_mode:
        result = await code_mode.run("\n".join(f"tools.app.tool{number}({{}});" for number in range(50)))
    assert result.error is not None
    assert result.error.code is DiagnosticCode.TYPE_ERROR
    assert [error["location"]["line"] for error in result.error.details["errors"]] == list(range(1, 9))
    assert len(result.error.message) < 2_000
    assert result.error.frame is not None
    assert len(result.error.frame.splitlines()) <= 5


@pytest.mark.anyio
async def test_programs_that_use_no_tool_are_never_kept_from_running() -> None:
    cases = json.loads((CORPUS / "typescript.json").read_text(encoding="utf-8"))
    hostile = json.loads((CORPUS / "hostile.json").read_text(encoding="utf-8"))
    texts = [case["src"] for case in cases] + [*hostile["memory"].values(), *hostile["cpu"].values()]
    assert len(texts) > 100
    async with checked_kit([InMemoryProvider("app")]) as code_mode:
        for text in texts:
            check = await code_mode.check(text)
            assert check.error is None or check.error.code is not DiagnosticCode.TYPE_ERROR, text
