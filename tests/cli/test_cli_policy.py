"""`policy explain`: which rule decides, and why, for every form a policy has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_running import Run, complaint

pytestmark = pytest.mark.proves("policy.explain")

TOOLS = """
from codemodekit import define_tool

@define_tool(read_only=True)
def look(path: str = "") -> str:
    return path

@define_tool(name="contacts.find")
def find(n: int = 0) -> int:
    return n

broken = define_tool(lambda: 1, name="broken", input_schema={"type": "object", "$ref": "https://example.com/x"})
tools = [look, find, broken]
dotted = [define_tool(lambda: 1, name="find")]
"""
RULES = [
    {"match": "crm.*", "when": {"readOnly": True}, "effect": "allow"},
    {"match": "*.find", "when": {"principal": "ada"}, "effect": "allow", "limit": {"perRun": 2}},
    {"match": "*.find", "when": {"principal": {"/role": "admin"}}, "effect": "ask", "reason": "sure?"},
]


@pytest.fixture
def explain(cli: Run, tmp_path: Path) -> Run:
    """Runs `policy explain` with two sources, one of which holds a dot in its name, and one that is down."""
    (tmp_path / "cmk_policy_tools.py").write_text(TOOLS)
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    config = {
        "mcpServers": {"down": {"command": "x", "env": {"K": "${CMK_ABSENT}"}}},
        "python": {"crm": "cmk_policy_tools:tools", "crm.contacts": "cmk_policy_tools:dotted"},
        "policy": "rules.json",
    }
    (tmp_path / "codemode.json").write_text(json.dumps(config))
    return lambda *words: cli("policy", "explain", *words)


def found(result: tuple[int, str, str]) -> dict[str, Any]:
    return {"exit": result[0], **json.loads(result[1])}


@pytest.mark.parametrize(
    ("words", "decision", "rule", "why"),
    [
        (("crm.look",), "allow", 1, "rule 1 (crm.*) says allow; the source says true for readOnly (a hint, not a fact"),
        (("crm.contacts.find", "--source", "crm", "--principal", "ada"), "allow", 2, "it lets 2 calls of a run"),
        (("crm.contacts.find", "--source", "crm.contacts", "--principal", '{"role": "admin"}'), "ask", 3, "/role"),
        (("crm.contacts.find", "--source", "crm"), "deny", None, "no rule of the policy matches"),
        (("crm.look", "--policy", "allow-all"), "allow", None, "the policy allows every call"),
        (("crm.look", "--policy", "deny-all"), "deny", None, "the policy denies every call"),
        (("crm.look", "--policy", "read-only"), "allow", None, "the source's word and no fact"),
        (("crm.contacts.find", "--source", "crm", "--policy", "read-only"), "deny", None, "the source's word"),
    ],
)
def test_every_form_of_policy_is_explained(
    explain: Run, words: tuple[str, ...], decision: str, rule: int | None, why: str
) -> None:
    told = found(explain(*words, "--json"))
    assert (told["exit"], told["callable"], told["decision"], told.get("rule")) == (0, True, decision, rule)
    assert why in told["why"]


def test_the_rules_before_it_and_what_nobody_can_approve_are_told(explain: Run) -> None:
    words = ("crm.contacts.find", "--source", "crm", "--principal", '{"role": "admin"}', "--input", '{"n": 1}')
    told = found(explain(*words, "--json"))
    assert told["passedOver"] == [
        {"rule": 1, "why": "the source says nothing about readOnly (a hint, not a fact; wanted true)"},
        {"rule": 2, "why": 'the principal is {"role":"admin"} (glob \'ada\')'},
    ]
    assert (told["reason"], told["annotations"]) == ("sure?", {})
    assert told["notes"] == ["a host that runs from a config has no approver, so that 'ask' denies"]
    code, out, _ = explain(*words)
    assert code == 0
    assert "crm.contacts.find: ask" in out
    assert "rules.json" in out
    assert "the principal is" in out


@pytest.mark.proves("bridge.order")
@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("down.anything",), "the environment variable 'CMK_ABSENT' is not set"),
        (("crm.broken",), "its schema cannot be enforced"),
        (("crm.look", "--input", '{"pth": ""}'), "rejected before the policy is asked: /pth"),
        (("crm.look", "--input", "[]"), "rejected before the policy is asked"),
    ],
)
def test_a_call_that_would_not_get_to_the_policy_is_explained_and_exits_with_1(
    explain: Run, words: tuple[str, ...], note: str
) -> None:
    told = found(explain(*words, "--json"))
    assert (told["exit"], told["callable"]) == (1, False)
    assert note in told["notes"][0]
    code, out, _ = explain(*words)
    assert code == 1
    assert note in out


@pytest.mark.proves("error.near-names")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cmr.look",), ("no source 'cmr'", "did you mean 'crm'")),
        (("zzz.look",), ("no source 'zzz'", "configured: down, crm, crm.contacts")),
        (("crm.lok",), ("source 'crm' has no tool 'lok'", "did you mean 'look'")),
        (("crm",), ("SOURCE.TOOL", "crm.<tool>")),
        (("crm.contacts.find",), ("'crm' and 'crm.contacts'", "--source")),
        (("crm.look", "--source", "cm"), ("no source 'cm'", "did you mean 'crm'")),
        (("crm.look", "--input", "{"), ("--input:1:2: not JSON",)),
        (("crm.look", "--principal", "{x"), ("--principal:1:2: not JSON",)),
        (("crm.look", "--policy", "allow"), ("did you mean 'allow-all'",)),
        ((), ("SOURCE.TOOL",)),
    ],
)
def test_what_does_not_exist_is_a_mistake_of_the_command_line(
    explain: Run, words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    complaint(explain(*words), *said)


@pytest.mark.proves("cli.commands")
def test_a_group_needs_one_of_its_commands(cli: Run) -> None:
    complaint(cli("policy"), "Missing command")
    complaint(cli("policy", "explan"), "'explain'")


def test_only_the_source_in_question_is_started(explain: Run, tmp_path: Path) -> None:
    (tmp_path / "cmk_policy_never.py").write_text("raise SystemExit('imported')")
    config = json.loads((tmp_path / "codemode.json").read_text())
    config["python"]["never"] = "cmk_policy_never:tools"
    (tmp_path / "codemode.json").write_text(json.dumps(config))
    code, _, err = explain("crm.look")
    assert (code, err) == (0, "")
