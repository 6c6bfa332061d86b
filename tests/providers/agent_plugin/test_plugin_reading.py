"""What is read of a plugin package, what rejects it, and what costs one entry alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packages import MANIFEST, PLAIN, SCHEMAS, loaded, names, write_plugin

from codemodekit.errors import ConfigurationError
from codemodekit.providers.agent_plugin import load_agent_plugin

pytestmark = pytest.mark.proves("plugin.loads")

REMOTE: dict[str, Any] = {"type": "streamable-http", "url": "https://deploy.example/mcp"}


# --- the manifest -----------------------------------------------------------------------------------------------------


def test_a_whole_package_is_read(tmp_path: Path) -> None:
    manifest = {
        **MANIFEST,
        "version": "not semantic",
        "description": "Puts things where they belong",
        "author": {"name": "Ada", "email": "no address", "url": "no url"},
        "homepage": "x", "repository": "x", "license": "x", "keywords": ["a"],
        "extensions": {"com.example": {"any": [1]}, "com.other": 7},
    }  # fmt: skip
    servers = {
        "local": {"type": "stdio", "command": "./bin/x", "args": ["a"], "env": {"A": "b"}, "cwd": "./bin"},
        "Remote Server": {**REMOTE, "headers": {"X-Tenant": "t"}},
        "old": {"type": "sse", "url": "http://127.0.0.1:9000/sse"},
    }
    plugin = loaded(tmp_path / "p", servers, manifest=manifest)
    assert (plugin.name, plugin.manifest.version, plugin.notes) == ("deploy", "not semantic", ())
    assert names(plugin) == ["local", "Remote Server", "old"]
    assert {provider.plugin for provider in plugin.providers} == {"deploy"}
    assert (plugin.root, plugin.data_dir) == (tmp_path / "p", tmp_path / "data")


def test_a_package_without_servers_has_none(tmp_path: Path) -> None:
    assert names(loaded(tmp_path / "p")) == []
    assert names(loaded(tmp_path / "q", {})) == []


def test_nothing_is_written_by_loading(tmp_path: Path) -> None:
    loaded(tmp_path / "p", {"a": {**PLAIN, "cwd": "${PLUGIN_DATA}"}})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mcp.json", "p", "plugin.json"]


def test_unknown_fields_and_a_wrong_extensions_field_are_noted_and_passed_over(tmp_path: Path) -> None:
    plugin = loaded(tmp_path / "p", {"a": PLAIN}, manifest={**MANIFEST, "mcpServers": {}, "extensions": []})
    assert names(plugin) == ["a"]
    assert [note.file for note in plugin.notes] == ["plugin.json"] * 2
    assert "'mcpServers'" in plugin.notes[0].message


@pytest.mark.parametrize(
    "manifest",
    [
        "", "{", "[]", "null", "{} {}", "\xff", '{"$schema": NaN}', "[" * 100_000, {**MANIFEST, "name": None},
        {key: MANIFEST[key] for key in ("name",)}, {key: MANIFEST[key] for key in ("$schema",)},
        {**MANIFEST, "$schema": f"{SCHEMAS}/plugin.schema.json#"},
        {**MANIFEST, "$schema": "https://agent-plugins.org/schemas/1.1.0/plugin.schema.json"},
        {**MANIFEST, "$schema": f"{SCHEMAS}/mcp.schema.json"},
        *({**MANIFEST, "name": name} for name in (
            "", "My-Plugin", "-a", "a-", ".a", "a.", "a--b", "a..b", "a_b", "a b", "a" * 65, "ä", "a\n", "../x", 7)),
        {**MANIFEST, "version": 1}, {**MANIFEST, "keywords": "a"}, {**MANIFEST, "keywords": [1]},
        {**MANIFEST, "author": "Ada"}, {**MANIFEST, "author": {"phone": "1"}}, {**MANIFEST, "author": {"name": 1}},
        json.dumps(MANIFEST).replace("}", ', "name": "other"}'),
        json.dumps(MANIFEST) + " " * (256 * 1024),
    ],
    ids=lambda manifest: repr(manifest)[:60],
)  # fmt: skip
def test_a_wrong_manifest_rejects_the_package(tmp_path: Path, manifest: Any) -> None:
    root = write_plugin(tmp_path / "p", {"a": PLAIN}, manifest=manifest)
    if manifest == "\xff":
        (root / "plugin.json").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError) as refused:
        load_agent_plugin(root, tmp_path / "data")
    assert "plugin.json" in str(refused.value)
    assert len(str(refused.value)) < 600
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["a", "0", "my-plugin", "acme.tools", "lint3r", "a-.b", "a" * 64])
def test_every_name_that_may_be_may_be(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path / "p", manifest={**MANIFEST, "name": name}).name == name


def test_a_folder_without_a_manifest_is_no_plugin(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigurationError):
            load_agent_plugin(root, tmp_path / "data")
    write_plugin(tmp_path / "p", manifest="{}")
    (tmp_path / "p" / "plugin.json").rename(tmp_path / "p" / "PLUGIN.json")
    with pytest.raises(ConfigurationError, match="missing"):
        load_agent_plugin(tmp_path / "p", tmp_path / "data")


@pytest.mark.parametrize("root", [7, b"x", "a\0b", None], ids=repr)
def test_what_names_no_folder_is_the_callers_mistake(tmp_path: Path, root: Any) -> None:
    with pytest.raises(ConfigurationError):
        load_agent_plugin(root, tmp_path)


WORDS = [
    "$schema", "name", "mcpServers", "type", "command", "args", "env", "cwd", "url", "headers", "extensions", "author",
    "stdio", "sse", "streamable-http", "./x", "../x", "${PLUGIN_DATA}/..", "${PLUGIN_ROOT}", "https://h", "http://h",
    "", MANIFEST["$schema"], f"{SCHEMAS}/mcp.schema.json", "deploy", "\0", "\ud800", "a\\b", "C:/x",
]  # fmt: skip
words = st.sampled_from(WORDS) | st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=6,
)
entries = st.dictionaries(st.sampled_from(["type", "command", "args", "env", "cwd", "url", "headers"]), values)
documents = st.fixed_dictionaries(
    {
        "$schema": st.just(f"{SCHEMAS}/mcp.schema.json"),
        "mcpServers": st.dictionaries(words, entries | values, max_size=4),
    }
)
manifests = st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS[:12], values)).map(lambda some: {**MANIFEST, **some})


@pytest.mark.proves("plugin.contained")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(manifest=st.just(MANIFEST) | manifests | values, document=documents | values)
def test_whatever_a_package_holds_it_is_a_plugin_or_the_reason_why_not(
    tmp_path: Path, manifest: Any, document: Any
) -> None:
    root = write_plugin(tmp_path / "p", json.dumps(document), manifest=json.dumps(manifest))
    try:
        plugin = load_agent_plugin(root, tmp_path / "data")
    except ConfigurationError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert len(set(names(plugin))) == len(names(plugin))
        assert all(len(str(note)) < 400 for note in plugin.notes)
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


# --- the servers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        "", "{", "[]", "null", "[" * 100_000, "{}", '{"mcpServers": {}}',
        json.dumps({"$schema": "https://agent-plugins.org/schemas/1.1.0/mcp.schema.json", "mcpServers": {}}),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json"}),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": []}),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": {}, "inputs": []}),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": {str(n): PLAIN for n in range(300)}}),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": {}}) + " " * (1024 * 1024),
        json.dumps({"$schema": f"{SCHEMAS}/mcp.schema.json", "mcpServers": {}})[:-1] + ', "mcpServers": {}}',
    ],
    ids=lambda document: document[:60],
)  # fmt: skip
def test_a_wrong_document_costs_the_servers_and_not_the_plugin(tmp_path: Path, document: str) -> None:
    plugin = loaded(tmp_path / "p", document)
    assert names(plugin) == []
    (note,) = plugin.notes
    assert (note.file, note.server) == ("mcp.json", None)


WRONG: list[Any] = [
    None, [], "x", {}, {"command": "x"}, {"url": "https://h"}, {**PLAIN, "type": "http"}, {**PLAIN, "type": None},
    {**PLAIN, "disabled": True}, {**PLAIN, "url": "https://h"}, {**REMOTE, "command": "x"}, {**REMOTE, "env": {}},
    {"type": "stdio"}, {**PLAIN, "command": ""}, {**PLAIN, "command": " "}, {**PLAIN, "command": ["x"]},
    {**PLAIN, "command": "a\0b"}, {**PLAIN, "command": "\ud800"}, {**PLAIN, "command": "bin/x"},
    {**PLAIN, "command": "./"}, {**PLAIN, "command": "./."}, {**PLAIN, "args": "x"}, {**PLAIN, "args": [1]},
    {**PLAIN, "args": ["a\0"]}, {**PLAIN, "args": ["\udfff"]}, {**PLAIN, "env": []}, {**PLAIN, "env": {"A": 1}},
    {**PLAIN, "env": {"": "x"}}, {**PLAIN, "env": {"A=B": "x"}}, {**PLAIN, "env": {"A": "\0"}},
    {**PLAIN, "env": {"PLUGIN_ROOT": "x"}}, {**PLAIN, "env": {"PLUGIN_DATA": "x"}},
    {**PLAIN, "env": {"plugin_root": "x"}},
    {**PLAIN, "cwd": ""}, {**PLAIN, "cwd": "bin"}, {**PLAIN, "cwd": "~"}, {**PLAIN, "cwd": "${HOME}"},
    {**PLAIN, "cwd": 1},
    {**PLAIN, "cwd": "${PLUGIN_ROOT}x"}, {**PLAIN, "cwd": "$PLUGIN_ROOT"}, {**PLAIN, "cwd": "${plugin_root}"},
    {**REMOTE, "url": ""}, {**REMOTE, "url": "http://deploy.example"}, {**REMOTE, "url": "ftp://h"},
    {**REMOTE, "url": "h"},
    {**REMOTE, "url": "https://"}, {**REMOTE, "url": "https://u@h"}, {**REMOTE, "url": "https://u:p@h"},
    {**REMOTE, "url": "https://h#f"}, {**REMOTE, "url": "https://h#"}, {**REMOTE, "url": "https://h:0"},
    {**REMOTE, "url": "https://h:x"}, {**REMOTE, "url": "https://[h"}, {**REMOTE, "url": "https://h/a b"},
    {**REMOTE, "url": "https://h\\@evil"}, {**REMOTE, "url": "http://localhost.evil"}, {**REMOTE, "url": "http://127.1"},
    {**REMOTE, "url": "http://0.0.0.0"}, {**REMOTE, "url": "http://127.0.0.1.nip.io"}, {**REMOTE, "url": "https://h\n"},
    {**REMOTE, "headers": []}, {**REMOTE, "headers": {"A": 1}}, {**REMOTE, "headers": {"A B": "x"}},
    {**REMOTE, "headers": {"A": "x\r\nB: y"}}, {**REMOTE, "headers": {"A": "x", "a": "y"}},
    {**REMOTE, "headers": {"": "x"}},
]  # fmt: skip


@pytest.mark.parametrize("entry", WRONG, ids=lambda entry: json.dumps(entry)[:70])
def test_a_wrong_entry_costs_itself_alone_and_says_why(tmp_path: Path, entry: Any) -> None:
    plugin = loaded(tmp_path / "p", {"before": PLAIN, "wrong": entry, "after": REMOTE})
    assert names(plugin) == ["before", "after"]
    (note,) = plugin.notes
    assert (note.file, note.server) == ("mcp.json", "wrong")
    assert len(str(note)) < 300
    assert str(note).isascii()


RIGHT: list[Any] = [
    PLAIN, {**PLAIN, "command": "./bin/x"}, {**PLAIN, "command": "./not there"}, {**PLAIN, "command": "./a/../b"},
    {**PLAIN, "command": "${PLUGIN_ROOT}"}, {**PLAIN, "args": ["../..", "/etc", "C:\\", "${HOME}", ""]},
    {**PLAIN, "env": {"HOME": "/", "A": "", "PATH": "${PLUGIN_ROOT}/bin"}},
    *({**PLAIN, "cwd": cwd} for cwd in (
        "./", "./a", "./a/../b", "${PLUGIN_ROOT}", "${PLUGIN_ROOT}/", "${PLUGIN_ROOT}/a", "${PLUGIN_DATA}",
        "${PLUGIN_DATA}/a/../b", "./${PLUGIN_DATA}", "./${HOME}")),
    REMOTE, {**REMOTE, "type": "sse"}, {**REMOTE, "url": "http://localhost:1/x"}, {**REMOTE, "url": "http://127.8.9.10"},
    {**REMOTE, "url": "http://[::1]:1/x?q=1"}, {**REMOTE, "url": "https://h/${PLUGIN_ROOT}"},
    {**REMOTE, "headers": {"X": "${PLUGIN_ROOT}", "Authorization": ""}},
]  # fmt: skip


@pytest.mark.parametrize("entry", RIGHT, ids=lambda entry: json.dumps(entry)[:70])
def test_every_entry_that_may_be_may_be(tmp_path: Path, entry: Any) -> None:
    plugin = loaded(tmp_path / "p", {"it": entry})
    assert (names(plugin), plugin.notes) == (["it"], ())


@pytest.mark.parametrize("name", ["", "a\nb", "a\0", "x" * 300, "\ud800", "\u202e"], ids=ascii)
def test_a_name_nobody_could_read_costs_its_entry(tmp_path: Path, name: str) -> None:
    assert names(loaded(tmp_path / "p", {name: PLAIN, "good": PLAIN})) == ["good"]


def test_an_entry_that_stands_twice_is_left_out_in_both_forms(tmp_path: Path) -> None:
    plain, twice = json.dumps(PLAIN), '{"type": "stdio", "command": "x", "command": "y"}'
    servers = f'{{"a": {plain}, "b": {plain}, "a": {plain}, "c": {twice}}}'
    document = f'{{"$schema": "{SCHEMAS}/mcp.schema.json", "mcpServers": {servers}}}'
    plugin = loaded(tmp_path / "p", document)
    assert names(plugin) == ["b"]
    assert {note.server for note in plugin.notes} == {"a", "c"}


def test_headers_that_are_the_clients_own_are_noted_and_left_out(tmp_path: Path) -> None:
    headers = {"Host": "evil", "Mcp-Session-Id": "x", "X-Tenant": "t", "content-length": "9"}
    plugin = loaded(tmp_path / "p", {"a": {**REMOTE, "headers": headers}})
    assert names(plugin) == ["a"]
    (note,) = plugin.notes
    assert "Host, Mcp-Session-Id, content-length" in note.message


def test_a_prefix_stands_before_every_name(tmp_path: Path) -> None:
    write_plugin(tmp_path / "p", {"a": PLAIN, "b": REMOTE})
    plugin = load_agent_plugin(tmp_path / "p", tmp_path / "data", prefix="deploy-")
    assert names(plugin) == ["deploy-a", "deploy-b"]
    for wrong in ("a\n", "\0", 7):
        with pytest.raises(ConfigurationError, match="prefix"):
            load_agent_plugin(tmp_path / "p", tmp_path / "data", prefix=wrong)  # type: ignore[arg-type]


def test_without_a_data_folder_each_copy_has_one_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    first, second = (load_agent_plugin(write_plugin(tmp_path / name)) for name in ("p", "q"))
    assert first.data_dir != second.data_dir
    assert load_agent_plugin(tmp_path / "p").data_dir == first.data_dir
    assert not first.data_dir.exists()


def test_no_value_of_a_package_is_shown_by_repr(tmp_path: Path) -> None:
    entry = {"type": "stdio", "command": "x", "args": ["hush"], "env": {"A": "hush"}}
    plugin = loaded(tmp_path / "p", {"a": entry, "b": {**REMOTE, "headers": {"X": "hush"}}})
    assert "hush" not in repr(plugin)
