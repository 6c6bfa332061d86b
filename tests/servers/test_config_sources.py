"""From a config to providers and to a Code Mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codemodekit.code_mode import CodeMode
from codemodekit.errors import SourceLost
from codemodekit.servers.assemble import build_code_mode
from codemodekit.servers.config import SERVER_LIMITS, ConfigError, PolicyRules, UnavailableSource, load_config
from codemodekit.servers.policies import build_policy
from codemodekit.servers.sources import PythonProvider, UnavailableProvider, providers_of

pytestmark = pytest.mark.anyio


def load(folder: Path, data: dict[str, Any]) -> Any:
    (folder / "codemode.json").write_text(json.dumps(data))
    return load_config(config=Path("codemode.json"), folder=folder, environment={})


@pytest.mark.proves("config.checked", "mcp.transports")
async def test_every_source_of_a_config_becomes_a_provider_of_its_name(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        {
            "mcpServers": {
                "a": {"command": "x", "mode": "2025-11-25"},
                "b": {"url": "https://h/mcp", "headers": {"X": "y"}},
                "c": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
                "d": {"command": "${GONE}"},
            },
            "python": {"e": "m:t"},
        },
    )
    assert [provider.name for provider in providers_of(config)] == ["a", "b", "c", "d", "e"]


@pytest.mark.proves("config.checked")
async def test_a_setting_that_a_provider_refuses_names_the_source(tmp_path: Path) -> None:
    config = load(tmp_path, {"mcpServers": {"crm": {"url": "https://user:pass@h/mcp"}}})
    with pytest.raises(ConfigError, match="source 'crm'") as caught:
        providers_of(config)
    assert "pass@" not in str(caught.value)


@pytest.mark.proves("config.expands")
async def test_an_unavailable_source_says_why_at_every_attempt() -> None:
    provider = UnavailableProvider("crm", "the environment variable 'TOKEN' is not set")
    for _attempt in range(2):
        with pytest.raises(SourceLost, match="'TOKEN' is not set"):
            async with provider.connect():
                raise AssertionError("connected")


@pytest.mark.proves("catalog.independent")
@pytest.mark.parametrize(
    ("text", "attribute", "reason"),
    [
        (None, "tools", "cannot import 'cmk_absent'"),
        ("1/0", "tools", "importing 'cmk_failing' failed with ZeroDivisionError"),
        ("raise SystemExit(3)", "tools", "importing 'cmk_leaving' failed with SystemExit"),
        ("raise KeyboardInterrupt", "tools", "importing 'cmk_interrupting' failed with KeyboardInterrupt"),
        ("\ndef tools(:", "tools", "importing 'cmk_misspelt' failed: invalid syntax (cmk_misspelt.py, line 2)"),
        ("tols = []", "tools", "module 'cmk_other' has no attribute 'tools'"),
        ("tools = 5", "tools", "cmk_number:tools is of type int, not a list or dict of functions"),
        ("tools = [5]", "tools", "cmk_inside:tools: "),
    ],
)
async def test_python_tools_that_cannot_be_had_cost_their_source_only(
    tmp_path: Path, text: str | None, attribute: str, reason: str
) -> None:
    module = reason.partition("cmk_")[2].partition("'")[0].partition(":")[0]
    if text is not None:
        (tmp_path / f"cmk_{module}.py").write_text(text)
    provider = PythonProvider("app", f"cmk_{module}", attribute, import_folders=[tmp_path])
    with pytest.raises(SourceLost) as caught:
        async with provider.connect():
            raise AssertionError("connected")
    assert reason in str(caught.value)


@pytest.mark.proves("config.checked")
async def test_python_tools_are_found_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "cmk_beside.py").write_text("class group:\n    tools = {'twice': lambda x: 2 * x}\n")
    config = load(tmp_path, {"python": {"app": "cmk_beside:group.tools"}, "policy": "allow-all"})
    async with build_code_mode(config) as code_mode:
        await code_mode.settled(5)
        result = await code_mode.run("return (await tools.app.twice({x: 21})).structuredContent")
    assert result.ok, result
    assert result.value == 42


@pytest.mark.proves("api.policy-required")
async def test_without_a_policy_nothing_is_built(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="policy"):
        build_code_mode(load(tmp_path, {}))


@pytest.mark.proves("limit.host-only", "config.checked")
async def test_limits_of_the_config_stand_on_those_of_a_server(tmp_path: Path) -> None:
    code_mode = build_code_mode(load(tmp_path, {"limits": {"maxToolCalls": 3}}), policy_override="deny-all")
    try:
        assert isinstance(code_mode, CodeMode)
        assert code_mode.limits.max_tool_calls == 3
        assert code_mode.limits.wall_time_ms == SERVER_LIMITS.wall_time_ms == 120_000
    finally:
        await code_mode.aclose()


@pytest.mark.proves("policy.rules")
async def test_rules_that_are_not_sound_name_their_place() -> None:
    with pytest.raises(ConfigError, match=r"rules\.json: policy rule 1"):
        build_policy(PolicyRules(({"match": "a.*"},), "rules.json"))


@pytest.mark.proves("catalog.independent", "catalog.health")
async def test_an_unavailable_source_shows_in_health_and_its_sibling_works(tmp_path: Path) -> None:
    (tmp_path / "cmk_sibling.py").write_text("def one() -> int:\n    return 1\ntools = [one]\n")
    config = load(
        tmp_path,
        {
            "mcpServers": {"crm": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}},
            "python": {"app": "cmk_sibling:tools"},
            "policy": "allow-all",
        },
    )
    assert UnavailableSource(name="crm", reason="the environment variable 'CRM_TOKEN' is not set") in config.sources
    async with build_code_mode(config) as code_mode:
        await code_mode.settled(5)
        crm, app = code_mode.health()
        result = await code_mode.run("return (await tools.app.one({})).structuredContent")
    assert (crm.state, crm.last_error) == ("unavailable", "the environment variable 'CRM_TOKEN' is not set")
    assert app.state == "healthy"
    assert result.value == 1
