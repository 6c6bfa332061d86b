"""Config files, good and hostile, through the loader."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from codemodekit.limits import ExecutionLimits
from codemodekit.servers.config import (
    AuditSettings,
    Config,
    ConfigError,
    OpenApiSource,
    PolicyRules,
    PythonSource,
    RemoteSource,
    StdioSource,
    UnavailableSource,
    load_config,
    read_policy,
)
from codemodekit.servers.config.audit import AUDIT_KEYS
from codemodekit.servers.config.load import TOP_KEYS
from codemodekit.servers.config.openapi import AUTH_KEYS, OPENAPI_KEYS
from codemodekit.servers.config.plugins import PLUGIN_KEYS
from codemodekit.servers.config.sources import ENTRY_KEYS, MODES

FULL: dict[str, Any] = {
    "$schema": "codemode.schema.json",
    "mcpServers": {
        "git": {"command": "mcp-server-git", "args": ["--repo", "${REPO:-.}"], "env": {"PORT": 80}, "cwd": "sub"},
        "crm": {
            "type": "streamable-http",
            "url": "https://crm.example/mcp",
            "headers": {"Authorization": "Bearer ${CRM_TOKEN}"},
            "mode": "2025-11-25",
            "outputMismatch": "warn",
            "timeout": 2500,
        },
        "old": {"type": "sse", "url": "http://127.0.0.1:9000/sse", "timeout": 5},
        "off": {"command": "never", "disabled": True},
    },
    "openapi": {
        "stock": {
            "spec": "stock.yaml",
            "baseUrl": "https://stock.example/${VERSION:-v1}",
            "variables": {"tenant": "acme"},
            "auth": {
                "key": {"type": "apiKey", "value": "${CRM_TOKEN}", "name": "k", "in": "query"},
                "user": {"type": "basic", "username": "u", "password": "p"},
                "flow": {"type": "oauth2", "clientId": "i", "clientSecret": "s", "scopes": ["a"], "clientIn": "body"},
            },
            "headers": {"X-A": 1},
            "include": ["list*"],
            "exclude": ["*All"],
            "outputMismatch": "warn",
        },
        "plain": "https://plain.example/openapi.json",
        "none": {"spec": "x", "disabled": True},
    },
    "python": {"app": "mypackage.tools:tools"},
    "policy": "read-only",
    "limits": {"wallTimeMs": 1000},
    "search": False,
    "audit": {"file": "log/audit.jsonl", "redact": "m.n:o.p", "arguments": True, "maxBytes": 1000, "keep": 2},
}


def load(folder: Path, data: object, name: str = "codemode.json", **environment: str) -> Config:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return load_config(config=path, folder=folder, environment=environment)


def complaint(folder: Path, data: object, name: str = "codemode.json") -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, data, name)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(str(folder / name))


@pytest.mark.proves("config.checked")
def test_every_key_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, FULL, CRM_TOKEN="s3cret-token") == Config(
        sources=(
            StdioSource(
                name="git",
                command="mcp-server-git",
                args=("--repo", "."),
                env={"PORT": "80"},
                cwd=tmp_path / "sub",
            ),
            RemoteSource(
                name="crm",
                transport="http",
                url="https://crm.example/mcp",
                headers={"Authorization": "Bearer s3cret-token"},
                mode="2025-11-25",
                output_mismatch="warn",
                connect_timeout_s=2.5,
                secrets=("Bearer s3cret-token", "s3cret-token"),
            ),
            RemoteSource(name="old", transport="sse", url="http://127.0.0.1:9000/sse", connect_timeout_s=5.0),
            OpenApiSource(
                name="stock",
                spec=str(tmp_path / "stock.yaml"),
                base_url="https://stock.example/v1",
                variables={"tenant": "acme"},
                auth={
                    "schemes": {
                        "key": {"type": "apiKey", "value": "s3cret-token", "name": "k", "in": "query"},
                        "user": {"type": "basic", "username": "u", "password": "p"},
                        "flow": {
                            "type": "oauth2",
                            "clientId": "i",
                            "clientSecret": "s",
                            "scopes": ("a",),
                            "clientIn": "body",
                        },
                    }
                },
                headers={"X-A": "1"},
                include=("list*",),
                exclude=("*All",),
                output_mismatch="warn",
                secrets=("s3cret-token",),
            ),
            OpenApiSource(name="plain", spec="https://plain.example/openapi.json"),
            PythonSource(name="app", module="mypackage.tools", attribute="tools"),
        ),
        policy="read-only",
        limits={"wallTimeMs": 1000},
        search=False,
        audit=AuditSettings(
            file=tmp_path / "log" / "audit.jsonl",
            redact=("m.n", "o.p"),
            arguments=True,
            max_bytes=1000,
            keep=2,
            origin=f"{tmp_path / 'codemode.json'}: audit",
        ),
        files=(tmp_path / "codemode.json",),
        import_folders=(tmp_path,),
    )


@pytest.mark.proves("config.found")
def test_toml_says_the_same_as_json(tmp_path: Path) -> None:
    text = 'policy = "deny-all"\n[mcpServers.git]\ncommand = "g"\nargs = ["a"]\n[limits]\nmaxToolCalls = 3\n'
    config = load(tmp_path, text, "codemode.toml")
    assert config.sources == (StdioSource(name="git", command="g", args=("a",)),)
    assert (config.policy, config.limits) == ("deny-all", {"maxToolCalls": 3})


@pytest.mark.proves("config.expands", "error.secrets")
def test_a_missing_variable_costs_its_source_only_and_is_named_without_any_value(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        {
            "mcpServers": {
                "a": {"command": "a", "env": {"X": "${PRESENT}-${GONE}"}},
                "b": {"command": "b", "env": {"Y": "${input:key}"}},
                "c": {"command": "c"},
            },
            "python": {"d": "${GONE}:x"},
        },
        PRESENT="p4ssword",
    )
    a, b, c, d = config.sources
    assert a == UnavailableSource(name="a", reason="the environment variable 'GONE' is not set")
    assert isinstance(b, UnavailableSource)
    assert "${input:key}" in b.reason
    assert c == StdioSource(name="c", command="c")
    assert isinstance(d, UnavailableSource)
    assert "p4ssword" not in repr(config)


@pytest.mark.proves("error.secrets")
def test_every_value_that_came_from_the_environment_is_a_secret(tmp_path: Path) -> None:
    entry = {
        "command": "a",
        "args": ["--key=${KEY}"],
        "env": {"AUTH": "Basic ${USER}", "MODE": "production", "PORT": "${PORT}"},
    }
    config = load(tmp_path, {"mcpServers": {"a": entry}}, KEY="from-env", PORT="80", USER="user")
    (source,) = config.sources
    assert isinstance(source, StdioSource)
    assert source.secrets == ("Basic user", "from-env", "user")
    assert "from-env" not in repr(source)


@pytest.mark.proves("config.checked")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"policy": }', [":1:12: not JSON"]),
        ("{\n  // no\n}", [":2:3: not JSON", "comments are not JSON"]),
        ('{"a": 1, "a": 2}', ["'a' stands twice"]),
        ("[" * 100_000, ["nested too deeply"]),
        ('{"limits": {"wallTimeMs": NaN}}', ["NaN"]),
        ('{"limits": {"wallTimeMs": ' + "9" * 5000 + "}}", ["not JSON"]),
        ("[]", ["expected an object, not a list"]),
        ("null", ["expected an object, not null"]),
        ({"mcpServer": {}}, ["no key 'mcpServer'", "did you mean 'mcpServers'?"]),
        ({"skill": {}}, ["no key 'skill'"]),
        ({"repositories": {}}, ["no key 'repositories'"]),
        ({"mcpServers": []}, ["mcpServers: expected an object, not a list"]),
        ({"mcpServers": {"": {"command": "x"}}}, ["empty name"]),
        ({"mcpServers": {"a": {"comand": "x"}}}, ["mcpServers.a: ", "'comand'", "did you mean 'command'?"]),
        ({"mcpServers": {"a.b c": {"x": 1}}}, ["mcpServers['a.b c']: ", "'x'"]),
        ({"mcpServers": {"a": {}}}, ["mcpServers.a: needs 'command'"]),
        ({"mcpServers": {"a": "mcp-server"}}, ["mcpServers.a: expected an object, not text"]),
        ({"mcpServers": {"a": {"command": ["x"]}}}, ["mcpServers.a.command: expected text, not a list"]),
        ({"mcpServers": {"a": {"command": "x\0"}}}, ["a.command: a NUL character"]),
        ({"mcpServers": {"a": {"command": " "}}}, ["a.command: is empty"]),
        ({"mcpServers": {"a": {"command": "npx -y thing"}}}, ["a.command: ", "'args'"]),
        ({"mcpServers": {"a": {"command": "x", "url": "http://h"}}}, ["exclude each other"]),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, ["a.args: expected a list"]),
        ({"mcpServers": {"a": {"command": "x", "args": ["y", 1]}}}, ["a.args[1]: expected text, not a number"]),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": None}}}}, ["a.env.K: expected text, not null"]),
        ({"mcpServers": {"a": {"command": "x", "mode": "2025"}}}, ["a.mode: '2025' is none of"]),
        ({"mcpServers": {"a": {"command": "x", "outputMismatch": "warm"}}}, ["did you mean 'warn'?"]),
        ({"mcpServers": {"a": {"command": "x", "timeout": -1}}}, ["a.timeout: expected a positive number below"]),
        ({"mcpServers": {"a": {"command": "x", "disabled": "no"}}}, ["a.disabled: expected true or false"]),
        ({"mcpServers": {"a": {"type": "ws", "url": "ws://x"}}}, ["a.type: 'ws' is none of"]),
        ({"mcpServers": {"a": {"url": "ftp://x"}}}, ["a.url: expected an address"]),
        ({"mcpServers": {"a": {"url": "http://[x"}}}, ["a.url: expected an address"]),
        ({"mcpServers": {"a": {"url": "http://h", "headers": {"X": "a\r\nB: c"}}}}, ["a.headers.X: "]),
        ({"mcpServers": {"a": {"url": "http://h", "headers": {"X Y": "a"}}}}, ["'X Y' is not the name of a header"]),
        ({"mcpServers": {"a": {"command": "x"}}, "python": {"a": "m:t"}}, ["two sources are named 'a'"]),
        ({"python": {"a": "tools.py"}}, ["python.a: expected 'module:attribute'"]),
        ({"python": {"a": "os;x:y"}}, ["python.a: expected 'module:attribute'"]),
        ({"python": {"a": 1}}, ["python.a: expected text, not a number"]),
        ({"policy": "readonly"}, ["policy: 'readonly'", "did you mean 'read-only'?"]),
        ({"policy": True}, ["policy: expected one of"]),
        ({"limits": {"wallTime": 1}}, ["limits: ", "'wallTime'", "'wallTimeMs'"]),
        ({"limits": {"wallTimeMs": 0}}, ["limits: ", "positive integer"]),
        ({"limits": 5}, ["limits: expected an object"]),
        ({"search": "yes"}, ["search: expected true or false, not text"]),
        ({"plugins": {}}, ["plugins: expected a list"]),
        ({"plugins": ["x"]}, ["plugins[0]: expected an object"]),
        ({"plugins": [{}]}, ["plugins[0]: needs 'root'"]),
        ({"plugins": [{"root": " "}]}, ["plugins[0].root: is empty"]),
        ({"plugins": [{"root": "a\0b"}]}, ["plugins[0].root: a NUL character"]),
        ({"plugins": [{"root": "nowhere"}]}, ["plugins[0].root: there is no such folder"]),
        ({"plugins": [{"root": "codemode.json"}]}, ["plugins[0].root: there is no such folder"]),
        ({"plugins": [{"root": ".", "data": "x"}]}, ["plugins[0]: ", "did you mean 'dataDir'?"]),
        ({"plugins": [{"root": ".", "prefix": 1}]}, ["plugins[0].prefix: expected text"]),
        ({"audit": True}, ["audit: expected an object"]),
        ({"audit": " "}, ["audit: is empty"]),
        ({"audit": "a\0b"}, ["audit: a NUL character"]),
        ({"audit": {}}, ["audit: needs 'file'"]),
        ({"audit": {"file": "a", "arguments": True}}, ["audit.arguments: needs 'redact'"]),
        ({"audit": {"file": "a", "redact": "m.py"}}, ["audit.redact: expected 'module:attribute'"]),
        ({"audit": {"file": "a", "keep": 1.5}}, ["audit.keep: expected a whole number"]),
        ({"audit": {"file": "a", "maxBytes": 0}}, ["audit.maxBytes: expected a positive number"]),
        ({"audit": {"file": "a", "maxbytes": 1}}, ["did you mean 'maxBytes'?"]),
    ],
)
def test_what_is_wrong_is_one_line_with_file_key_and_cure(tmp_path: Path, data: object, words: list[str]) -> None:
    message = complaint(tmp_path, data)
    for word in words:
        assert word in message
    assert len(message) < 600


@pytest.mark.proves("config.checked")
def test_a_broken_toml_file_says_where(tmp_path: Path) -> None:
    assert "line 2" in complaint(tmp_path, 'policy = "deny-all"\n= 1\n', "codemode.toml")
    assert complaint(tmp_path, f"search = {'9' * 5000}\n", "codemode.toml").startswith(": not TOML: ")


@pytest.mark.proves("error.secrets")
def test_a_value_of_the_environment_is_in_no_complaint(tmp_path: Path) -> None:
    for entry in ({"url": "${V}"}, {"url": "http://h", "headers": {"A": "${V}"}}, {"command": "${V}"}):
        with pytest.raises(ConfigError) as caught:
            load(tmp_path, {"mcpServers": {"a": entry}}, V="hidden value\n")
        assert "hidden" not in str(caught.value)


@pytest.mark.proves("config.checked")
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b'{"\xe9": 1}')
    (tmp_path / "huge").write_bytes(b" " * (4 * 1024 * 1024 + 1))
    for name, word in (("gone", "cannot be read"), (".", "cannot be read"), ("latin", "not UTF-8"), ("huge", "larger")):
        with pytest.raises(ConfigError, match=word):
            load_config(config=tmp_path / name, folder=tmp_path, environment={})


@pytest.mark.proves("config.found")
def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    assert load(tmp_path, '\ufeff{"policy": "deny-all"}').policy == "deny-all"


@pytest.mark.proves("config.found")
def test_the_search_order_is_environment_then_folder_then_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    assert load_config(folder=folder, environment={}) == Config()
    (folder / "codemode.json").write_text('{"policy": "deny-all"}')
    assert load_config(folder=folder, environment={}).policy == "deny-all"
    (tmp_path / "other.json").write_text('{"policy": "allow-all"}')
    environment = {"CODEMODEKIT_CONFIG": str(tmp_path / "other.json")}
    assert load_config(folder=folder, environment=environment).policy == "allow-all"
    (folder / "codemode.toml").write_text("")
    with pytest.raises(ConfigError, match="both"):
        load_config(folder=folder, environment={})


@pytest.mark.proves("config.other-clients")
def test_the_server_list_of_another_client_is_read_with_its_own_keys(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        json.dumps(
            {
                "inputs": [],
                "servers": {
                    "a.b": {"type": "stdio", "command": "x", "autoApprove": ["t"], "trust": False},
                    "c": {"type": "http", "url": "https://h/mcp", "timeout": 60000},
                },
            }
        )
    )
    config = load_config(mcp_config=path, folder=tmp_path, environment={})
    assert config.sources == (
        StdioSource(name="a.b", command="x"),
        RemoteSource(name="c", transport="http", url="https://h/mcp", connect_timeout_s=60.0),
    )
    assert config.policy is None
    assert config.notes == (f"{path}: servers['a.b']: passed over: autoApprove, trust",)


@pytest.mark.proves("config.other-clients")
def test_a_foreign_file_without_servers_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"model": "m"}')
    with pytest.raises(ConfigError, match="mcpServers"):
        load_config(mcp_config=tmp_path / "x.json", folder=tmp_path, environment={})


@pytest.mark.proves("config.found")
def test_both_files_together_join_their_sources(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"mcpServers": {"a": {"command": "x"}}, "policy": "allow-all"}')
    (tmp_path / "m.json").write_text('{"mcp": {"servers": {"b": {"command": "y"}}}}')
    config = load_config(config=Path("c.json"), mcp_config=Path("m.json"), folder=tmp_path, environment={})
    assert [source.name for source in config.sources] == ["a", "b"]
    assert config.policy == "allow-all"
    (tmp_path / "m.json").write_text('{"mcpServers": {"a": {"command": "y"}}}')
    with pytest.raises(ConfigError, match="two sources are named 'a'"):
        load_config(config=Path("c.json"), mcp_config=Path("m.json"), folder=tmp_path, environment={})


@pytest.mark.proves("policy.rules", "config.checked")
def test_policy_rules_come_from_the_config_or_from_a_file(tmp_path: Path) -> None:
    rules = [{"match": "git.*", "effect": "allow"}]
    origin = f"{tmp_path / 'codemode.json'}: policy"
    assert load(tmp_path, {"policy": rules}).policy == PolicyRules(tuple(rules), origin)
    (tmp_path / "rules.json").write_text(json.dumps({"rules": rules}))
    from_file = PolicyRules(tuple(rules), f"{tmp_path / 'rules.json'}: rules")
    assert load(tmp_path, {"policy": "rules.json"}).policy == from_file
    assert read_policy("rules.json", folder=tmp_path, where="--policy") == from_file
    (tmp_path / "rules.json").write_text('{"rule": []}')
    with pytest.raises(ConfigError, match="did you mean 'rules'"):
        read_policy("rules.json", folder=tmp_path, where="--policy")


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(files("codemodekit.servers.config").joinpath("schema.json").read_text("utf-8"))
    return loaded


@pytest.mark.proves("config.schema")
def test_the_schema_names_exactly_the_keys_that_are_read() -> None:
    found = schema()
    entry = {key for kind in ("stdio", "remote") for key in found["$defs"][kind]["properties"]}
    assert set(found["properties"]) == set(TOP_KEYS)
    assert entry == set(ENTRY_KEYS)
    assert set(found["$defs"]["limits"]["properties"]) == set(ExecutionLimits().to_wire())
    assert set(found["$defs"]["plugin"]["properties"]) == set(PLUGIN_KEYS)
    assert set(found["$defs"]["audit"]["properties"]) == set(AUDIT_KEYS)
    assert found["$defs"]["mode"]["enum"] == list(MODES)
    assert set(found["$defs"]["api"]["properties"]) == set(OPENAPI_KEYS)
    credentials = {each["properties"]["type"]["const"]: each for each in found["$defs"]["credential"]["anyOf"]}
    assert {kind: set(each["properties"]) - {"type"} for kind, each in credentials.items()} == {
        kind: set(keys) for kind, keys in AUTH_KEYS.items()
    }


@pytest.mark.proves("config.schema")
@pytest.mark.parametrize(
    ("data", "valid"),
    [
        (FULL, True),
        ({}, True),
        ({"policy": [{"match": "a.*", "effect": "allow"}]}, True),
        ({"mcpServer": {}}, False),
        ({"mcpServers": {"a": {"comand": "x"}}}, False),
        ({"mcpServers": {"a": {"command": "x", "url": "http://h"}}}, False),
        ({"mcpServers": {"": {"command": "x"}}}, False),
        ({"limits": {"wallTimeMs": 0}}, False),
        ({"policy": True}, False),
        ({"search": "yes"}, False),
        ({"plugins": [{"root": ".", "dataDir": "d", "prefix": "p-", "disabled": True}]}, True),
        ({"plugins": [{}]}, False),
        ({"plugins": {"root": "."}}, False),
        ({"audit": "audit.jsonl"}, True),
        ({"audit": {"file": "audit.jsonl", "arguments": False}}, True),
        ({"audit": {"file": "audit.jsonl", "arguments": True}}, False),
        ({"audit": {"keep": 1}}, False),
        ({"openapi": {"a": "api.yaml", "b": {"spec": "https://a.example/openapi.json"}}}, True),
        ({"openapi": {"a": {"spec": "x", "auth": {"type": "bearer", "token": "t"}}}}, True),
        ({"openapi": {"a": {"spec": "x", "auth": {"key": {"type": "apiKey", "value": "v", "in": "query"}}}}}, True),
        ({"openapi": {"a": {"spec": "x", "auth": {"type": "bearer"}}}}, False),
        ({"openapi": {"a": {"spec": "x", "auth": {"type": "bearer", "token": "t", "scopes": []}}}}, False),
        ({"openapi": {"a": {"spec": "x", "auth": {"key": {"value": "v"}}}}}, False),
        ({"openapi": {"a": {"spec": "x", "auth": {}}}}, False),
        ({"openapi": {"a": {"baseUrl": "http://a"}}}, False),
        ({"openapi": {"a": {"spec": "x", "includes": []}}}, False),
        ({"openapi": {"a": {"spec": "x", "include": "*"}}}, False),
        ({"openapi": {"a": ""}}, False),
        ({"openapi": {"a": 1}}, False),
    ],
)
def test_the_schema_agrees_with_the_loader(tmp_path: Path, data: dict[str, Any], valid: bool) -> None:
    assert jsonschema_rs.validator_for(schema()).is_valid(data) is valid
    if valid:
        load(tmp_path, data, CRM_TOKEN="x" * 8)
    else:
        complaint(tmp_path, data)
