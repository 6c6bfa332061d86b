"""What the policy and the approver say about a call, and what happens when they say it badly."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from codemodekit.bridge import decisions as decisions_module
from codemodekit.contracts import Allow, Ask, Deny, PolicyRequest
from codemodekit.policy import ImmediatePolicy, policy_rules, read_only_tool_calls
from scripted_kit import app, kit, put_forward, turns

pytestmark = pytest.mark.anyio

CODE = "return await tools.app.echo({ path: '/tmp/x' }).then(() => 'through', e => [e.code, e.message])"


class Strange(BaseException):
    """Not even an Exception."""


NO_ALLOW = [
    Deny(),
    Deny("not today"),
    Deny(5),  # type: ignore[arg-type]
    None,
    True,
    "allow",
    {"effect": "allow"},
    Allow,
    [Allow()],
    Ask(),
    Ask(5),  # type: ignore[arg-type]
    RuntimeError("broken"),
    TimeoutError("broken"),
    RecursionError("broken"),
    Strange("broken"),
    SystemExit("broken"),
    GeneratorExit("broken"),
    asyncio.CancelledError("broken"),
    StopAsyncIteration("broken"),
]


def always(decision: Any) -> Callable[[PolicyRequest], Any]:
    async def policy(_request: PolicyRequest) -> Any:
        if isinstance(decision, BaseException):
            raise decision
        return decision

    return policy


@pytest.mark.proves("policy.fails-closed")
@pytest.mark.parametrize("decision", NO_ALLOW, ids=repr)
async def test_anything_but_allow_denies(decision: Any) -> None:
    provider = app()
    async with kit(provider, policy=always(decision)) as code_mode:
        result = await code_mode.run(CODE)
    assert result.value[0] == "TOOL_APPROVAL_DENIED"
    assert provider.calls == []
    assert (result.calls[0].status, result.calls[0].duration_ms) == ("denied", None)
    assert "broken" not in result.value[1]


@pytest.mark.proves("policy.decides", "error.codes")
async def test_the_reason_of_a_refusal_is_shown() -> None:
    async with kit(app(), policy=always(Deny("not on a Friday"))) as code_mode:
        result = await code_mode.run(CODE)
    assert "not on a Friday" in result.value[1]


@pytest.mark.proves("policy.fails-closed")
async def test_a_policy_that_is_no_coroutine_denies() -> None:
    async with kit(app(), policy=lambda _request: Allow()) as code_mode:  # type: ignore[arg-type, return-value]
        result = await code_mode.run(CODE)
    assert result.value[0] == "TOOL_APPROVAL_DENIED"


@pytest.mark.proves("policy.fails-closed")
async def test_a_shipped_policy_that_breaks_denies() -> None:
    def decide(_request: PolicyRequest) -> Allow:
        raise ValueError("broken")

    provider = app()
    async with kit(provider, policy=ImmediatePolicy(decide)) as code_mode:
        result = await code_mode.run(CODE)
    assert (result.value[0], result.calls[0].status, provider.calls) == ("TOOL_APPROVAL_DENIED", "denied", [])


@pytest.mark.proves("policy.fails-closed")
async def test_a_policy_that_does_not_let_itself_be_cancelled_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions_module, "POLICY_SECONDS", 0.05)
    let_go = asyncio.Event()

    async def stubborn(_request: PolicyRequest) -> Allow:
        while not let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()
        return Allow()

    provider = app()
    async with kit(provider, policy=stubborn) as code_mode:
        result = await code_mode.run(CODE)
        let_go.set()
    assert (result.value[0], result.calls[0].status, provider.calls) == ("TOOL_APPROVAL_DENIED", "denied", [])


@pytest.mark.proves("policy.fails-closed")
async def test_a_policy_that_never_answers_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions_module, "POLICY_SECONDS", 0.05)

    async def never(_request: PolicyRequest) -> Allow:
        await asyncio.get_running_loop().create_future()
        return Allow()

    provider = app()
    async with kit(provider, policy=never) as code_mode:
        result = await code_mode.run(CODE)
    assert result.value[0] == "TOOL_APPROVAL_DENIED"
    assert provider.calls == []


@pytest.mark.proves("policy.fails-closed", "limit.wall")
async def test_a_program_cannot_outlive_a_policy_that_never_answers() -> None:
    async def never(_request: PolicyRequest) -> Allow:
        await asyncio.get_running_loop().create_future()
        return Allow()

    async with kit(app(), policy=never, limits={"wall_time_ms": 400}) as code_mode:
        result = await code_mode.run(CODE)
    assert result.error is not None
    assert (result.error.code, result.calls[0].status, result.rerun) == ("EXECUTION_TIMEOUT", "rejected", "safe")


@pytest.mark.proves("policy.asks")
@pytest.mark.parametrize(
    ("answer", "through"),
    [(Allow(), True), *((answer, False) for answer in NO_ALLOW)],
    ids=repr,
)
async def test_the_approver_decides_what_the_policy_asks(answer: Any, through: bool) -> None:
    asked: list[tuple[str, str | None]] = []

    async def approver(request: PolicyRequest, reason: str | None) -> Any:
        asked.append((request.tool, reason))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    provider = app()
    async with kit(provider, policy=always(Ask("it writes")), approver=approver) as code_mode:
        result = await code_mode.run(CODE)
    assert (result.value == "through") is through
    assert len(provider.calls) == int(through)
    assert asked == [("echo", "it writes")]


@pytest.mark.proves("policy.asks")
async def test_an_approver_may_take_longer_than_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions_module, "POLICY_SECONDS", 0.01)
    asked = asyncio.Event()
    answer: asyncio.Future[Allow] = asyncio.get_running_loop().create_future()

    async def approver(_request: PolicyRequest, _reason: str | None) -> Allow:
        asked.set()
        return await answer

    async def policy(_request: PolicyRequest) -> Ask:
        return Ask()

    async with kit(app(), policy=policy, approver=approver) as code_mode:
        running = asyncio.create_task(code_mode.run(CODE))
        await asked.wait()
        # Longer than the policy's time has passed once a timer of that length, set now, has gone off.
        passed = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, passed.set)
        await passed.wait()
        answer.set_result(Allow())
        result = await running
    assert result.value == "through"


@pytest.mark.proves("policy.fails-closed", "policy.asks")
@pytest.mark.parametrize(("asks", "seconds", "denied"), [(False, 9, False), (False, 11, True), (True, 55, False)])
async def test_ten_seconds_are_for_the_policy_and_the_whole_run_for_the_approver(
    asks: bool, seconds: float, denied: bool
) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slow(_request: PolicyRequest, *_reason: Any) -> Allow:
        asked.set()
        await answer.wait()
        return Allow()

    policy, approver = (always(Ask()), slow) if asks else (slow, None)
    async with kit(app(), policy=policy, approver=approver) as code_mode:
        running = asyncio.create_task(code_mode.run(CODE))
        await asked.wait()
        put_forward(seconds)
        await turns()
        answer.set()
        result = await running
    assert (result.value != "through") is denied


@pytest.mark.proves("policy.asks", "limit.wall")
async def test_an_approver_that_never_answers_is_ended_by_the_wall_limit_alone() -> None:
    ended = asyncio.Event()

    async def approver(_request: PolicyRequest, _reason: str | None) -> Allow:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()
        return Allow()

    provider = app()
    limits = {"wall_time_ms": 400, "tool_call_time_ms": 50}
    async with kit(provider, policy=always(Ask()), approver=approver, limits=limits) as code_mode:
        result = await code_mode.run(CODE)
        async with asyncio.timeout(5):
            await ended.wait()
    assert result.error is not None
    assert (result.error.code, result.calls[0].status, result.rerun) == ("EXECUTION_TIMEOUT", "rejected", "safe")
    assert provider.calls == []


@pytest.mark.proves("policy.rate")
async def test_a_limit_by_the_minute_is_shared_by_runs_at_the_same_time_and_by_hosts() -> None:
    rules = policy_rules([{"match": "*", "effect": "allow", "limit": {"perMinute": 7, "perRun": 3}}])
    program = """
    const all = await Promise.allSettled([...Array(5)].map((_, i) => tools.app.echo({ i })));
    return all.filter(each => each.status === 'fulfilled').length;
    """
    one, other = app(), app()
    async with kit(one, policy=rules) as first, kit(other, policy=rules) as second:
        results = await asyncio.gather(*(host.run(program) for host in (first, second, first, second)))
    assert all(result.value <= 3 for result in results)
    assert sum(result.value for result in results) == len(one.calls) + len(other.calls) == 7


@pytest.mark.proves("policy.rate")
async def test_a_rule_forgets_the_counts_of_runs_that_have_ended_and_of_no_other() -> None:
    rules = policy_rules([{"match": "*", "effect": "allow", "limit": {"perRun": 1}}])
    provider = app()
    gate = provider.gate("hold")
    async with kit(provider, policy=rules) as code_mode:
        program = "await tools.app.hold({}); return tools.app.echo({}).then(() => 'through', e => e.code)"
        running = asyncio.create_task(code_mode.run(program))
        await provider.called()
        for _ in range(3):
            assert (await code_mode.run("await tools.app.echo({}); return 1")).ok
        assert len(rules._runs) == 1
        gate.open()
        assert (await running).value == "TOOL_APPROVAL_DENIED"
    assert len(rules._runs) == 0


@pytest.mark.proves("policy.decides", "sandbox.no-host")
async def test_the_policy_knows_who_runs_the_program_and_the_program_does_not() -> None:
    seen: list[Any] = []

    async def policy(request: PolicyRequest) -> Allow:
        seen.append(request.principal)
        return Allow()

    async with kit(app(), policy=policy) as code_mode:
        result = await code_mode.run("await tools.app.echo({}); return [context]", principal={"user": "ada"})
    assert seen == [{"user": "ada"}]
    assert result.value == [None]


@pytest.mark.proves("bridge.order", "bridge.never-reaches")
async def test_an_invalid_call_is_not_put_before_the_policy() -> None:
    seen: list[Any] = []

    async def policy(request: PolicyRequest) -> Allow:
        seen.append(request)
        return Allow()

    async with kit(app(), policy=policy) as code_mode:
        await code_mode.run("await tools.app.strict({ count: 'x' })")
    assert seen == []


@pytest.mark.proves("policy.rules", "policy.rate")
async def test_rules_decide_by_name_input_and_annotation_and_count_by_run() -> None:
    rules = [
        {
            "match": "app.echo",
            "when": {"input": {"/path": {"glob": "/tmp/*"}}},
            "effect": "allow",
            "limit": {"perRun": 2},
        },
        {"match": "app.*", "when": {"readOnly": True}, "effect": "allow"},
        {"match": "app.put", "effect": "deny", "reason": "closed"},
    ]
    program = """
    const say = call => call.then(() => 'through', e => e.message.split(': ').pop());
    const ok = { path: '/tmp/x' };
    return [await say(tools.app.echo(ok)), await say(tools.app.echo({ path: '/etc' })), await say(tools.app.echo(ok)),
      await say(tools.app.echo(ok)), await say(tools.app.look({})), await say(tools.app.put({}))];
    """
    async with kit(app(), policy=policy_rules(rules)) as code_mode:
        for _ in range(2):  # the count is a run's own
            result = await code_mode.run(program)
            through = [said == "through" for said in result.value]
            assert through == [True, False, True, False, True, False]
            assert result.value[5] == "closed"


@pytest.mark.proves("policy.rules")
async def test_only_reads_pass_the_policy_of_reads() -> None:
    async with kit(app(), policy=read_only_tool_calls()) as code_mode:
        result = await code_mode.run(
            "return [await tools.app.look({}).then(() => 1), await tools.app.put({}).catch(e => e.code)]"
        )
    assert result.value == [1, "TOOL_APPROVAL_DENIED"]
