"""Runs and calls as OpenTelemetry spans, recorded by the real SDK."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codemodekit.contracts import ToolCall, ToolResult
from codemodekit.mcp_adapter import register_code_mode_tools
from codemodekit.policy import policy_rules
from codemodekit.providers.local import local
from codemodekit.providers.mcp.sources import mcp
from codemodekit.testing import InMemoryProvider
from scripted_kit import app, kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("observe.spans")]

FIXTURE = str(Path(__file__).parents[1] / "servers" / "mcp_fixture_server.py")


SDK: Final = TracerProvider()
"""One for all tests: what has a tracer, such as the SDK of MCP, keeps the one it was first given."""
RECORDED: Final = InMemorySpanExporter()
SDK.add_span_processor(SimpleSpanProcessor(RECORDED))


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is recorded in a test; the API itself can be set up only once in a process, and for good."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", SDK)
    RECORDED.clear()
    return RECORDED


def by_call(exporter: InMemorySpanExporter) -> tuple[ReadableSpan, dict[str, ReadableSpan]]:
    """The run's span, and those of its calls by their ids."""
    spans = [span for span in exporter.get_finished_spans() if of(span, "codemodekit.execution.id")]
    (run,) = [span for span in spans if span.name == "codemodekit.run"]
    return run, {of(span, "gen_ai.tool.call.id"): span for span in spans if span is not run}


def of(span: ReadableSpan, attribute: str) -> Any:
    return (span.attributes or {}).get(attribute)


async def test_a_run_is_a_span_and_each_call_one_below_it(exporter: InMemorySpanExporter) -> None:
    program = "await Promise.all([tools.app.look({ a: 1 }), tools.app.echo({})]); return 'done'"
    async with kit(app()) as code_mode:
        result = await code_mode.run(program)
    run, calls = by_call(exporter)
    assert dict(run.attributes or {}) == {
        "codemodekit.execution.id": result.execution_id,
        "codemodekit.program.bytes": len(program),
        "codemodekit.run.status": "ok",
        "codemodekit.run.calls": 2,
        "codemodekit.run.rerun": "unsafe",
        "codemodekit.run.result_bytes": 6,
    }
    assert list(calls) == ["call_1", "call_2"]
    look = calls["call_1"]
    assert (look.name, look.kind, look.status.status_code) == (
        "execute_tool look", trace.SpanKind.INTERNAL, trace.StatusCode.UNSET,
    )  # fmt: skip
    assert dict(look.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "call_1",
        "codemodekit.source": "app",
        "codemodekit.execution.id": result.execution_id,
        "codemodekit.call.input_bytes": 7,
        "codemodekit.call.status": "completed",
        "codemodekit.call.result_bytes": result.calls[0].result_bytes,
        "codemodekit.tool.read_only": True,
    }
    assert [event.name for event in look.events] == ["codemodekit.call.dispatched"]
    assert run.context is not None
    for span in calls.values():
        assert span.parent is not None
        assert span.parent.span_id == run.context.span_id


@pytest.mark.proves("observe.trace")
async def test_a_run_is_below_the_span_its_caller_is_in(exporter: InMemorySpanExporter) -> None:
    async with kit() as code_mode:
        with trace.get_tracer("host").start_as_current_span("request") as request:
            await code_mode.run("return 1")
            assert trace.get_current_span() is request
    run, _ = by_call(exporter)
    assert run.parent == request.get_span_context()


@pytest.mark.proves("observe.trace")
async def test_what_a_tool_records_is_below_its_call(exporter: InMemorySpanExporter) -> None:
    tracer = trace.get_tracer("host")

    async def on_the_loop() -> None:
        with tracer.start_as_current_span("inner on_the_loop"):
            await asyncio.sleep(0)

    def in_a_thread() -> None:
        with tracer.start_as_current_span("inner in_a_thread"):
            """It does nothing."""

    program = """
    await tools.app.on_the_loop({});
    await Promise.all([tools.app.on_the_loop({}), tools.app.in_a_thread({})]);
    await tools.app.in_a_thread({});
    """
    async with kit(local("app", [on_the_loop, in_a_thread])) as code_mode:
        assert (await code_mode.run(program)).ok
    _, calls = by_call(exporter)
    inner = [span for span in exporter.get_finished_spans() if span.name.startswith("inner ")]
    below = {span.context.span_id: span.name.removeprefix("execute_tool ") for span in calls.values() if span.context}
    assert len(inner) == 4
    for span in inner:
        assert span.parent is not None
        assert below[span.parent.span_id] == span.name.removeprefix("inner ")


