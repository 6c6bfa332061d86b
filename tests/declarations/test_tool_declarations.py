from __future__ import annotations

from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import RESULT_CONTRACT, declare_catalog, declare_source, declare_tool

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


def test_every_emitted_file_compiles_by_itself(tsc) -> None:
    awkward = ["contacts", "contacts.find", "then", "delete", "new", "a b", 'q"\n\u2028', "a..b", "__proto__", "é"]
    odd = [ToolDefinition(name=name) for name in awkward]
    sources = {"github": [SEARCH, *odd], "deployment-api": [SEARCH], "then": [SEARCH], "git": [], "class": odd}
    files = {
        "contract.d.ts": RESULT_CONTRACT,
        "catalog.d.ts": declare_catalog(sources),
        "source.d.ts": declare_source("github", [SEARCH, *odd]),
        "tools.d.ts": RESULT_CONTRACT
        + "".join(declare_tool("github", definition, "tools.github.x") for definition in [SEARCH, *odd]),
    }
    assert tsc.check(files) == {name: [] for name in files}
