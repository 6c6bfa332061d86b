"""One policy, every way to write a call, every face of the kit: the decision is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server import MCPServer
from tests.e2e.serving import served

from codemodekit.cli.main import run as run_command
from codemodekit.code_mode import CodeMode
from codemodekit.limits import ExecutionLimits
from codemodekit.mcp_adapter import register_code_mode_tools
from codemodekit.servers.assemble import build_code_mode
from codemodekit.servers.config import load_config

pytestmark = [pytest.mark.anyio, pytest.mark.proves("policy.every-path", "bridge.never-reaches")]

MODULE = """
from codemodekit import define_tool

SCHEMA = {"type": "object"}
reached = []

def made(name, **hints):
    return define_tool(lambda given: reached.append((name, given)), name=name, input_schema=SCHEMA, **hints)

crm = [made("contacts.find"), made("contacts"), made("look", read_only=True), made("Look"),
       made("LOOK", destructive=False), made("delete-all"), made("then"), made("constructor"), made("é")]
odd = [made("look", read_only=True), made("x")]
"""
RULES = [
    {"match": "crm.contacts.*", "when": {"input": {"/id": {"atMost": 5}}}, "effect": "allow"},
    {"match": "crm.contacts*", "effect": "deny", "reason": "only small ids"},
    {"match": "*", "when": {"readOnly": True}, "effect": "allow"},
    {"match": ["crm.LOOK", "my-src.x"], "when": {"destructive": False}, "effect": "allow"},
    {"match": "crm.delete-all", "effect": "ask", "reason": "all of it?"},
    {"match": "crm.then", "effect": "allow"},
    {"match": "crm.\\u00e9", "effect": "allow"},
]
TABLE: list[tuple[str, str, Any, str]] = [
    ("crm", "contacts.find", {"id": 5}, "allow"),
    ("crm", "contacts.find", {"id": 5.5}, "only small ids"),
    ("crm", "contacts.find", {"id": True}, "only small ids"),
    ("crm", "contacts", {"id": 1}, "only small ids"),
    ("crm", "look", {}, "allow"),
    ("crm", "Look", {}, "no rule of the policy matches this call, and what no rule allows is denied"),
    ("crm", "LOOK", {}, "allow"),
    ("crm", "delete-all", {}, "all of it?"),
    ("crm", "then", {}, "allow"),
    ("crm", "constructor", {}, "no rule of the policy matches this call, and what no rule allows is denied"),
    ("crm", "\u00e9", {}, "allow"),
    ("my-src", "look", {}, "allow"),
    ("my-src", "x", {}, "no rule of the policy matches this call, and what no rule allows is denied"),
]
"""Source, tool, input, and what becomes of the call: it is let through, or refused with this reason."""


def spellings(source: str, tool: str) -> list[str]:
    """Every way a program can write the callee, as an expression that takes the input."""
    s, t = json.dumps(source), json.dumps(tool)
    ways = [
        f"input => tools.$call({s}, {t}, input)",
        f"input => tools['$call']({s}, {t}, input)",
        f"input => {{ const {{ $call }} = tools; return $call({s}, {t}, input) }}",
        f"input => Reflect.apply(tools.$call, null, [{s}, {t}, input])",
    ]
    if {"then", "constructor"}.isdisjoint({source, tool}):
        ways += [
            f"input => tools[{s}][{t}](input)",
            f"input => tools[[{s}]][String({t})](input)",
            f"input => Reflect.get(Reflect.get(tools, {s}), {t})(input)",
            f"input => {{ const {{ [{s}]: source }} = tools; const {{ [{t}]: tool }} = source; return tool(input) }}",
            f"input => Reflect.apply(tools[{s}][{t}], null, [input])",
            f"input => new Proxy(tools[{s}][{t}], {{}})(input)",
            f"input => [input].map(tools[{s}][{t}])[0]",
            f"input => tools?.[{s}]?.[{t}]?.(input)",
        ]
        if tool != "delete-all" and source != "my-src":
            ways += [f"input => tools.{source}.{tool}(input)", f"input => tools.{source}?.{tool}?.(input)"]
        if "." in tool:
            first, second = tool.split(".")
            ways += [f"input => tools[{s}][{json.dumps(first)}][{json.dumps(second)}](input)"]
    return ways


CALLS = [(way, given, wanted) for source, tool, given, wanted in TABLE for way in spellings(source, tool)]
PROGRAM = (
    """
