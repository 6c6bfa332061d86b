"""The page on configuration knows every key of the schema, of rules and of limits, and no other."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, Final

import jsonschema_rs
import pytest
from docs_pages import ROOT, blocks, sections

from codemodekit.errors import ConfigurationError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import policy_rules
from codemodekit.servers.config import POLICY_NAMES, SERVER_LIMITS

pytestmark = pytest.mark.proves("house.docs")

PAGE: Final = ROOT / "docs" / "configuration.md"
PARTS: Final = sections(PAGE, 2)
SCHEMA: Final[dict[str, Any]] = json.loads((files("codemodekit.servers.config") / "schema.json").read_text("utf-8"))
RULE_KEYS: Final = {
    "match", "effect", "when.source", "when.input", "when.readOnly", "when.destructive", "when.principal",
    "limit.perRun", "limit.perMinute", "limit.eachPrincipal", "reason",
}  # fmt: skip


def rows(part: str) -> dict[str, list[str]]:
    """The tables of a section by what stands in code in their first column."""
    found = re.findall(r"^\| `\"?([^`\"]+)\"?` \|(.*)\|$", PARTS[part], re.MULTILINE)
    return {key: [cell.strip() for cell in rest.split(" | ")] for key, rest in found}


def test_every_top_level_key_is_documented_and_no_other() -> None:
    assert set(rows("Top level")) == set(SCHEMA["properties"])


def test_every_key_of_a_server_is_documented_and_no_other() -> None:
    documented = rows("MCP servers")
    local, remote = (set(SCHEMA["$defs"][kind]["properties"]) for kind in ("stdio", "remote"))
    assert set(documented) == local | remote
    meant = {"stdio": local - remote, "remote": remote - local, "both": local & remote}
    for kind, keys in meant.items():
        assert {key for key, cells in documented.items() if cells[0] == kind} == keys


def test_every_key_of_a_plugin_is_documented_and_no_other() -> None:
    assert set(rows("Plugins")) == set(SCHEMA["$defs"]["plugin"]["properties"])


def test_every_key_of_the_audit_log_is_documented_and_no_other() -> None:
    assert set(rows("Audit")) == set(SCHEMA["$defs"]["audit"]["properties"])


def test_every_key_of_an_api_is_documented_and_no_other() -> None:
    assert set(rows("APIs")) == set(SCHEMA["$defs"]["api"]["properties"])


def test_every_limit_is_documented_with_its_default() -> None:
    documented = {key: int(cells[0]) for key, cells in rows("Limits").items()}
    assert documented == ExecutionLimits().to_wire()


def test_limits_of_a_server_are_documented() -> None:
    served, library = SERVER_LIMITS.to_wire(), ExecutionLimits().to_wire()
    differing = {key: str(value) for key, value in served.items() if value != library[key]}
    said = {key: cells[1] for key, cells in rows("Limits").items() if "`serve`" in cells[1]}
    assert set(said) == set(differing)
    assert all(value in said[key] for key, value in differing.items())


def test_every_named_policy_is_documented() -> None:
    assert set(POLICY_NAMES) <= set(rows("Policy"))


def test_every_key_of_a_rule_is_documented_and_known() -> None:
    assert {key for key in rows("Policy") if key not in POLICY_NAMES} == RULE_KEYS
    with pytest.raises(ConfigurationError) as refused:
        policy_rules([{"?": 1}])
    known = set(re.findall(r"[\w]+", str(refused.value).partition("known: ")[2]))
    assert known == {key.partition(".")[0] for key in RULE_KEYS}


def test_configs_on_the_page_are_valid() -> None:
    validator = jsonschema_rs.validator_for(SCHEMA)
    shown = [json.loads(block.text) for block in blocks(PAGE) if block.language == "json"]
    configs = [value for value in shown if isinstance(value, dict)]
    rules = [value for value in shown if isinstance(value, list)]
    assert configs
    assert rules
    assert all(validator.is_valid(config) for config in configs)
    assert all(policy_rules(each) for each in rules)
