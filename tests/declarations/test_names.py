from __future__ import annotations

import json

import pytest

from codemodekit.declarations.names import TypeNames, call_expression, member, quote, tool_type_name, type_name


@pytest.mark.proves("types.docs")
@pytest.mark.parametrize(
    "text", ["", "a", '"', "\\", "\n\r\t\0", "\u2028\u2029", "\ud800", "é", "\u202e", "👩\u200d👧", "\u00a0"]
)
def test_a_quoted_name_is_one_printable_line_that_means_the_same(text: str) -> None:
    quoted = quote(text)
    assert json.loads(quoted) == text
    assert quoted.isprintable()


@pytest.mark.proves("catalog.names", "catalog.dotted")
@pytest.mark.parametrize(
    ("source", "tool", "expression"),
    [
        ("github", "searchIssues", "tools.github.searchIssues"),
        ("deployment-api", "deploy", 'tools["deployment-api"].deploy'),
        ("crm", "contacts.find", "tools.crm.contacts.find"),
        ("crm", "contacts.find one", 'tools.crm["contacts.find one"]'),
        ("crm", "a..b", 'tools.crm["a..b"]'),
        ("crm", "a.then", 'tools.crm["a.then"]'),
        ("db", "delete", "tools.db.delete"),
        ("1", "\n", 'tools["1"]["\\n"]'),
    ],
)
def test_a_tool_is_called_by_its_exact_name(source: str, tool: str, expression: str) -> None:
    assert call_expression(source, tool) == expression


@pytest.mark.proves("catalog.names")
def test_members_that_would_mean_something_else_are_quoted() -> None:
    assert [member(name) for name in ("new", "get", "a-b", "", "$a_1", "é")] == [
        '"new"',
        '"get"',
        '"a-b"',
        '""',
        "$a_1",
        '"é"',
    ]


@pytest.mark.proves("types.compile")
def test_type_names_are_readable_and_identifiers() -> None:
    assert type_name("deployment-api", "get item", "Input") == "DeploymentApiGetItemInput"
    assert type_name("é", "1") == "X1"
    assert type_name("1") == "T1"
    assert len(type_name("x" * 1_000)) == 80


@pytest.mark.proves("types.compile")
def test_a_tool_that_repeats_its_source_does_not_say_it_twice() -> None:
    assert tool_type_name("git", "git_log", "Input") == "GitLogInput"
    assert tool_type_name("git", "github", "Input") == "GitGithubInput"
    assert tool_type_name("git", "git", "Input") == "GitGitInput"


@pytest.mark.proves("types.compile")
def test_a_type_name_is_given_once() -> None:
    names = TypeNames(["A"])
    assert [names.take(name) for name in ("A", "B", "A", "B", "MIDIInput")] == ["A_2", "B", "A_3", "B_2", "MIDIInput_2"]
