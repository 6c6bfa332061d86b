from __future__ import annotations

import re
from urllib.parse import quote as quote_pointer

import pytest

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import RESULT_CONTRACT, declare_catalog, declare_source, declare_tool

from .schema_corpus import CASES

SEARCH = ToolDefinition(
    name="search_issues",
    description="Find issues.",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for.", "minLength": 1},
            "limit": {"type": "integer", "default": 10, "maximum": 100},
        },
        "required": ["query"],
    },
    output_schema={
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Issue"}}},
        "required": ["items"],
        "$defs": {
            "Issue": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "parent": {"$ref": "#/$defs/Issue"}},
                "required": ["id"],
            }
        },
    },
)


@pytest.mark.proves("types.compile", "types.docs")
def test_one_tool_is_declared_with_its_types_docs_and_signature() -> None:
    assert declare_tool("github", SEARCH, "tools.github.search_issues") == (
        """\
interface GithubSearchIssuesInput {
  /** What to look for. @minLength 1 */
  query: string;
  /** @integer @default 10 @maximum 100 */
  limit?: number;
}
interface GithubSearchIssuesOutput {
  items: GithubIssue[];
}
interface GithubIssue {
  /** @integer */
  id: number;
  parent?: GithubIssue;
}
// tools.github.search_issues(input)
interface GithubTools {
  /** Find issues. */
  search_issues(input: GithubSearchIssuesInput): Promise<ToolResult<GithubSearchIssuesOutput>>;
}
"""
    )


@pytest.mark.proves("types.compile")
def test_every_emitted_file_compiles_by_itself(tsc) -> None:
    awkward = [
        "contacts",
        "contacts.find",
        "then",
        "delete",
        "new",
        "a b",
        'q"\n\u2028',
        "a..b",
        "__proto__",
        "é",
        "a." * 9_000 + "a",
    ]
    odd = [ToolDefinition(name=name) for name in awkward]
    sources = {
        "github": [SEARCH, *odd],
        "deployment-api": [SEARCH],
        "then": [SEARCH],
        "$call": [SEARCH],
        "git": [],
        "class": odd,
    }
    files = {
        "contract.d.ts": RESULT_CONTRACT,
        "catalog.d.ts": declare_catalog(sources),
        "source.d.ts": declare_source("github", [SEARCH, *odd]),
        "tools.d.ts": RESULT_CONTRACT
        + "".join(declare_tool("github", definition, "tools.github.x") for definition in [SEARCH, *odd]),
    }
    assert tsc.check(files) == {name: [] for name in files}


@pytest.mark.proves("types.compile", "search.contract")
def test_every_schema_of_the_corpus_gives_a_declaration_that_stands_beside_the_contract(tsc) -> None:
    files = {
        f"{at}.d.ts": RESULT_CONTRACT
        + declare_tool("s", ToolDefinition(name="t", input_schema=case.schema, output_schema=case.schema), "tools.s.t")
        for at, case in enumerate(CASES)
    }
    assert {name: found for name, found in tsc.check_modules(files).items() if found} == {}


def _errors(tsc, declarations: str, program: str) -> list[str]:
    body = f"async function program() {{\n{program}\n}}\nvoid program;\n"
    return tsc.check_modules({"program.ts": declarations + body})["program.ts"]


@pytest.mark.proves("search.contract")
def test_the_recipe_in_the_result_contract_compiles(tsc) -> None:
    recipe = "\n".join(re.findall(r"^ \*   (.*)$", RESULT_CONTRACT, re.MULTILINE))
    assert "JSON.parse" in recipe
    catalog = declare_catalog({"source": [ToolDefinition(name="tool")]})
    assert _errors(tsc, catalog, recipe + "\nreturn data;") == []


@pytest.mark.proves("api.content-blocks", "types.by-value")
def test_content_blocks_are_told_apart_by_their_type(tsc) -> None:
    program = """
      const { content } = await tools.$call("s", "t");
      for (const block of content) {
        if (block.type === "text") block.text.trim();
        else if (block.type === "image") console.log(block.data, block.mimeType);
        else if (block.type === "resource") console.log(block.resource.text ?? block.resource.blob);
      }
      try { await tools.$call("s", "t", context); } catch (error) {
        if (error instanceof ToolCallError && error.code === "TOOL_INPUT_INVALID") console.warn(error.tool);
      }"""
    assert _errors(tsc, declare_catalog({}), program) == []


@pytest.mark.proves("catalog.dotted", "catalog.names")
def test_tools_are_reached_by_dots_brackets_and_paths(tsc) -> None:
    names = ["contacts", "contacts.find", "a-b", "a_b", "aB", "delete", "new", "a..b"]
    catalog = declare_catalog({"crm": [ToolDefinition(name=name) for name in names], "my-api": [SEARCH]})
    program = """
      await tools.crm.contacts(); await tools.crm.contacts.find(); await tools.crm["contacts.find"]();
      await tools.crm["a-b"](); await tools.crm.a_b(); await tools.crm.aB(); await tools.crm["a..b"]();
      await tools.crm.delete(); await tools.crm.new();
      const { structuredContent } = await tools["my-api"].search_issues({ query: "x", limit: 3 });
      const id: number | undefined = structuredContent?.items[0]?.parent?.id;
      return id;"""
    assert _errors(tsc, catalog, program) == []