const said = async (call, input) => {
  try { await call(input); return 'allow' } catch (error) {
    return error.code === 'TOOL_APPROVAL_DENIED' ? error.message.split(' was not allowed: ')[1] : error.code;
  }
};
const all = [];
for (const [call, input] of [
"""
    + ",\n".join(f"[{way}, {json.dumps(given)}]" for way, given, _ in CALLS)
    + "\n]) all.push(await said(call, input));\nreturn all;"
)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cmk_every_path.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "rules.json").write_text(json.dumps(RULES).replace("\\\\u00e9", "\\u00e9"), encoding="utf-8")
    (tmp_path / "program.ts").write_text(PROGRAM, encoding="utf-8")
    config = {
        "python": {"crm": "cmk_every_path:crm", "my-src": "cmk_every_path:odd"},
        "policy": "rules.json",
        "limits": {"maxToolCalls": 1000},
    }
    path = tmp_path / "codemode.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def built(config: Path) -> CodeMode:
    loaded = load_config(config=config, folder=config.parent, environment=os.environ)
    return build_code_mode(loaded, base_limits=ExecutionLimits())


async def by_python(config: Path) -> Any:
    async with built(config) as code_mode:
        return (await code_mode.run(PROGRAM)).to_wire()


async def by_mcp(config: Path) -> Any:
    async with built(config) as code_mode:
        server = MCPServer("test")
        register_code_mode_tools(server, code_mode=code_mode)
        async with Client(server) as client:
            return (await client.call_tool("run_typescript", {"code": PROGRAM})).structured_content


async def by_serve(config: Path) -> Any:
    async with served(config.parent) as server:
        return await server.run(PROGRAM)


def check(result: Any) -> None:
    assert result["ok"], result
    told = list(zip((way for way, _, _ in CALLS), result["value"], strict=True))
    assert told == [(way, wanted) for way, _, wanted in CALLS]
    assert [row["status"] for row in result["calls"]] == [
        "completed" if wanted == "allow" else "denied" for _, _, wanted in CALLS
    ]


@pytest.mark.parametrize("face", [by_python, by_mcp, pytest.param(by_serve, marks=pytest.mark.slow)])
async def test_a_call_is_decided_alike_however_it_is_written_and_whoever_runs_it(
    face: Callable[[Path], Awaitable[Any]], configured: Path
) -> None:
    check(await face(configured))


def test_the_command_line_decides_alike(configured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "program.ts", "--config", str(configured), "--json"]) == 0
    check(json.loads(capsys.readouterr().out))


def test_policy_explain_says_what_will_be_decided(configured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for source, tool, given, wanted in TABLE:
        words = ["policy", "explain", f"{source}.{tool}", "--input", json.dumps(given), "--config", str(configured)]
        assert run_command([*words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert ("allow" if told["decision"] == "allow" else told["reason"]) == wanted


@pytest.mark.parametrize(
    "callee",
    ["tools.CRM.look", "tools['crm '].look", "tools.crm['look ']", "tools.crm['contacts..find']", "tools.crm['.look']",
     "tools.crm['e\\u0301']", "tools['crm.contacts'].find", "tools.crm.lOOK", "tools['crm\\u0000'].look"],
)  # fmt: skip
async def test_a_name_that_is_not_exactly_the_tools_reaches_neither_policy_nor_source(
    callee: str, configured: Path
) -> None:
    async with built(configured) as code_mode:
        await code_mode.settled(5)
        result = await code_mode.run(f"return {callee}({{}}).catch(e => e.code)")
    assert result.value in ("SOURCE_NOT_FOUND", "TOOL_NOT_FOUND")
    assert [str(row.status) for row in result.calls] == ["rejected"]
