"""The `plugins` of a config: their servers become sources, and what is wrong with a plugin costs that plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from codemodekit.servers.config import Config, ConfigError, PluginSource, load_config
from codemodekit.servers.sources import providers_of

pytestmark = pytest.mark.proves("plugin.loads")

SCHEMAS: Final = "https://agent-plugins.org/schemas/1.0.0"
PLAIN: Final = {"type": "stdio", "command": "plain"}


def package(root: Path, name: str, *servers: str, **wrong: Any) -> None:
    root.mkdir(parents=True, exist_ok=True)
    manifest = {"$schema": f"{SCHEMAS}/plugin.schema.json", "name": name}
    document = {"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": {**dict.fromkeys(servers, PLAIN), **wrong}}
    (root / "plugin.json").write_text(json.dumps(manifest), encoding="utf-8")
    (root / "mcp.json").write_text(json.dumps(document), encoding="utf-8")


def load(folder: Path, config: dict[str, Any], mcp: dict[str, Any] | None = None, **environment: str) -> Config:
    (folder / "codemode.json").write_text(json.dumps(config), encoding="utf-8")
    if mcp is not None:
        (folder / "mcp.json").write_text(json.dumps(mcp), encoding="utf-8")
    chosen = Path("codemode.json")
    return load_config(
        config=chosen, mcp_config=None if mcp is None else Path("mcp.json"), folder=folder, environment=environment
    )


def from_where(config: Config) -> list[tuple[str, str | None]]:
    return [(each.name, each.plugin if isinstance(each, PluginSource) else None) for each in config.sources]


def test_servers_of_plugins_are_sources_behind_the_configs_own(tmp_path: Path) -> None:
    package(tmp_path / "plugins" / "a", "deploy", "ship", "watch")
    package(tmp_path / "b", "notes", "write")
    plugins = [{"root": "plugins/a", "dataDir": "state"}, {"root": "${PLACE}", "prefix": "n-"}]
    config = load(tmp_path, {"python": {"app": "m:t"}, "plugins": plugins}, PLACE=str(tmp_path / "b"))
    assert from_where(config) == [("app", None), ("ship", "deploy"), ("watch", "deploy"), ("n-write", "notes")]
    assert config.plugin_notes == ()
    assert [provider.name for provider in providers_of(config)] == ["app", "ship", "watch", "n-write"]
    assert not (tmp_path / "state").exists()


def test_a_disabled_plugin_is_not_even_looked_at(tmp_path: Path) -> None:
    assert load(tmp_path, {"plugins": [{"root": "nowhere", "disabled": True}]}).sources == ()


def test_what_is_wrong_inside_a_plugin_costs_what_it_concerns(tmp_path: Path) -> None:
    package(tmp_path / "a", "deploy", "good", wrong={"type": "stdio"})
    package(tmp_path / "b", "Not A Name", "lost")
    config = load(tmp_path, {"plugins": [{"root": "a"}, {"root": "b"}, {"root": "${ABSENT}"}]})
    assert from_where(config) == [("good", "deploy")]
    assert [(notice.plugin, notice.server) for notice in config.plugin_notes] == [
        ("deploy", "wrong"), ("b", None), ("${ABSENT}", None),
    ]  # fmt: skip
    assert "'ABSENT' is not set" in str(config.plugin_notes[2])


@pytest.mark.proves("plugin.names")
def test_a_name_that_is_taken_stays_with_whom_it_belongs_to(tmp_path: Path) -> None:
    package(tmp_path / "a", "deploy", "git", "ship")
    package(tmp_path / "b", "other", "ship", "third", "foreign")
    config = load(
        tmp_path,
        {"mcpServers": {"git": {"command": "x"}}, "plugins": [{"root": "a"}, {"root": "b"}]},
        mcp={"mcpServers": {"foreign": {"command": "y"}}},
    )
    assert from_where(config) == [("git", None), ("foreign", None), ("ship", "deploy"), ("third", "other")]
    assert [(notice.plugin, notice.server) for notice in config.plugin_notes] == [
        ("deploy", "git"), ("other", "ship"), ("other", "foreign"),
    ]  # fmt: skip
    assert all("'prefix'" in str(notice) for notice in config.plugin_notes)


def test_two_sources_of_the_configs_own_still_may_not_share_a_name(tmp_path: Path) -> None:
    package(tmp_path / "a", "deploy", "ship")
    config = {"mcpServers": {"x": {"command": "x"}}, "plugins": [{"root": "a"}]}
    with pytest.raises(ConfigError, match="two sources are named 'x'"):
        load(tmp_path, config, mcp={"mcpServers": {"x": {"command": "y"}}})


def test_two_plugins_may_not_share_a_data_folder(tmp_path: Path) -> None:
    package(tmp_path / "a", "deploy", "ship")
    package(tmp_path / "b", "other", "sail")
    plugins = [{"root": "a", "dataDir": "data"}, {"root": "b", "dataDir": "./x/../data"}]
    with pytest.raises(ConfigError, match=r"plugins\[1\].dataDir: is the data folder of another plugin"):
        load(tmp_path, {"plugins": plugins})