@pytest.mark.proves("types.by-value")
@pytest.mark.parametrize(
    "mistake",
    [
        "tools.github.search_issue({ query: 'x' })",
        "tools.gitlab.search_issues({ query: 'x' })",
        "tools.github.search_issues()",
        "tools.github.search_issues({})",
        "tools.github.search_issues({ query: 1 })",
        "tools.github.search_issues({ query: 'x', limits: 3 })",
        "(await tools.github.search_issues({ query: 'x' })).structuredContent?.item",
        "(await tools.github.search_issues({ query: 'x' })).structuredContent.items",
        "(await tools.github.other()).structuredContent.items",
    ],
)
def test_mistakes_about_tools_are_errors(tsc, mistake: str) -> None:
    catalog = declare_catalog({"github": [SEARCH, ToolDefinition(name="other")]})
    assert len(_errors(tsc, catalog, f"return {mistake};")) == 1


@pytest.mark.proves("types.by-value")
def test_an_argument_is_optional_only_where_nothing_is_required() -> None:
    def parameter(schema: object) -> str:
        text = declare_tool("s", ToolDefinition(name="t", input_schema=schema), "tools.s.t")
        return text.rsplit("  t(", 1)[1].split(")")[0]

    needs = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert parameter({"type": "object"}) == "input?: Record<string, unknown>"
    assert (
        parameter({"type": "object", "properties": {}, "additionalProperties": False})
        == "input?: Record<string, never>"
    )
    assert parameter({**needs, "required": []}) == "input?: STInput"
    assert parameter(needs) == "input: STInput"
    assert parameter({"$ref": "#/$defs/In", "$defs": {"In": needs}}) == "input: SIn"
    assert parameter({"anyOf": [needs, {"type": "object", "required": ["b"]}]}).startswith("input: ")
    assert parameter({"allOf": [{"type": "object"}, needs]}) == "input: STInput"


@pytest.mark.proves("types.compile")
def test_a_type_that_tools_share_is_written_once() -> None:
    issue = {"Issue": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Issue"}}}}
    tools = [
        ToolDefinition(name=name, output_schema={"type": "array", "items": {"$ref": "#/$defs/Issue"}, "$defs": issue})
        for name in ("list", "search")
    ]
    text = declare_catalog({"github": tools})
    assert text.count("interface GithubIssue") == 1
    assert text.count("ToolResult<GithubIssue[]>") == 2


@pytest.mark.proves("types.compile")
def test_types_that_differ_only_far_from_their_root_stay_apart() -> None:
    def output(end: dict[str, object]) -> dict[str, object]:
        defs = {f"N{n}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/N{n + 1}"}}} for n in range(40)}
        return {"$ref": "#/$defs/N0", "$defs": {**defs, "N40": {"type": "object", "properties": {"end": end}}}}

    tools = [
        ToolDefinition(name="one", output_schema=output({"type": "string"})),
        ToolDefinition(name="two", output_schema=output({"type": "number"})),
    ]
    text = declare_catalog({"s": tools})
    assert "interface SN0 {" in text and "interface SN0_2 {" in text
    assert "end?: string" in text and "end?: number" in text


@pytest.mark.proves("mcp.app-only")
def test_a_tool_hidden_from_programs_is_not_declared() -> None:
    hidden = ToolDefinition(name="hidden", model_visible=False)
    assert declare_catalog({"s": [SEARCH, hidden]}) == declare_catalog({"s": [SEARCH]})


@pytest.mark.proves("types.bounded")
def test_order_of_sources_and_tools_does_not_matter() -> None:
    tools = [ToolDefinition(name=name) for name in ("a_b", "aB", "a-b", "contacts.find", "contacts")]
    forward = declare_catalog({"x": [*tools, SEARCH], "y": tools})
    assert declare_catalog({"y": tools[::-1], "x": [SEARCH, *tools[::-1]]}) == forward


@pytest.mark.proves("types.docs")
def test_text_from_a_source_stays_in_its_comment_or_literal(tsc) -> None:
    evil = "*/ } declare const stolen: any; /* \u2028 \n // \r ` ${x} \\"
    schema = {
        "type": "object",
        "description": evil,
        "properties": {
            evil: {"type": "string", "description": evil, "default": evil, "pattern": evil, "examples": [evil]},
            "x": {"enum": [evil, *(f"{evil}{n}" for n in range(500))], "title": evil, "format": evil},
        },
        "patternProperties": {evil: {"type": "string"}, "b": {}},
        "$defs": {evil: {"enum": [evil]}},
        "anyOf": [{"properties": {"y": {"$ref": "#/$defs/" + quote_pointer(evil.replace("/", "~1"))}}}],
    }
    tool = ToolDefinition(name=evil, description=evil, input_schema=schema, output_schema=schema)
    catalog = declare_catalog({evil: [tool]})
    files = {"catalog.d.ts": catalog, "tool.d.ts": RESULT_CONTRACT + declare_tool(evil, tool, evil)}
    assert tsc.check(files) == {name: [] for name in files}
    assert len(_errors(tsc, catalog, "return stolen;")) == 1


@pytest.mark.proves("types.bounded")
def test_a_large_tool_keeps_its_properties_and_gives_up_its_comments() -> None:
    properties = {f"p{n}": {"type": "string", "description": "What it is for. " * 20} for n in range(150)}
    text = declare_tool("s", ToolDefinition(name="t", input_schema={"type": "object", "properties": properties}), "t")
    assert all(f"  p{n}?: string;\n" in text for n in range(150))
    assert "What it is for" not in text


@pytest.mark.proves("types.bounded")
def test_what_does_not_fit_is_said_to_be_missing() -> None:
    properties = {f"p{n}": {"type": "string"} for n in range(3_000)}
    text = declare_tool("s", ToolDefinition(name="t", input_schema={"type": "object", "properties": properties}), "t")
    assert "more properties, not shown" in text and "[key: string]: unknown;" in text
