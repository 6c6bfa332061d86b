"""The audit log: what its lines say, what they never say, and what happens when they cannot be written."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from codemodekit.code_mode import AuditLog, CodeMode
from codemodekit.code_mode.audit import file as file_module
from codemodekit.code_mode.audit import log as log_module
from codemodekit.code_mode.audit.file import AuditFile
from codemodekit.contracts import Allow, Deny, PolicyRequest, Returned
from codemodekit.errors import ConfigurationError
from codemodekit.policy import allow_all_tool_calls, policy_rules
from codemodekit.providers.local import ToolContext, local
from codemodekit.testing import ScriptedSandbox
from scripted_kit import app, kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("observe.audit")]

RULES = policy_rules(
    [
        {"match": "app.put", "effect": "deny", "reason": "no writing"},
        {"match": "app.look", "effect": "ask", "reason": "better ask"},
        {"match": "*", "effect": "allow"},
    ]
)


def read(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="ascii")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def without_times(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for line in lines:
        datetime.fromisoformat(line.pop("time"))
        if "durationMs" in line:
            assert line.pop("durationMs") >= 0
    return lines


# --- what it says -----------------------------------------------------------------------------------------------------


async def test_each_decision_call_and_run_is_a_line(tmp_path: Path) -> None:
    async def approver(_request: PolicyRequest, _reason: str | None) -> Allow:
        return Allow()

    path = tmp_path / "audit.jsonl"
    program = """
    await tools.app.echo({ a: 1 });
    await tools.app.put({}).catch(() => 0);
    await tools.app.look({});
    await tools.app.strict({}).catch(() => 0);
    return 'done';
    """
    async with kit(app(), policy=RULES, approver=approver, audit=AuditLog(path)) as code_mode:
        result = await code_mode.run(program, principal="ada")
    head = {"executionId": result.execution_id, "principal": "ada"}
    lines = without_times(read(path))
    assert lines == [
        {"event": "decision", **head, **called(1, "echo"), "effect": "allow", "allowed": True, "rule": 3},
        {"event": "call", **head, **called(1, "echo"), "status": "completed", "inputBytes": 7, "resultBytes": 42},
        {
            "event": "decision", **head, **called(2, "put"), "effect": "deny", "allowed": False, "rule": 1,
            "reason": "no writing",
        },
        {
            "event": "call", **head, **called(2, "put"), "status": "denied", "inputBytes": 2,
            "code": "TOOL_APPROVAL_DENIED",
        },
        {
            "event": "decision", **head, **called(3, "look"), "effect": "ask", "allowed": True, "rule": 2,
            "reason": "better ask",
        },
        {
            "event": "call", **head, **called(3, "look"), "status": "completed", "readOnly": True, "inputBytes": 2,
            "resultBytes": lines[5]["resultBytes"],
        },
        {
            "event": "call", **head, **called(4, "strict"), "status": "rejected", "inputBytes": 2,
            "code": "TOOL_INPUT_INVALID",
        },
        {
            "event": "run", **head, "status": "ok", "rerun": "unsafe", "calls": 4, "programBytes": len(program),
            "resultBytes": 6,
        },
    ]  # fmt: skip
    assert [row.to_wire()["resultBytes"] for row in result.calls if row.result_bytes] == [
        line["resultBytes"] for line in lines if line["event"] == "call" and "resultBytes" in line
    ]


def called(number: int, tool: str) -> dict[str, str]:
    return {"callId": f"call_{number}", "source": "app", "tool": tool}


async def test_a_policy_of_the_hosts_own_has_a_reason_and_no_rule(tmp_path: Path) -> None:
    async def policy(_request: PolicyRequest) -> Deny:
        return Deny("not on a Friday")

    path = tmp_path / "audit.jsonl"
    async with kit(app(), policy=policy, audit=AuditLog(path)) as code_mode:
        await code_mode.run("await tools.app.echo({})")
    decision, call, run = read(path)
    assert (decision["effect"], decision["allowed"], decision["reason"]) == ("deny", False, "not on a Friday")
    assert "rule" not in decision
    assert "principal" not in decision
    assert (call["status"], run["status"], run["code"]) == ("denied", "failed", "TOOL_APPROVAL_DENIED")


async def test_an_approver_that_refuses_is_a_denial_after_asking(tmp_path: Path) -> None:
    async def approver(_request: PolicyRequest, _reason: str | None) -> Deny:
        return Deny("she said no")

    path = tmp_path / "audit.jsonl"
    async with kit(app(), policy=RULES, approver=approver, audit=AuditLog(path)) as code_mode:
        await code_mode.run("await tools.app.look({})")
    decision = read(path)[0]
    assert (decision["effect"], decision["allowed"], decision["reason"], decision["rule"]) == (
        "ask", False, "she said no", 2,
    )  # fmt: skip


async def test_runs_that_fail_or_are_cancelled_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    provider = app()
    provider.gate("hold")
    async with kit(provider, audit=AuditLog(path)) as code_mode:
        await code_mode.run("return 1 +")
        running = asyncio.create_task(code_mode.run("await tools.app.hold({})"))
        await provider.called()
        running.cancel()
        await asyncio.wait([running])
    ends = [(line["event"], line.get("status"), line.get("code")) for line in read(path)]
    assert ends == [
        ("run", "failed", "COMPILE_ERROR"),
        ("decision", None, None),
        ("call", "unfinished", None),
        ("run", "cancelled", "EXECUTION_CANCELLED"),
    ]


async def test_calls_far_beyond_the_limit_are_counted_in_the_line_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = "for (let i = 0; i < 3000; i++) tools.app.echo({}).catch(() => {}); return 1"
    async with kit(app(), limits={"max_tool_calls": 2}, audit=AuditLog(path)) as code_mode:
        await code_mode.run(program)
    lines = read(path)
    assert lines[-1]["calls"] == 3000
    assert lines[-1]["callsNotListed"] == 3000 - len([line for line in lines if line["event"] == "call"])
    assert len(lines) < 200


# --- what it does not say ---------------------------------------------------------------------------------------------

SECRET = "hush-hush-4711"


@pytest.mark.proves("observe.payload-free", "error.secrets")
async def test_programs_arguments_results_and_messages_are_not_in_it(tmp_path: Path) -> None:
    async def work(secret: str, context: ToolContext) -> str:
        context.report_progress(secret)
        return secret if secret == SECRET else str(1 / 0)

    path = tmp_path / "audit.jsonl"
    program = f"""
    console.log({SECRET!r});
    for (const secret of [{SECRET!r}, {SECRET + "!"!r}]) await tools.app.work({{ secret }});
    """
    async with kit(local("app", [work]), audit=AuditLog(path)) as code_mode:
        result = await code_mode.run(program, context=SECRET)
    assert [row.status for row in result.calls] == ["completed", "failed"]
    assert SECRET not in path.read_text(encoding="utf-8")


async def test_arguments_are_written_when_asked_for_as_they_were_sent_and_through_the_hook(tmp_path: Path) -> None:
    async def work(rows: list[str]) -> int:
        rows.append("by the tool")
        return len(rows)

    def redact(line: dict[str, Any]) -> dict[str, Any]:
        if "arguments" in line:
            line["arguments"] = {
                key: ["•" if row == SECRET else row for row in rows] for key, rows in line["arguments"].items()
            }
        return {**line, "principal": "anonymous"}

    path = tmp_path / "audit.jsonl"
    log = AuditLog(path, arguments=True, redact=redact)
    async with kit(local("app", [work]), audit=log) as code_mode:
        result = await code_mode.run(
            f"return (await tools.app.work({{ rows: ['a', {SECRET!r}] }})).structuredContent", principal="ada"
        )
    assert result.value == 3
    lines = read(path)
    assert [line.get("arguments") for line in lines] == [None, {"rows": ["a", "•"]}, None]
    assert {line["principal"] for line in lines} == {"anonymous"}


async def test_arguments_of_refused_calls_are_there_too_and_large_ones_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = "await tools.app.strict({ it: 1 }).catch(() => 0); await tools.app.echo({ it: 'x'.repeat(70000) })"
    async with kit(app(), audit=AuditLog(path, arguments=True, redact=dict)) as code_mode:
        assert (await code_mode.run(program)).ok
    refused, _, large, _ = read(path)
    assert refused["arguments"] == {"it": 1}
    assert (large.get("arguments"), large["argumentsOmitted"]) == (None, True)


def no_mapping(_line: dict[str, Any]) -> Any:
    return 7


def no_json(line: dict[str, Any]) -> Any:
    return {**line, "it": {1, 2}}


def endless(line: dict[str, Any]) -> Any:
    line["it"] = line
    return line


def too_long(line: dict[str, Any]) -> Any:
    return {**line, "it": "x" * 300_000}


def failing(_line: dict[str, Any]) -> Any:
    raise RuntimeError(SECRET)


def leaving(_line: dict[str, Any]) -> Any:
    raise SystemExit(1)


@pytest.mark.proves("observe.audit-losses")
@pytest.mark.parametrize("redact", [no_mapping, no_json, endless, too_long, failing, leaving])
async def test_a_line_whose_redaction_fails_keeps_names_and_outcomes_alone(tmp_path: Path, redact: Any) -> None:
    path = tmp_path / "audit.jsonl"
    async with kit(app(), audit=AuditLog(path, arguments=True, redact=redact)) as code_mode:
        result = await code_mode.run(f"await tools.app.echo({{ a: {SECRET!r} }})", principal=SECRET)
        assert result.ok
    health = code_mode.observation().audit
    assert health is not None
    assert (health.written, health.unredacted, health.lost) == (3, 3, 0)
    assert health.last_error is not None
    assert SECRET not in path.read_text(encoding="utf-8")
    assert SECRET not in health.last_error
    call = read(path)[1]
    call.pop("time")
    assert call == {
        "event": "call", "executionId": result.execution_id, **called(1, "echo"), "status": "completed",
        "redaction": "failed",
    }  # fmt: skip


class Speechless:
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


@pytest.mark.parametrize(
    ("principal", "written"),
    [
        (None, None),
        ("ada", "ada"),
        (7, "7"),
        ("x" * 1000, "x" * 511 + "…"),
        (Speechless(), "(Speechless)"),
        ("a\nb\u2028\ud800", "a\nb\u2028\ud800"),
    ],
    ids=["none", "text", "number", "long", "speechless", "odd"],
)
async def test_a_principal_is_bounded_text_on_one_line(tmp_path: Path, principal: Any, written: str | None) -> None:
    path = tmp_path / "audit.jsonl"
    async with kit(audit=AuditLog(path)) as code_mode:
        await code_mode.run("return 1", principal=principal)
    (line,) = read(path)
    assert line.get("principal") == written


# --- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.proves("observe.audit-file")
async def test_the_file_is_private_also_when_it_was_not_before(tmp_path: Path) -> None:
    new, old = tmp_path / "made" / "audit.jsonl", tmp_path / "old.jsonl"
    old.write_text('{"event":"run"}\n', encoding="utf-8")
    old.chmod(0o644)
    for path in (new, old):
        async with kit(audit=AuditLog(path)) as code_mode:
            await code_mode.run("return 1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(new.parent.stat().st_mode) == 0o700
    assert len(read(old)) == 2


@pytest.mark.proves("observe.audit-file")
@pytest.mark.parametrize("kind", ["folder", "link", "dangling", "pipe", "below a file"])
async def test_what_is_no_plain_file_of_ours_is_refused_at_the_start(tmp_path: Path, kind: str) -> None:
    path, target = tmp_path / "audit.jsonl", tmp_path / "target"
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            target.touch()
            path.symlink_to(target)
        case "dangling":
            path.symlink_to(target)
        case "pipe":
            os.mkfifo(path)
        case "below a file":
            target.touch()
            path = target / "audit.jsonl"
    made = CodeMode(providers=[], tool_policy=allow_all_tool_calls(), audit=AuditLog(path))
    with pytest.raises(ConfigurationError, match="audit log"):
        await made.start()
    await made.aclose()
    assert not target.exists() or target.read_bytes() == b""


@pytest.mark.parametrize(
    "options", [{"arguments": True}, {"redact": 7}, {"max_bytes": 0}, {"keep": True}, {"keep": -1}, {"path": ""},
                {"path": "a\0b"}, {"path": 7}, {"path": b"x"}], ids=str,
)  # fmt: skip
async def test_settings_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        AuditLog(**{"path": "x", **options})


async def test_what_is_no_audit_log_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="AuditLog"):
        CodeMode(providers=[], tool_policy=allow_all_tool_calls(), audit="audit.jsonl")  # type: ignore[arg-type]


@pytest.mark.proves("observe.audit-file")
async def test_it_is_rotated_by_size_and_only_so_many_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    file = AuditFile(path, most_bytes=100, keep=2)
    for number in range(10):
        file.append(b"%d" % number * 40 + b"\n")
    file.close()
    kept = {each.name: [line[0] for line in each.read_text().splitlines()] for each in tmp_path.iterdir()}
    assert kept == {"audit.jsonl": ["8", "9"], "audit.jsonl.1": ["6", "7"], "audit.jsonl.2": ["4", "5"]}
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}


@pytest.mark.proves("observe.audit-file")
async def test_a_line_larger_than_the_size_is_written_all_the_same(tmp_path: Path) -> None:
    file = AuditFile(tmp_path / "a", most_bytes=5, keep=1)
    file.append(b"x" * 50 + b"\n")
    file.append(b"y" * 50 + b"\n")
    file.close()
    assert [(tmp_path / name).read_bytes()[:1] for name in ("a", "a.1")] == [b"y", b"x"]


@pytest.mark.proves("observe.audit-file")
async def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    async with kit(audit=AuditLog(path)) as code_mode:
        await code_mode.run("return 1")
        await written(code_mode, 1)
        path.rename(tmp_path / "moved")
        await code_mode.run("return 1")
    assert len(read(path)) == len(read(tmp_path / "moved")) == 1


@pytest.mark.proves("observe.audit-file")
async def test_half_a_line_that_somebody_left_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"event":"ru')
    async with kit(audit=AuditLog(path)) as code_mode:
        await code_mode.run("return 1")
    half, whole = path.read_text().splitlines()
    assert half == '{"event":"ru'
    assert json.loads(whole)["event"] == "run"


async def written(code_mode: CodeMode, lines: int) -> None:
    async with asyncio.timeout(5):
        while (health := code_mode.observation().audit) is None or health.written < lines:  # noqa: ASYNC110
            await asyncio.sleep(0.001)  # the log is written by a thread, which has no event


APPENDING = """
import importlib.util, json, pathlib, sys
spec = importlib.util.spec_from_file_location("file", sys.argv[1])   # without the package, which takes a second to load
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
file = module.AuditFile(pathlib.Path(sys.argv[2]), most_bytes=20_000, keep=50)
for line in range(400):
    file.append(json.dumps({"process": int(sys.argv[3]), "line": line, "fill": "x" * (line % 97)}).encode() + b"\\n")