@pytest.mark.proves("observe.trace")
async def test_a_call_of_an_mcp_server_continues_the_trace(exporter: InMemorySpanExporter) -> None:
    """What the SDK records of the request, and sends along, is below the call."""
    source = mcp.stdio("fixture", sys.executable, ["-W", "ignore", FIXTURE, "stdio"])
    async with kit(source) as code_mode:
        result = await code_mode.run("return (await tools.fixture.echo({ x: 1 })).structuredContent.x")
    assert result.value == 1
    _, calls = by_call(exporter)
    (request,) = [span for span in exporter.get_finished_spans() if "tools/call" in span.name]
    assert request.parent is not None
    assert calls["call_1"].context is not None
    assert request.parent.span_id == calls["call_1"].context.span_id


@pytest.mark.proves("observe.trace")
async def test_a_run_asked_for_over_mcp_is_below_the_request_of_its_client(exporter: InMemorySpanExporter) -> None:
    """The whole way: the client's own span, its request, the server's handling of it, the run, the call."""
    async with kit(app()) as code_mode:
        server: Server[Any] = Server("consumer", version="1")
        register_code_mode_tools(server, code_mode=code_mode)
        async with Client(server, mode="legacy") as client:
            with trace.get_tracer("client").start_as_current_span("the client's work"):
                await client.call_tool("run_typescript", {"code": "await tools.app.echo({})"})
    spans = {span.context.span_id: span for span in exporter.get_finished_spans() if span.context}
    _, calls = by_call(exporter)
    above: list[str] = []
    span: ReadableSpan | None = calls["call_1"]
    while span is not None:
        above.append(span.name)
        span = spans.get(span.parent.span_id) if span.parent else None
    assert above[:2] == ["execute_tool echo", "codemodekit.run"]
    assert above[2] == "tools/call run_typescript"
    assert above[-1] == "the client's work"


@pytest.mark.parametrize(
    ("call", "name", "error"),
    [
        ("app.fail({})", "execute_tool fail", "TOOL_EXECUTION_FAILED"),
        ("app.put({})", "execute_tool put", "TOOL_APPROVAL_DENIED"),
        ("app.strict({ secret_key: 1 })", "execute_tool strict", "TOOL_INPUT_INVALID"),
        ("app.secret_key({})", "execute_tool", "TOOL_NOT_FOUND"),
        ("secret_key.tool({})", "execute_tool", "SOURCE_NOT_FOUND"),
    ],
)
async def test_failures_are_errors_by_their_code_and_names_only_those_of_tools_there_are(
    exporter: InMemorySpanExporter, call: str, name: str, error: str
) -> None:
    source = app()
    source.answer("fail", RuntimeError("secret_key"))
    rules = policy_rules(
        [{"match": "app.put", "effect": "deny", "reason": "secret_key"}, {"match": "*", "effect": "allow"}]
    )
    async with kit(source, policy=rules) as code_mode:
        await code_mode.run(f"await tools.{call}")
    run, calls = by_call(exporter)
    span = calls["call_1"]
    assert (span.name, of(span, "error.type"), of(run, "error.type")) == (name, error, error)
    for each in (span, run):
        assert (each.status.status_code, each.status.description) == (trace.StatusCode.ERROR, None)
        assert "secret_key" not in each.to_json()


async def test_a_name_that_no_exporter_could_send_is_mended(exporter: InMemorySpanExporter) -> None:
    async with kit(InMemoryProvider("sour\udfffce", ["tool"])) as code_mode:
        result = await code_mode.run("await tools.$call('sour\\udfffce', 'tool', {}); return 1")
    assert result.value == 1, result.error
    _, calls = by_call(exporter)
    assert of(calls["call_1"], "codemodekit.source") == "sour?ce"
    assert calls["call_1"].to_json().encode("utf-8")


@pytest.mark.parametrize(
    ("program", "code"), [("return 1 +", "COMPILE_ERROR"), ("throw new Error('secret_key')", "SANDBOX_EXCEPTION")]
)
async def test_a_failed_run_is_an_error_by_its_code(exporter: InMemorySpanExporter, program: str, code: str) -> None:
    async with kit() as code_mode:
        await code_mode.run(program)
    run, _ = by_call(exporter)
    assert (of(run, "error.type"), run.status.status_code) == (code, trace.StatusCode.ERROR)
    assert "secret_key" not in run.to_json()


