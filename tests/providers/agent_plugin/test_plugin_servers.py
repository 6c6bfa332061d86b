"""Servers of plugins as sources: how they are started, and that the ill among them cost themselves alone."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from packages import SPY, loaded, spy, write_plugin

from codemodekit.catalog.health import SourceState
from codemodekit.code_mode import CodeMode
from codemodekit.errors import ConfigurationError
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.agent_plugin import load_agent_plugin
from scripted_kit import app, kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("plugin.loads")]

LOOK = "return (await tools.spy.look({})).structuredContent"


@pytest.fixture(autouse=True)
def python_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bare names are looked for on the path, as a shell would."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hunter2")


async def started_with(root: Path, data_dir: Path, entry: dict[str, Any]) -> dict[str, Any]:
    write_plugin(root, {"spy": entry})
    (root / "spy.py").write_text(SPY, encoding="utf-8")
    async with kit(*load_agent_plugin(root, data_dir).providers) as code_mode:
        result = await code_mode.run(LOOK)
    assert result.ok, (result.error, code_mode.health())
    found: dict[str, Any] = result.value
    return found


@pytest.mark.proves("plugin.environment")
async def test_a_server_runs_in_its_folder_and_knows_both_places_and_nothing_of_the_host(tmp_path: Path) -> None:
    data = tmp_path / "made" / "data"
    entry = spy(env={"GIVEN": "at ${PLUGIN_DATA}/db, ${HOME}, ${PLUGIN_ROOT}"})
    entry["args"] += ["${PLUGIN_ROOT}/a:${PLUGIN_DATA}", "${plugin_root}", "$PLUGIN_ROOT", "${PLUGIN_ROOT:-x}"]
    found = await started_with(tmp_path / "p", data, entry)
    assert found == {
        "cwd": str(tmp_path / "p"),
        "args": [f"{tmp_path / 'p'}/a:{data}", "${plugin_root}", "$PLUGIN_ROOT", "${PLUGIN_ROOT:-x}"],
        "env": {
            "PLUGIN_ROOT": str(tmp_path / "p"),
            "PLUGIN_DATA": str(data),
            "GIVEN": f"at {data}/db, ${{HOME}}, {tmp_path / 'p'}",
            "SECRET_OF_THE_HOST": None,
        },
        "mode": oct(stat.S_IFDIR | 0o700),
    }


async def test_what_a_place_brings_in_is_not_expanded_again(tmp_path: Path) -> None:
    root = tmp_path / "${PLUGIN_DATA}"
    entry = spy(args=["-S", "./spy.py", "${PLUGIN_ROOT}"])
    found = await started_with(root, tmp_path / "data", entry)
    assert found["args"] == [str(root)]


async def test_a_program_of_the_package_is_started_in_the_folder_that_is_named(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / "bin").mkdir(parents=True)
    program = root / "bin" / "my server"
    program.write_text(f"#!{sys.executable} -S\n{SPY}", encoding="utf-8")
    program.chmod(0o755)
    found = await started_with(root, tmp_path / "data", {"type": "stdio", "command": "./bin/my server", "cwd": "./bin"})
    assert (found["cwd"], found["args"]) == (str(root / "bin"), [])
    in_data = {"type": "stdio", "command": "./bin/my server", "cwd": "${PLUGIN_DATA}"}
    assert (await started_with(root, tmp_path / "data", in_data))["cwd"] == str(tmp_path / "data")


async def test_a_data_folder_that_is_there_is_kept_as_it_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o750)
    (data / "kept").write_text("from before", encoding="utf-8")
    assert (await started_with(tmp_path / "p", data, spy()))["mode"] == oct(stat.S_IFDIR | 0o750)
    assert (data / "kept").read_text(encoding="utf-8") == "from before"


@pytest.mark.proves("catalog.independent")
async def test_ill_servers_cost_themselves_alone(tmp_path: Path) -> None:
    servers = {
        "wrong": {"type": "stdio", "command": "../x"},
        "missing": {"type": "stdio", "command": "./bin/missing"},
        "unknown": {"type": "stdio", "command": "no-such-program-anywhere"},
        "ends": {"type": "stdio", "command": Path(sys.executable).name, "args": ["-c", "raise SystemExit(3)"]},
        "refuses": {"type": "streamable-http", "url": "http://127.0.0.1:9/mcp"},
        "good": spy(),
    }
    plugin = loaded(tmp_path / "p", servers)
    (plugin.root / "spy.py").write_text(SPY, encoding="utf-8")
    async with kit(*plugin.providers, app()) as code_mode:
        states = {health.source: health.state for health in code_mode.health()}
        result = await code_mode.run("return (await tools.good.look({})).structuredContent.cwd")
    assert [note.server for note in plugin.notes] == ["wrong"]
    assert states.pop("good") == states.pop("app") == SourceState.HEALTHY
    assert list(states) == ["missing", "unknown", "ends", "refuses"]
    assert set(states.values()) == {SourceState.UNAVAILABLE}
    assert result.value == str(plugin.root)


async def test_a_data_folder_that_cannot_be_made_costs_the_servers_that_need_it(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    plugin = load_agent_plugin(write_plugin(tmp_path / "p", {"spy": spy()}), tmp_path / "data" / "below")
    async with kit(*plugin.providers) as code_mode:
        (health,) = code_mode.health()
    assert health.last_error is not None
    assert "data folder cannot be made" in health.last_error


async def test_a_name_that_another_source_has_is_refused_as_between_any_sources(tmp_path: Path) -> None:
    plugin = loaded(tmp_path / "p", {"app": spy()})
    with pytest.raises(ConfigurationError, match="two sources named 'app'"):
        CodeMode(providers=[*plugin.providers, app()], tool_policy=allow_all_tool_calls())
