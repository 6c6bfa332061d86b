"""Every command in this process: what it prints and how it exits."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_running import Run, complaint

from codemodekit.cli import tokens
from codemodekit.cli.main import COMMANDS, leaves

# --- the group ------------------------------------------------------------------------------------------------------


@pytest.mark.proves("cli.help")
def test_help_lists_every_command_and_each_explains_itself(cli: Run) -> None:
    for arguments in ((), ("--help",), ("-h",)):
        code, out, _ = cli(*arguments)
        assert code == 0
        assert all(f"  {name} " in out for name in COMMANDS)
    for name, text in COMMANDS.items():
        code, out, _ = cli(name, "--help")
        assert code == 0
        assert text in " ".join(out.split())
    for words in leaves():
        code, out, _ = cli(*words, "--help")
        assert code == 0
        assert "--json" in out


@pytest.mark.proves("cli.commands")
def test_the_version_is_one_line(cli: Run) -> None:
    code, out, _ = cli("--version")
    assert code == 0
    assert out.startswith("codemodekit ")


@pytest.mark.proves("cli.commands")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("srve",), ("'srve'", "'serve'")),
        (("zzz",), ("'zzz'", "codemodekit --help")),
        (("run",), ("codemodekit run:", "FILE|-")),
        (("run", "a.ts", "--polcy", "x"), ("--polcy", "--policy")),
        (("serve", "--htp", "127.0.0.1:1"), ("--htp", "--http")),
        (("search",), ("QUERY",)),
        (("search", "x", "--limit", "9"), ("--limit",)),
        (("search", "x", "--detail", "all"), ("--detail",)),
        (("doctor", "now"), ("now",)),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(
    cli: Run, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    complaint(cli(*arguments), *words)


@pytest.mark.proves("cli.commands", "config.checked")
@pytest.mark.parametrize("name", ["serve", "run", "search", "tools", "tokens"])
def test_a_wrong_config_is_one_line_and_exit_2(cli: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "p.ts").write_text("return 1")
    arguments = {"run": ("run", "p.ts"), "search": ("search", "x")}.get(name, (name,))
    (tmp_path / "codemode.json").write_text('{"mcpServers": {"a": {"comand": "x"}}}')
    complaint(cli(*arguments), "codemode.json: mcpServers.a: ", "did you mean 'command'?")
    complaint(cli(*arguments, "--config", "absent.json"), "absent.json: cannot be read")
    complaint(cli(*arguments, "--mcp-config", "absent.json"), "absent.json: cannot be read")


@pytest.mark.proves("cli.commands")
@pytest.mark.parametrize("arguments", [("serve",), ("tools",), ("tokens",), ("search", "x")])
def test_without_sources_there_is_nothing_to_show(cli: Run, arguments: tuple[str, ...]) -> None:
    complaint(cli(*arguments), "no sources", "--mcp-config")


@pytest.mark.proves("cli.commands", "api.policy-required")
@pytest.mark.parametrize("arguments", [("serve",), ("run", "p.ts")])
def test_a_policy_has_to_be_chosen_and_the_choices_are_named(
    cli: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "p.ts").write_text("return 1")
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    complaint(cli(*arguments, "--mcp-config", "mcp.json"), "allow-all|read-only|deny-all|FILE")
    given = (*arguments, "--mcp-config", "mcp.json", "--policy")
    complaint(cli(*given, "alow-all"), "'alow-all'", "did you mean 'allow-all'?")
    (tmp_path / "rules.json").write_text('[{"match": "a.*", "effect": "alow"}]')
    complaint(cli(*given, "rules.json"), "rules.json", "policy rule 1", "'effect'")


# --- run ------------------------------------------------------------------------------------------------------------

PROGRAM = """
const greeted = await tools.app.greet({ name: context.name });
console.log("one", 1);
return { said: greeted.structuredContent };
"""


@pytest.mark.proves("cli.commands")
def test_run_prints_value_logs_and_receipt(configured: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ts").write_text(PROGRAM)
    code, out, err = configured("run", "p.ts", "--context", '{"name": "Ada"}')
    assert code == 0
    assert out.startswith('{\n  "said": "Hello Ada"\n}\n[log] one 1\n')
    assert "1 call; running it again is unsafe" in out
    assert "app.greet" in out
    assert "printed by a tool" not in out
    assert "printed by a tool" in err


@pytest.mark.proves("cli.commands")
def test_run_as_json_prints_the_whole_result_and_nothing_else(configured: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ts").write_text(PROGRAM)
    code, out, _ = configured("run", "p.ts", "--context", '{"name": "Ada"}', "--json")
    result = json.loads(out)
    assert code == 0
    assert result["value"] == {"said": "Hello Ada"}
    assert [call["status"] for call in result["calls"]] == ["completed"]


@pytest.mark.proves("cli.commands")
def test_a_failed_run_exits_with_1_and_shows_the_place(configured: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ts").write_text("\nawait tools.app.fail({});")
    code, out, _ = configured("run", "p.ts")
    assert code == 1
    assert "TOOL_EXECUTION_FAILED (line 2, column 17)" in out
    assert "> 2 | await tools.app.fail({});" in out
    assert "internal detail" not in out
    code, out, _ = configured("run", "p.ts", "--json", "--policy", "deny-all")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "TOOL_APPROVAL_DENIED"


@pytest.mark.proves("cli.commands")
def test_run_needs_no_sources_for_a_program_that_calls_none(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"const x: number = 2; return x * 21")))
    assert cli("run", "-", "--policy", "deny-all") == (0, "42\n", "")


@pytest.mark.proves("cli.commands")
def test_check_compiles_and_runs_nothing(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "good.ts").write_text("return await tools.a.b({})")
    (tmp_path / "bad.ts").write_text("const x = 1;\nimport fs from 'fs';\n")
    code, out, err = cli("run", "good.ts", "--check")
    assert (code, out.splitlines()[0], err) == (0, "The program compiles.", "")
    code, out, _ = cli("run", "bad.ts", "--check")
    assert code == 1
    assert "UNSAFE_SYNTAX (line 2" in out
    code, out, _ = cli("run", "bad.ts", "--check", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "UNSAFE_SYNTAX")


@pytest.mark.proves("cli.commands")
def test_what_run_is_given_is_checked_before_anything_starts(configured: Run, tmp_path: Path) -> None:
    (tmp_path / "latin.ts").write_bytes(b"return '\xe9'")
    (tmp_path / "p.ts").write_text("return 1")
    complaint(configured("run", "absent.ts"), "absent.ts: cannot be read: No such file")
    complaint(configured("run", "latin.ts"), "latin.ts: not UTF-8 at byte 8")
    complaint(configured("run", "p.ts", "--context", "{a: 1}"), "--context:1:2: not JSON")
    complaint(configured("run", "p.ts", "--context", "NaN"), "--context: not JSON")


# --- looking --------------------------------------------------------------------------------------------------------


@pytest.mark.proves("cli.commands", "catalog.health")
def test_tools_shows_sources_with_their_state(configured: Run) -> None:
    code, out, _ = configured("tools")
    assert code == 1  # one of the two is down: the list is not whole
    assert "tools.app.greet" in out
    assert "Greets someone." in out
    assert "At length." not in out
    assert "the environment variable 'CMK_ABSENT' is not set" in out
    assert configured("tools", "crm", "--json")[0] == 1
    code, out, _ = configured("tools", "app", "--json")
    assert code == 0
    listed: dict[str, Any] = json.loads(out)
    assert [source["source"] for source in listed["sources"]] == ["app"]
    assert [tool["callable"] for tool in listed["tools"]] == ["tools.app.fail", "tools.app.greet"]
    complaint(configured("tools", "ap"), "no source 'ap'", "crm, app")


@pytest.mark.proves("cli.commands", "search.scale")
def test_very_many_tools_are_shown_in_part_and_given_whole_as_json(configured: Run, tmp_path: Path) -> None:
    (tmp_path / "cmk_many_tools.py").write_text(
        "from codemodekit import define_tool\n"
        "def made(n): return define_tool(lambda: n, name=f'tool_{n:04}', description='One\\x1b[31m of many.')\n"
        "tools = [made(n) for n in range(1200)]\n",
        encoding="utf-8",
    )
    (tmp_path / "codemode.json").write_text('{"python": {"app": "cmk_many_tools:tools"}}', encoding="utf-8")
    code, out, _ = configured("tools")
    assert code == 0
    assert "tools.app.tool_0499" in out
    assert "tools.app.tool_0500" not in out
    assert "… and 700 more; --json lists all" in out
    assert "\x1b" not in out
    code, out, _ = configured("tools", "--json")
    assert len(json.loads(out)["tools"]) == 1200
    code, out, _ = configured("search", "one of many")
    assert "of 1200 tools" in out
    assert "\x1b" not in out


@pytest.mark.proves("cli.commands")
def test_what_search_is_given_is_checked_before_anything_starts(configured: Run) -> None:
    complaint(configured("search", "x", "--source", "ap"), "no source 'ap'", "crm, app")
    complaint(configured("search", " "), "QUERY", "1 to 256 characters")
    complaint(configured("search", "x" * 257), "QUERY", "1 to 256 characters")


@pytest.mark.proves("config.other-clients")
def test_keys_of_other_clients_are_told_to_be_passed_over(
    configured: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {"command": "cmk-absent", "trust": true}}}')
    code, out, _ = configured("tools", "--mcp-config", "mcp.json", "--json")
    assert code == 1
    assert [source["state"] for source in json.loads(out)["sources"]] == ["unavailable"]
    assert caplog.messages[:-1] == [f"{tmp_path / 'mcp.json'}: mcpServers.a: passed over: trust"]
    assert "'a' is unavailable" in caplog.messages[-1]


@pytest.mark.proves("cli.commands")
def test_search_finds_what_a_model_would(configured: Run) -> None:
    code, out, _ = configured("search", "greet someone")
    assert code == 0
    assert "tools.app.greet" in out
    code, out, _ = configured("search", "greet", "--detail", "typescript", "--json")
    result = json.loads(out)["results"][0]
    assert result["callable"] == "tools.app.greet"
    assert "name: string" in result["declaration"]
    code, out, _ = configured("search", "greet", "--detail", "typescript")
    assert "name: string" in out
    complaint(configured("search", ""), "QUERY")


@pytest.mark.proves("cli.commands")
def test_tokens_compares_direct_lists_with_the_surface(configured: Run) -> None:
    code, out, _ = configured("tokens", "--json")
    costs = json.loads(out)
    assert code == 0
    assert (costs["method"], costs["exact"], costs["unavailable"]) == ("o200k_base", True, ["crm"])
    assert costs["sources"] == [{"source": "app", "tools": 2, "tokens": costs["direct"]}]
    assert costs["saved"] == costs["direct"] - costs["codeMode"]["tokens"]
    code, out, _ = configured("tokens")
    assert "o200k_base" in out
    assert "not counted, because it is not available: crm" in out


@pytest.mark.proves("cli.commands")
def test_an_estimate_of_tokens_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda _name: None)
    counter = tokens.token_counter()
    assert not counter.exact
    assert counter.method.startswith("estimate")
    assert counter.count("12345") == 2


# --- doctor ---------------------------------------------------------------------------------------------------------


@pytest.mark.proves("cli.commands")
def test_doctor_names_parts_guest_and_surroundings(cli: Run) -> None:
    code, out, _ = cli("doctor", "--json")
    report = json.loads(out)
    found = {(finding["area"], finding["name"]): finding for finding in report["findings"]}
    assert code == 0
    assert report["ok"]
    assert found["versions", "wasmtime"]["ok"]
    assert len(found["guest", "sha256"]["value"]) == 64
    assert "quickjs-ng==" in found["guest", "source"]["value"]
    assert found["sandbox", "trial program"]["value"] == "6 * 7 = 42"
    assert ("programs", "node") in found
    code, out, _ = cli("doctor")
    assert code == 0
    assert found["guest", "sha256"]["value"] in out