@pytest.mark.proves("observe.payload-free")
async def test_no_text_of_program_arguments_or_results_is_recorded(exporter: InMemorySpanExporter) -> None:
    source = app()
    source.answer("look", ToolResult(structured_content={"it": "secret_key"}))
    program = "console.log('secret_key'); await tools.app.echo({ a: 'secret_key' }); return await tools.app.look({})"
    async with kit(source) as code_mode:
        result = await code_mode.run(program, context="secret_key", principal="secret_key")
    assert result.ok
    spans = exporter.get_finished_spans()
    assert len(spans) == 3
    assert all("secret_key" not in span.to_json() for span in spans)


async def test_a_cancelled_run_ends_its_spans(exporter: InMemorySpanExporter) -> None:
    source = app()
    source.gate("hold")
    async with kit(source) as code_mode:
        running = asyncio.create_task(code_mode.run("await tools.app.hold({})"))
        await source.called()
        running.cancel()
        await asyncio.wait([running])
    run, calls = by_call(exporter)
    assert (of(run, "codemodekit.run.status"), of(run, "error.type")) == ("cancelled", "EXECUTION_CANCELLED")
    assert of(calls["call_1"], "codemodekit.call.status") == "unfinished"


async def test_runs_at_once_keep_their_calls_apart(exporter: InMemorySpanExporter) -> None:
    program = "for (let i = 0; i < 3; i++) await Promise.all([tools.app.echo({ i }), tools.app.look({ i })])"
    async with kit(app()) as code_mode:
        results = await asyncio.gather(*(code_mode.run(program) for _ in range(10)))
    spans = [span for span in exporter.get_finished_spans() if of(span, "codemodekit.execution.id")]
    runs = {
        span.context.span_id: of(span, "codemodekit.execution.id") for span in spans if span.context and not span.parent
    }
    assert set(runs.values()) == {result.execution_id for result in results}
    for span in spans:
        if span.parent is not None:
            assert runs[span.parent.span_id] == of(span, "codemodekit.execution.id")
    assert len(spans) == 10 * 7


class Broken(SpanProcessor):
    """A processor of the host's that fails at everything."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise self._error

    def on_end(self, span: ReadableSpan) -> None:
        raise self._error


@pytest.mark.proves("observe.advisory")
@pytest.mark.parametrize("error", [RuntimeError("x"), SystemExit(1), asyncio.CancelledError()], ids=repr)
async def test_a_processor_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    provider = TracerProvider()
    provider.add_span_processor(Broken(error))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    async with kit(app()) as code_mode:
        result = await code_mode.run("return (await tools.app.echo({ a: 1 })).structuredContent.a")
    assert (result.value, [row.status for row in result.calls]) == (1, ["completed"])


@pytest.mark.proves("observe.advisory")
async def test_a_provider_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Provider(TracerProvider):
        def get_tracer(self, *_what: Any, **_more: Any) -> trace.Tracer:
            raise RuntimeError("not today")

    monkeypatch.setattr(trace, "_TRACER_PROVIDER", Provider())
    async with kit(app()) as code_mode:
        assert (await code_mode.run("return (await tools.app.echo({ a: 1 })).structuredContent.a")).value == 1


async def test_nothing_is_recorded_without_an_sdk_and_the_api_is_not_even_loaded() -> None:
    code = """
import asyncio, sys
from codemodekit import CodeMode, allow_all_tool_calls, local
async def main():
    async with CodeMode(providers=[local("app", [])], tool_policy=allow_all_tool_calls()) as made:
        assert (await made.run("return 1")).value == 1
    assert "opentelemetry.trace" not in sys.modules
asyncio.run(main())
"""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


async def test_the_api_alone_records_nothing() -> None:
    seen: list[trace.Span] = []

    def look(_call: ToolCall, _result: ToolResult) -> None:
        """Another listener changes nothing about that."""

    async def tool() -> None:
        seen.append(trace.get_current_span())

    async with kit(local("app", [tool]), on_trusted_result=look) as code_mode:
        assert (await code_mode.run("await tools.app.tool({})")).ok
    assert seen == [trace.INVALID_SPAN]