"""


@pytest.mark.proves("observe.audit-file")
async def test_several_processes_append_whole_lines_also_while_it_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    command = [sys.executable, "-c", APPENDING, file_module.__file__, str(path)]
    processes = [await asyncio.create_subprocess_exec(*command, str(number)) for number in range(3)]
    for process in processes:
        assert await process.wait() == 0
    files = sorted(tmp_path.iterdir(), key=lambda each: -int(each.name.removeprefix("audit.jsonl").lstrip(".") or 0))
    lines = [line for each in files for line in read(each)]
    for number in range(3):
        assert [line["line"] for line in lines if line["process"] == number] == list(range(400))
    assert len(files) > 2


# --- when it cannot be written ----------------------------------------------------------------------------------------

FULL_DISK = """
import asyncio, json, resource, sys, threading
from pathlib import Path
from codemodekit import AuditLog, CodeMode, allow_all_tool_calls, local

path = Path(sys.argv[1])

async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)

async def main():
    made = CodeMode(providers=[local("app", [])], tool_policy=allow_all_tool_calls(), audit=AuditLog(path))
    async with made:
        health = lambda: made.observation().audit
        await made.run("return 1")
        await until(lambda: health().written == 1)
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))   # room for a part of a line
        for number in range(5):
            assert (await made.run("return 7")).value == 7
        await until(lambda: health().lost == 5)
        assert path.stat().st_size == size
        assert health().last_error, health()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await made.run("return 1")
    print(json.dumps(health().to_wire()))

