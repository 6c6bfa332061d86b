"""A source that knows its secrets and says them back, in every place and form it can."""

from __future__ import annotations

import base64
import json
import logging
import random
import traceback
from typing import Any
from urllib.parse import quote

import pytest
from http_scripts import Answer, older_server, result
from mcp.shared import _otel
from mcp_helpers import code_mode_over, outcome, raw_stdio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codemodekit.catalog.health import Reconnect
from codemodekit.contracts import ToolResult
from codemodekit.errors import SourceLost, ToolCallFailed
from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.mcp.sources import McpToolProvider, mcp

pytestmark = [pytest.mark.anyio, pytest.mark.proves("error.secrets")]

SECRET = 'kx7&Q"vz/9Lp?wé+T2'
HEX_KEY = "9f86d081884c7d659a2feaa0c55ad015"


def every_percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


FORMS = {
    "plain": SECRET,
    "upper case": SECRET.upper(),
    "json": json.dumps(SECRET)[1:-1],
    "json of json": json.dumps(json.dumps(SECRET))[1:-1],
    "unicode escapes": "".join(f"\\u{ord(c):04X}" for c in SECRET),
    "percent": quote(SECRET, safe=""),
    "percent, small": quote(SECRET, safe="").lower(),
    "percent, all": every_percent(SECRET),
    "percent twice": quote(quote(SECRET, safe=""), safe=""),
    "html": SECRET.replace("&", "&amp;").replace('"', "&quot;"),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 of more": base64.b64encode(f"user:{SECRET}@host".encode()).decode(),
    "base64 for urls": base64.urlsafe_b64encode(f"u:{SECRET}".encode()).decode(),
    "base64 in lines": base64.encodebytes(("x" * 50 + SECRET * 3).encode()).decode(),
    "hex": SECRET.encode().hex(),
    "hex, capital": SECRET.encode().hex().upper(),
    "over lines": "\n".join(SECRET),
    "over quoted lines": SECRET[:6] + "\\n  " + SECRET[6:12] + "\r\n\t" + SECRET[12:],
    "with invisible characters": "\u200b".join(SECRET),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_secret_is_found_in_every_form_and_the_text_around_it_stays(form: str) -> None:
    cleaned = mcp.stdio("a", "b", env={"API_TOKEN": SECRET}).redact(f"before ({form}) after")
    assert (cleaned[:8], cleaned[-7:]) == ("before (", ") after")
    assert "[redacted]" in cleaned
    assert SECRET[:6].lower() not in cleaned.lower()
    assert form.split()[0] not in cleaned


def test_whatever_surrounds_a_secret_it_is_taken_out_and_text_without_one_stays() -> None:
    chance = random.Random(1)
    scraps = ["%", "%4", "%41", "\\", "\\u", "\\u00e9", "\\n", "\n", "\ud800", "\u200b", "İ", "ΑΣ", "a", " ", "&amp;"]
    for _ in range(300):
        secret = "".join(chance.choices('aB1Σé%\\n "/&+İ', k=chance.randint(9, 20))) + "q7"
        redactor = Redactor([secret])
        around = ["".join(chance.choices(scraps, k=chance.randint(0, 8))) for _ in range(2)]
        if not redactor.holds("".join(around)):
            assert redactor.blank("".join(around)) == "".join(around)
        for form in (secret, secret.upper(), json.dumps(secret)[1:-1], quote(secret, errors="replace")):
            cleaned = redactor.blank(f"{around[0]}({form}){around[1]}")
            assert not redactor.holds(cleaned), (secret, around, form)
            assert "[redacted]" in cleaned


@pytest.mark.parametrize("form", [HEX_KEY, HEX_KEY.upper(), HEX_KEY[:16] + "\n" + HEX_KEY[16:]])
def test_a_secret_in_hexadecimal_is_found_in_either_case(form: str) -> None:
    assert mcp.stdio("a", "b", env={"SALT": HEX_KEY}).redact(f"({form})") == "([redacted])"


def test_a_key_of_several_lines_is_found_whole_and_in_part() -> None:
    lines = ["-----BEGIN EC KEY-----", "MHcCAQEEIBkg4LVWM9nuwNSk3yByxZpYRTBnVJ", "AwEHoUQDQgAEYWnm-----", "-----END"]
    redact = mcp.stdio("a", "b", env={"SIGNING_KEY": "\n".join(lines)}).redact
    assert not any(line in redact("got " + "\\n".join(lines)) for line in lines[1:3])
    assert redact(f"bad line {lines[1]} here") == "bad line [redacted] here"


@pytest.mark.parametrize(
    "provider",
    [
        mcp.stdio("a", "b", ["--api-key", "open-sesame-now"]),
        mcp.stdio("a", "b", ["--api-key=open-sesame-now"]),
        mcp.stdio("a", "b", ["-e", "MY_TOKEN=open-sesame-now", "image"]),
        mcp.stdio("a", "b", ["--header", "Authorization: Bearer open-sesame-now"]),
        mcp.stdio("a", "b", ["postgres://ada:open-sesame-now@db/x"]),
        mcp.stdio("a", "b", ["--url", "https://h/x?token=open-sesame-now"]),
        mcp.stdio("a", "b", env={"DSN": "redis://:open-sesame-now@cache"}),
        mcp.stdio("a", "b", env={"password": "open-sesame-now"}),
        mcp.stdio("a", "b", secrets=["open-sesame-now"]),
        mcp.http("a", "https://h/x?api_key=open-sesame-now"),
        mcp.http("a", "https://h/x", headers={"X-Auth-Token": "open-sesame-now"}),
        mcp.http("a", "https://h/x", headers={"Cookie": "open-sesame-now"}),
    ],
)
def test_secrets_are_known_wherever_a_configuration_holds_them(provider: McpToolProvider) -> None:
    assert provider.redact("say open-sesame-now!") == "say [redacted]!"
    assert "sesame" not in repr(provider)


def test_settings_stay_out_of_messages_and_in_data() -> None:
    provider = mcp.stdio("a", "b", env={"AWS_REGION": "eu-central-1", "MODE": "production"}, private=["workstation"])
    assert provider.redact("eu-central-1 production workstation") == "[redacted] [redacted] [redacted]"
    data = {"regions": ["eu-central-1"], "modes": {"production": "workstation"}}
    assert provider._settings.redactor.blank(data) == data


@pytest.mark.parametrize(
    "provider",
    [
        mcp.stdio("a", "b", env={"SHEET_ID": "1A2b3C4d5E6f7G8h"}),
        mcp.stdio("a", "b", env={"SHEET_ID": "1A2b3C4d5E6f7G8h"}, private=["1A2b3C4d5E6f7G8h"]),
        mcp.stdio("a", "b", ["--sheet", "1A2b3C4d5E6f7G8h"]),
        mcp.stdio("a", "b", ["-c", "import x; x.run('1A2b3C4d5E6f7G8h')"]),
        mcp.stdio("a", "b", ["--token-url=1A2b3C4d5E6f7G8h"]),
        mcp.http("a", "https://h/x?project=1A2b3C4d5E6f7G8h"),
        mcp.http("a", "https://h/x", headers={"X-Project-Id": "1A2b3C4d5E6f7G8h"}),
    ],
)
def test_what_a_program_needs_as_it_is_stays_in_data_however_random_it_looks(provider: McpToolProvider) -> None:
    assert provider._settings.redactor.blank(["1A2b3C4d5E6f7G8h"]) == ["1A2b3C4d5E6f7G8h"]


def test_words_that_merely_meet_are_not_taken_for_a_short_secret() -> None:
    text = "an open data set, mixed in case"
    assert mcp.stdio("a", "b", secrets=["nope", "edin"]).redact(text) == text


async def everything_said(provider: Any) -> dict[str, Any]:
    """All that a program, a model and an operator get to see of a source."""
    records: list[Any] = []
    async with code_mode_over(provider, on_diagnostic=records.append) as code_mode:
        program = """
        const seen = [];
        for (const name of Object.keys(tools.raw).filter(name => name.startsWith("say"))) {
          seen.push(await tools.raw[name]({}).catch(e => ({ message: e.message, details: e.details })));
        }
        return seen;
        """
        run = await code_mode.run(program)
        return {
            "run": run.to_wire(),
            "search": await code_mode.search_tools("*", source="raw", detail="typescript"),
            "declarations": await code_mode.declarations(),
            "diagnostics": [note.to_wire() for note in code_mode.catalog_diagnostics()],
            "health": [health.to_wire() for health in code_mode.health()],
            "records": ["".join(traceback.format_exception(record.exception)) for record in records],
        }


async def test_no_place_of_a_definition_or_answer_shows_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    says = f"the key is {SECRET}"
    schema = {
        "title": says,
        "type": "object",
        "properties": {"a": {"type": "string", "description": says, "default": SECRET, "examples": [says]}},
    }
    tool = {"description": says, "title": says, "annotations": {"title": says}, "inputSchema": schema}
    tools = [
        {"name": "say_text", **tool, "outputSchema": {**schema, "$comment": says}},
        *({"name": name, "inputSchema": {"type": "object"}} for name in ("say_error", "say_code", "say_both")),
        {"name": f"hold {SECRET}", "inputSchema": {"type": "object"}},
        {"name": "hold_enum", "inputSchema": {"type": "object", "properties": {"a": {"enum": [SECRET]}}}},
        {"name": "hold_name", "inputSchema": {"type": "object", "properties": {SECRET: {}}}},
    ]
    script = {
        "stderr": says,
        "pages": {"": {"tools": tools, "nextCursor": "1"}, "1": {"tools": says}},
        "calls": {
            "say_text": {"result": {"content": [], "structuredContent": {"a": says, SECRET: [[SECRET]]}}},
            "say_error": {"result": {"content": [{"type": "text", "text": says}], "isError": True}},
            "say_code": {"error": {"code": 1, "message": says, "data": {SECRET: [says]}}},
            "say_both": {"result": {"content": [{"type": "text", "text": says}, {"type": "x", "y": [SECRET]}]}},
        },
    }
    said = await everything_said(raw_stdio(script, env={"API_TOKEN": SECRET}))
    text = json.dumps(said, ensure_ascii=False) + "\n".join(caplog.messages)
    assert said["run"]["ok"]
    assert len(said["run"]["value"]) == 4
    assert text.count("[redacted]") > 10
    for form in (SECRET, json.dumps(SECRET)[1:-1]):
        assert form not in text
    notes = [note["message"] for note in said["diagnostics"]]
    assert sum("holds a secret of its source's configuration" in note for note in notes) == 3


async def test_a_program_gets_data_that_holds_no_secret_exactly_as_it_came() -> None:
    data = {"say": ["Authorization: Bearer abcDEF123456", "https://u:p@h/?token=abc123", "/home/ada", "a b\tc %41 \\n"]}
    async with raw_stdio({"calls": {"t": {"result": {"structuredContent": data}}}}, secrets=[SECRET]).connect() as got:
        answer = await outcome(got, "t")
    assert isinstance(answer, ToolResult)
    assert answer.structured_content == data


async def test_trusted_code_of_the_host_gets_the_answer_as_it_came() -> None:
    seen: list[ToolResult] = []
    script = {"tools": ["t"], "calls": {"t": {"result": {"content": [{"type": "text", "text": SECRET}]}}}}
    handler = {"on_trusted_result": lambda _call, answer: seen.append(answer)}
    async with code_mode_over(raw_stdio(script, secrets=[SECRET]), **handler) as code_mode:
        run = await code_mode.run("return (await tools.raw.t({})).content[0].text")
    assert run.value == "[redacted]"
    assert seen[0].sideband["original"]["content"][0]["text"] == SECRET


async def test_a_server_that_dies_with_its_secret_on_its_lips_says_it_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider = raw_stdio({"stderr": f"fatal: {SECRET}", "exit": 3}, env={"API_TOKEN": SECRET})
    async with code_mode_over(provider, reconnect=Reconnect(initial_s=30)) as code_mode:
        run = await code_mode.run("await tools.raw.t({})")
        health = code_mode.health()[0].to_wire()
    assert health["lastError"] == "the server process exited with code 3"
    said = json.dumps([run.to_wire(), health], ensure_ascii=False) + "\n".join(caplog.messages)
    assert "fatal: [redacted]" in said
    assert SECRET not in said


@pytest.mark.parametrize("where", ["redirect", "json", "event", "type", "status"])
async def test_what_the_sdk_and_its_client_log_shows_no_secret(where: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "q7wX9-secret-zz41"

    async def tool(name: str, message: dict[str, Any]) -> Answer:
        match where:
            case "redirect":
                return 307, {"location": f"/{secret}/{secret}"}, b""
            case "json":
                return 200, {"content-type": "application/json"}, f'{{"{secret}'.encode()
            case "event":
                return 200, {"content-type": "text/event-stream"}, f'data: {{"{secret}"\n\n'.encode()
            case "type":
                return 200, {"content-type": f"text/{secret}"}, b""
            case _:
                return 400, {"content-type": "application/json"}, json.dumps({"error": secret}).encode()

    async with older_server(tool).running() as server:
        provider = mcp.http("x", f"{server.url}?key={secret}", headers={"X-Key": secret}, mode="2025-11-25")
        async with provider.connect() as session:
            failure = await outcome(session, "t")
    assert isinstance(failure, ToolCallFailed | SourceLost)
    assert any(record.name == "httpx2" for record in caplog.records)
    shown = "".join(traceback.format_exception(failure)) + caplog.text
    assert secret not in shown
    assert "[redacted]" in shown


@pytest.mark.parametrize(("form", "cleaned"), [(SECRET + " . ", "[redacted] . "), ("\n".join(SECRET), None)])
async def test_a_large_answer_full_of_secrets_is_cleaned(form: str, cleaned: str | None) -> None:
    async def tool(name: str, message: dict[str, Any]) -> Answer:
        return result(message, {"content": [{"type": "text", "text": form * 40_000}, {"type": "text", "text": "b"}]})

    async with older_server(tool).running() as server:
        provider = mcp.http("x", server.url, secrets=[SECRET], mode="2025-11-25")
        async with provider.connect() as session:
            answer = await outcome(session, "t")
    assert isinstance(answer, ToolResult)
    assert [block["text"] for block in answer.content] == [cleaned * 40_000 if cleaned else "[redacted]", "b"]


@pytest.mark.proves("observe.payload-free")
async def test_spans_of_the_sdk_hold_no_words_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    spans = TracerProvider()
    spans.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(_otel, "_tracer", spans.get_tracer("sdk"))
    error = {"code": -32001, "message": f"bad key {SECRET}", "data": {"key": SECRET}}
    async with raw_stdio({"calls": {"t": {"error": error}}}, secrets=[SECRET]).connect() as session:
        failure = await outcome(session, "t")
    assert isinstance(failure, ToolCallFailed)
    assert (failure.message, failure.upstream_code, failure.details) == (
        "bad key [redacted]",
        -32001,
        {"key": "[redacted]"},
    )
    told = [span for span in exporter.get_finished_spans() if "tools/call" in span.name]
    assert len(told) == 1
    assert "bad key" not in told[0].to_json()
    assert (told[0].attributes or {})["error.type"] == "-32001"


@pytest.mark.proves("mcp.hostile")
async def test_a_secret_buried_in_nesting_costs_its_tool_or_call_and_nothing_else() -> None:
    def nested(levels: int) -> Any:
        value: Any = SECRET
        for _ in range(levels):
            value = {"items": value}
        return value

    tools = [{"name": "deep", "inputSchema": nested(700)}, {"name": "t", "inputSchema": {"type": "object"}}]
    calls = {"t": {"result": {"structuredContent": nested(700)}}}
    async with code_mode_over(raw_stdio({"pages": {"": {"tools": tools}}, "calls": calls}, secrets=[SECRET])) as kit:
        run = await kit.run("return await tools.raw.t({}).catch((error) => error.code)")
        tools_left = list(kit.snapshot().sources["raw"].tools)
    assert run.value == "TOOL_OUTPUT_INVALID"
    assert tools_left == ["t"]
