"""Rules as people write them, well and badly: what cannot mean anything is refused with its number and key."""

from __future__ import annotations

import datetime
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from codemodekit.errors import ConfigurationError
from codemodekit.policy import policy_rules
from codemodekit.servers.config import read_policy
from codemodekit.servers.policies import build_policy

pytestmark = pytest.mark.proves("policy.rules")


def rule(**more: Any) -> dict[str, Any]:
    return {"match": "*", "effect": "allow", **more}


def when(**more: Any) -> dict[str, Any]:
    return rule(when=more)


FAULTS: list[tuple[Any, str]] = [
    ({}, "match"),
    (rule(effects="allow"), "did you mean 'effect'"),
    (rule(WHEN={}), "did you mean 'when'"),
    (rule(zzz=1), "known: match, when, effect, reason, limit"),
    ({"match": "*"}, "'effect' must be"),
    (rule(effect="permit"), "permit"),
    (rule(effect="Deny"), "did you mean 'deny'"),
    (rule(effect=["allow"]), "effect"),
    (rule(match=1), "match"),
    (rule(match=[]), "match"),
    (rule(match=None), "match"),
    (rule(match=["*", 1]), "match"),
    (rule(match=""), "fits no"),
    (rule(match="git"), "'git.*'"),
    (rule(match=["git.*", "fs"]), "'fs.*'"),
    (rule(when=None), "'when' must be an object"),
    (rule(when=[]), "'when' must be an object"),
    (when(readonly=True), "did you mean 'readOnly'"),
    (when(READONLY=True), "did you mean 'readOnly'"),
    (when(inputs={}), "did you mean 'input'"),
    (when(readOnly="yes"), "true or false"),
    (when(readOnly=None), "true or false"),
    (when(destructive=1), "true or false"),
    (when(source=5), "text"),
    (when(principal=None), "principal"),
    (when(principal=7), "principal"),
    (when(principal={}), "principal"),
    (when(principal={"role": "x"}), "JSON pointer"),
    (when(input={"path": 1}), "JSON pointer"),
    (when(input=[]), "input"),
    (when(input={"/p": {"regex": "x"}}), "regex"),
    (when(input={"/p": {"Equals": "x"}}), "did you mean 'equals'"),
    (when(input={"/p": {}}), "no test"),
    (when(input={"/p": {"in": "text"}}), "in"),
    (when(input={"/p": {"glob": 1}}), "glob"),
    (when(input={"/p": {"exists": "yes"}}), "exists"),
    (when(input={"/p": {"atMost": True}}), "atMost"),
    (when(input={"/p": {"atMost": float("nan")}}), "atMost"),
    (when(input={"/p": {"atLeast": float("inf")}}), "atLeast"),
    (when(input={"/p": {"equals": float("nan")}}), "equals"),
    (when(input={"/p": datetime.date(2026, 1, 1)}), "equals"),
    (rule(limit={"perRun": 0}), "perRun"),
    (rule(limit={"perRun": True}), "perRun"),
    (rule(limit={"perRun": None}), "perRun"),
    (rule(limit={"perMinute": 1.5}), "perMinute"),
    (rule(limit={"perHour": 1}), "perHour"),
    (rule(limit={"perrun": 1}), "did you mean 'perRun'"),
    (rule(limit={"eachPrincipal": True}), "perMinute"),
    (rule(limit=5), "limit"),
    (rule(effect="deny", limit={"perRun": 1}), "limit"),
    (rule(reason=5), "reason"),
    ("allow", "must be an object"),
    (None, "must be an object"),
    ([rule()], "must be an object"),
]


@pytest.mark.parametrize(("fault", "said"), FAULTS, ids=lambda value: str(value)[:60])
def test_what_is_no_rule_is_refused_with_its_number_and_key(fault: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match="policy rule 2") as refusal:
        policy_rules([rule(), fault])
    assert said in str(refusal.value)
    assert len(str(refusal.value)) < 400


SOUND: list[dict[str, Any]] = [
    rule(),
    rule(effect="deny", limit={}),
    rule(effect="ask", reason="sure?", limit={"perRun": 1, "perMinute": 2, "eachPrincipal": False}),
    rule(match=["git.*", "[a-c]*"], when={}),
    when(source="git", readOnly=False, destructive=True, principal="*@example.com"),
    when(principal={"": {"exists": False}, "/role": "admin"}),
    when(input={"": [], "/": None, "/a~0/b~1": {"equals": {}, "in": [1], "glob": "", "exists": True}, "//": "x"}),
    when(input={"/n\n": {"atMost": 1.5, "atLeast": -1}, "/é": 1}),
]


def is_json(value: Any) -> bool:
    """Whether it can stand in a config of JSON, which has no dates and no NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.proves("config.schema")
@pytest.mark.parametrize(
    "given", [*SOUND, *(fault for fault, _ in FAULTS if is_json(fault))], ids=lambda value: str(value)[:60]
)
def test_the_schema_of_the_config_accepts_and_refuses_rules_as_the_reader_does(given: Any) -> None:
    schema = json.loads((files("codemodekit.servers.config") / "schema.json").read_text("utf-8"))
    assert jsonschema_rs.validator_for(schema).is_valid({"policy": [given]}) is (given in SOUND)
    if given in SOUND:
        policy_rules([given])


@pytest.mark.parametrize("rules", ["text", {"match": "*", "effect": "allow"}, None, 5, b"x"], ids=repr)
def test_rules_come_in_a_list(rules: Any) -> None:
    with pytest.raises(ConfigurationError, match="list"):
        policy_rules(rules)


def test_a_key_of_great_length_is_not_repeated_in_full() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        policy_rules([rule(**{"k" * 100_000: 1})])
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rules.json", '{"rules": [], "rule": 1}', "did you mean 'rules'"),
        ("rules.json", '[{"match": "*", "effect": "deny", "effect": "allow"}]', "stands twice"),
        ("rules.json", '[{"match": "*", "effect": "alow"}]', "did you mean 'allow'"),
        ("rules.json", '{"rules": {}}', "expected a list"),
        ("rules.json", "7", "object"),
        ("rules.json", "[" * 100_000, "nested too deeply"),
        ("rules.json", '[{"match": "*", "effect": "allow", "limit": {"perRun": NaN}}]', "NaN"),
        ("rules.toml", '[[rules]]\nmatch = "*"\neffect = "allow"\nwhen.input."/d" = 2026-01-01', "equals"),
        ("rules.toml", '[[rules]]\nmatch = "*"\neffect = "allow"\nwhen.input."/d" = {atMost = nan}', "atMost"),
    ],
)
def test_a_file_of_rules_is_read_as_strictly(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as refusal:
        build_policy(read_policy(name, folder=tmp_path, where="--policy"))
    assert said in str(refusal.value)
    assert name in str(refusal.value)