asyncio.run(main())
"""


@pytest.mark.proves("observe.audit-losses")
@pytest.mark.proves("observe.advisory")
async def test_a_full_disk_touches_no_run_leaves_no_half_line_and_is_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    health = json.loads(done.stdout)
    assert (health["written"], health["lost"]) == (2, 5)
    assert [(line["event"], line.get("lines")) for line in read(path)] == [("run", None), ("gap", 5), ("run", None)]
    assert "audit.jsonl" in done.stderr
    assert done.stderr.count("is not whole") == 1


@pytest.mark.proves("observe.audit-losses")
@pytest.mark.proves("observe.advisory")
async def test_a_hook_that_hangs_holds_up_no_run_and_closing_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_END_S", 0.05)
    monkeypatch.setattr(log_module, "_MOST_LINES", 20)
    release = threading.Event()

    def hang(line: dict[str, Any]) -> dict[str, Any]:
        release.wait()
        return line

    try:
        async with kit(app(), audit=AuditLog(tmp_path / "audit.jsonl", redact=hang)) as code_mode:
            for number in range(30):
                assert (await code_mode.run(f"return {number}")).value == number
        health = code_mode.observation().audit
        assert health is not None
        assert (health.written, health.lost) == (0, 30)
    finally:
        release.set()


@pytest.mark.proves("observe.audit-losses")
async def test_everything_taken_is_in_the_file_when_the_host_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = "for (let i = 0; i < 5; i++) await tools.app.echo({ i })"
    async with kit(app(), audit=AuditLog(path)) as code_mode:
        results = await asyncio.gather(*(code_mode.run(program) for _ in range(40)))
    lines = read(path)
    for result in results:
        own = [line["event"] for line in lines if line["executionId"] == result.execution_id]
        assert own == [*["decision", "call"] * 5, "run"]
    health = code_mode.observation().audit
    assert health is not None
    assert (health.written, health.lost) == (40 * 11, 0)
    assert health.file == str(path)


async def test_one_log_serves_several_hosts_until_the_last_has_left(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    async with kit(audit=log) as first:
        async with kit(audit=log) as second:
            await second.run("return 1")
        await first.run("return 1")
    async with kit(audit=log) as third:
        await third.run("return 1")
    assert len(read(path)) == 3


@pytest.mark.proves("observe.audit-losses")
async def test_lines_are_written_also_when_the_sandbox_cannot_be_closed(tmp_path: Path) -> None:
    class Stuck(ScriptedSandbox):
        async def aclose(self) -> None:
            raise RuntimeError("stuck")

    path = tmp_path / "audit.jsonl"
    made = CodeMode(
        providers=[],
        tool_policy=allow_all_tool_calls(),
        sandbox=Stuck([Returned("1")]),
        audit=AuditLog(path),
    )
    await made.start()
    await made.run("return 1")
    with pytest.raises(RuntimeError, match="stuck"):
        await made.aclose()
    assert [line["event"] for line in read(path)] == ["run"]
