"""Nothing of a package resolves outside of its folder: not when it is read, and not when a server is started."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packages import MANIFEST, PLAIN, loaded, names, write_plugin

from codemodekit.errors import ConfigurationError, SourceLost
from codemodekit.providers.agent_plugin import load_agent_plugin
from codemodekit.providers.agent_plugin.faults import Fault
from codemodekit.providers.agent_plugin.provider import prepared
from codemodekit.providers.agent_plugin.servers import ProcessEntry

pytestmark = pytest.mark.proves("plugin.contained")

WAYS_OUT = [
    "./..", "./../x", "./a/../../x", "./../p-twin/x", "./out", "./out/x", "./inner/out/x", "./up/x", "./loop/x",
    ".\\x", "./..\\x", "./a\\..\\..\\x", "./C:/x", "./c:x", "./a/D:", "C:\\x", "C:/x", "\\\\host\\share\\x",
    "//host/share/x", "/etc/passwd", "../x", "..", ".", "~/x", "file:///x", "./\0"
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A package with links out of it, in the forms they come in."""
    root, outside = tmp_path / "p", tmp_path / "outside"
    for folder in (root / "inner", root / "a", outside, tmp_path / "p-twin"):
        folder.mkdir(parents=True)
    (outside / "x").write_text("outside", encoding="utf-8")
    (root / "out").symlink_to(outside)
    (root / "inner" / "out").symlink_to("../../outside")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "in").symlink_to("inner")
    return root


@pytest.mark.parametrize("path", WAYS_OUT, ids=lambda path: ascii(path)[:40])
@pytest.mark.parametrize("field", ["command", "cwd"])
def test_a_path_that_leads_out_costs_its_entry(root: Path, path: str, field: str) -> None:
    plugin = loaded(root, {"wrong": {**PLAIN, field: path}, "right": PLAIN})
    assert names(plugin) == ["right"]
    assert plugin.notes[0].server == "wrong"


@pytest.mark.parametrize("below", ["..", "../x", "a/../../x", "a\\..\\..\\x", "/../x", "../outside", "\0"])
@pytest.mark.parametrize("place", ["${PLUGIN_ROOT}", "${PLUGIN_DATA}"])
def test_a_place_with_a_way_out_behind_it_costs_its_entry(root: Path, place: str, below: str) -> None:
    plugin = loaded(root, {"wrong": {**PLAIN, "cwd": f"{place}/{below}"}, "right": PLAIN})
    assert names(plugin) == ["right"]


@pytest.mark.parametrize("path", ["./in/x", "./a/../inner/x", "././/inner//x", "./inner/../in/x"])
def test_links_and_steps_that_stay_inside_are_fine(root: Path, path: str) -> None:
    assert names(loaded(root, {"a": {**PLAIN, "command": path}, "b": {**PLAIN, "cwd": path}})) == ["a", "b"]


def test_the_folder_itself_may_be_reached_by_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "link2").symlink_to(tmp_path / "link" / "p")
    write_plugin(root, {"a": {**PLAIN, "command": "./inner/x"}})
    for way in (tmp_path / "link" / "p", tmp_path / "link2"):
        plugin = load_agent_plugin(way, tmp_path / "link" / "data")
        assert (plugin.root, plugin.data_dir, names(plugin)) == (root, tmp_path / "data", ["a"])


@pytest.mark.parametrize("name", ["plugin.json", "mcp.json"])
@pytest.mark.parametrize("kind", ["link out", "dangling", "circle", "folder", "pipe"])
def test_a_file_that_is_not_in_the_package_is_not_read(tmp_path: Path, name: str, kind: str) -> None:
    root, outside = write_plugin(tmp_path / "p", {"a": PLAIN}), tmp_path / "outside.json"
    file = root / name
    shutil.copy(file, outside)
    file.unlink()
    match kind:
        case "link out":
            file.symlink_to(outside)
        case "dangling":
            file.symlink_to(root / "nothing")
        case "circle":
            file.symlink_to(file)
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
    if name == "plugin.json":
        with pytest.raises(ConfigurationError, match=r"plugin\.json"):
            load_agent_plugin(root, tmp_path / "data")
    else:
        plugin = load_agent_plugin(root, tmp_path / "data")
        assert names(plugin) == []
        assert [note.file for note in plugin.notes] == ["mcp.json"]


@pytest.mark.parametrize("name", ["plugin.json", "mcp.json"])
def test_a_file_that_is_a_link_inside_the_package_is_read(tmp_path: Path, name: str) -> None:
    root = write_plugin(tmp_path / "p", {"a": PLAIN})
    (root / name).rename(root / "real")
    (root / name).symlink_to("real")
    assert names(load_agent_plugin(root, tmp_path / "data")) == ["a"]


@pytest.mark.anyio
@pytest.mark.parametrize("entry", [{"command": "./bin/x"}, {"command": "x", "cwd": "./bin"}], ids=["command", "cwd"])
async def test_a_path_that_leads_out_by_the_time_of_starting_is_not_followed(tmp_path: Path, entry: Any) -> None:
    root, outside = tmp_path / "p", tmp_path / "outside"
    (root / "bin").mkdir(parents=True)
    outside.mkdir()
    program = outside / "x"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'started'}\n", encoding="utf-8")
    program.chmod(0o755)
    (provider,) = loaded(root, {"a": {"type": "stdio", **entry}}).providers
    (root / "bin").rmdir()
    (root / "bin").symlink_to(outside)
    with pytest.raises(SourceLost, match="leads out"):
        async with provider.connect():
            """It is not entered."""
    assert not (tmp_path / "started").exists()


parts = st.sampled_from(
    ["..", ".", "a", "in", "out", "up", "loop", "", "x", "inner", "C:", "a\\b", "..\\", "p-twin", " "]
)
paths = st.builds(
    lambda start, rest: start + "/".join(rest), st.sampled_from(["./", "", "/"]), st.lists(parts, max_size=6)
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command=paths, cwd=paths | paths.map(lambda path: "${PLUGIN_ROOT}/" + path))
def test_whatever_an_entry_names_what_is_started_is_inside(root: Path, command: str, cwd: str) -> None:
    plugin = loaded(root, {"a": {"type": "stdio", "command": command, "cwd": cwd}}, manifest=json.dumps(MANIFEST))
    if not plugin.providers:
        return
    try:
        program, folder = prepared(ProcessEntry(command=command, cwd=cwd), plugin.root, plugin.data_dir)
    except Fault:
        pytest.fail("loading has taken what starting refuses")
    assert (Path(os.path.realpath(folder)) / "x").is_relative_to(plugin.root)
    if "/" in program:
        assert Path(os.path.realpath(program)).is_relative_to(plugin.root)
