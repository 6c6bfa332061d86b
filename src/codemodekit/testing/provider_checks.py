"""What every tool source must do, as checks that a test runs one by one.

    @pytest.mark.parametrize("check", PROVIDER_CHECKS, ids=lambda check: check.__name__)
    async def test_my_provider_keeps_the_contract(check):
        await check(ProviderSubject(make=lambda: MyProvider("mine"), answers=Probe("echo", {"x": 1})))

A part of the contract that a source has no means to show (a source in this process cannot be lost) is left out of its
subject, and the checks about it are reported as skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from codemodekit._json import ABSENT, JsonValue, encode
from codemodekit.contracts import ToolCall, ToolDefinition, ToolProvider, ToolResult, ToolSession
from codemodekit.errors import SourceLost, ToolCallFailed, ToolError
from codemodekit.testing.expecting import expect, expect_equal, in_time, not_applicable, raises

__all__ = ["PROVIDER_CHECKS", "Probe", "ProviderCheck", "ProviderSubject"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A call to make."""

    tool: str
    input: JsonValue = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSubject:
    """The source to be checked and calls that show how it behaves."""

    make: Callable[[], ToolProvider]
    """A provider that is not connected; each call gives a fresh one with the same name and tools."""
    answers: Probe
    """A call that succeeds, and does so again."""
    structured: Any = ABSENT
    """The `structured_content` of that answer, if it is to be compared."""
    fails: Probe | None = None
    """A call that the source answers with a failure, whose words are for the model."""
    hangs: Probe | None = None
    """A call that does not end until it is cancelled."""
    kills: Probe | None = None
    """A call that breaks the connection and gets no answer."""
    lose: Callable[[ToolProvider, ToolSession], Awaitable[None]] | None = None
    """Breaks this connection from the other side."""
    change: Callable[[ToolProvider, ToolSession], Awaitable[None]] | None = None
    """Changes the tools of the source, so that it announces it."""


ProviderCheck: TypeAlias = Callable[[ProviderSubject], Awaitable[None]]

_count = iter(range(1, 1 << 62))


def _call(provider: ToolProvider, probe: Probe, **more: Any) -> ToolCall:
    return ToolCall(
        execution_id="run_check", call_id=f"call_{next(_count)}", source=provider.name, tool=probe.tool,
        input=probe.input, **more,
    )  # fmt: skip


async def lists_well_formed_tools(subject: ProviderSubject) -> None:
    """Names are texts that are not empty, schemas are objects of JSON, and the answering tool is among them."""
    provider = subject.make()
    async with provider.connect() as session:
        definitions = (await in_time(session.list_tools(), "listing")).definitions
    expect(isinstance(definitions, tuple), "definitions are a tuple")
    expect(subject.answers.tool in {each.name for each in definitions}, f"no tool {subject.answers.tool!r} is listed")
    for each in definitions:
        _expect_well_formed(each)


def _expect_well_formed(definition: ToolDefinition) -> None:
    name = definition.name
    expect(_is_named(name), f"a tool's name is {name!r}")
    expect(isinstance(definition.description, str), f"the description of {name!r} is no text")
    for what, schema in (("input", definition.input_schema), ("output", definition.output_schema)):
        if schema is not None:
            expect(encode(schema).startswith(b"{"), f"the {what} schema of {name!r} is no JSON object")


def _is_named(name: object) -> bool:
    return isinstance(name, str) and bool(name)


async def lists_the_same_again(subject: ProviderSubject) -> None:
    """Nothing changed, nothing differs."""
    async with subject.make().connect() as session:
        first = await in_time(session.list_tools(), "listing")
        again = await in_time(session.list_tools(), "listing again")
    expect_equal(again.definitions, first.definitions, "the second listing")


async def answers_a_call(subject: ProviderSubject) -> None:
    """The result is a ToolResult whose wire form is JSON."""
    provider = subject.make()
    async with provider.connect() as session:
        result = await in_time(session.call(_call(provider, subject.answers)), "the call")
    _expect_result(subject, result)


def _expect_result(subject: ProviderSubject, result: ToolResult) -> None:
    expect(isinstance(result, ToolResult), f"the answer is {result!r} and no ToolResult")
    expect(encode(result.to_wire()), "the result has no wire form")
    if subject.structured is not ABSENT:
        expect_equal(result.structured_content, subject.structured, "structured_content")


async def answers_many_calls_at_once(subject: ProviderSubject) -> None:
    """Ten calls from ten tasks get ten answers."""
    provider = subject.make()
    async with provider.connect() as session:
        calls = [session.call(_call(provider, subject.answers)) for _ in range(10)]
        for result in await in_time(asyncio.gather(*calls), "ten calls at once"):
            _expect_result(subject, result)


async def connects_again_after_leaving(subject: ProviderSubject) -> None:
    """A connection that was left does not hinder the next of the same provider."""
    provider = subject.make()
    for _ in range(2):
        async with provider.connect() as session:
            await in_time(session.list_tools(), "listing")
            _expect_result(subject, await in_time(session.call(_call(provider, subject.answers)), "the call"))


async def tells_a_failure_and_goes_on(subject: ProviderSubject) -> None:
    """A failure of the tool is ToolCallFailed or ToolError with words; the connection stays usable."""
    if subject.fails is None:
        not_applicable("no call of this source fails")
    provider = subject.make()
    async with provider.connect() as session:
        failing = session.call(_call(provider, subject.fails))
        error = await raises((ToolCallFailed, ToolError), failing, "a call that fails")
        expect(str(error).strip(), "the failure has no words")
        _expect_result(subject, await in_time(session.call(_call(provider, subject.answers)), "a call afterwards"))


async def waits_for_changes_without_making_any(subject: ProviderSubject) -> None:
    """`wait_for_change` stays silent while nothing changes, and being cancelled does not hurt."""
    provider = subject.make()
    async with provider.connect() as session:
        await in_time(session.list_tools(), "listing")
        waiting = asyncio.ensure_future(session.wait_for_change())
        await in_time(session.call(_call(provider, subject.answers)), "a call while waiting for a change")
        expect(not waiting.done(), "a change was announced that nobody made")
        await _cancel(waiting)
        _expect_result(subject, await in_time(session.call(_call(provider, subject.answers)), "a call afterwards"))


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await in_time(asyncio.wait({task}), "ending after a cancellation")
    expect(task.cancelled(), "what was cancelled came to an end of another kind")


async def announces_a_change(subject: ProviderSubject) -> None:
    """`wait_for_change` returns when the tools change, also when the change came before it was asked."""
    if subject.change is None:
        not_applicable("the tools of this source never change")
    provider = subject.make()
    async with provider.connect() as session:
        before = await in_time(session.list_tools(), "listing")
        await subject.change(provider, session)
        await in_time(session.wait_for_change(), "the announcement of a change")
        after = await in_time(session.list_tools(), "listing again")
    expect(after.definitions != before.definitions, "the tools are the same after a change")


async def ends_a_call_that_is_cancelled(subject: ProviderSubject) -> None:
    """Cancelling ends the call at once and leaves the connection usable."""
    if subject.hangs is None:
        not_applicable("every call of this source ends by itself")
    provider = subject.make()
    async with provider.connect() as session:
        hanging = asyncio.ensure_future(session.call(_call(provider, subject.hangs)))
        await in_time(session.call(_call(provider, subject.answers)), "a call beside one that hangs")
        expect(not hanging.done(), "the call that ought to hang has ended")
        await _cancel(hanging)
        _expect_result(subject, await in_time(session.call(_call(provider, subject.answers)), "a call afterwards"))


async def says_that_the_connection_broke_during_a_call(subject: ProviderSubject) -> None:
    """The call in flight and the wait for changes both end with SourceLost, and so does what comes later."""
    if subject.kills is None:
        not_applicable("no call of this source breaks its connection")
    provider = subject.make()

    async def use(session: ToolSession, kills: Probe) -> None:
        waiting = asyncio.ensure_future(session.wait_for_change())
        await raises(SourceLost, session.call(_call(provider, kills)), "a call that breaks the connection")
        await raises(SourceLost, waiting, "waiting for a change")
        await raises(SourceLost, session.call(_call(provider, subject.answers)), "a call after the loss")

    await _left_in_peace(provider, lambda session: use(session, subject.kills or subject.answers))


async def says_that_an_idle_connection_broke(subject: ProviderSubject) -> None:
    """`wait_for_change` ends with SourceLost when the other side goes away, without any call."""
    if subject.lose is None:
        not_applicable("the connection of this source cannot be broken from the other side")
    lose = subject.lose
    provider = subject.make()

    async def use(session: ToolSession) -> None:
        await in_time(session.list_tools(), "listing")
        await lose(provider, session)
        await raises(SourceLost, session.wait_for_change(), "waiting for a change")

    await _left_in_peace(provider, use)


async def connects_again_after_a_loss(subject: ProviderSubject) -> None:
    """A loss belongs to one connection; the next of the same provider works."""
    if subject.kills is None:
        not_applicable("no call of this source breaks its connection")
    kills = subject.kills
    provider = subject.make()

    async def use(session: ToolSession) -> None:
        await raises(SourceLost, session.call(_call(provider, kills)), "a call that breaks the connection")

    await _left_in_peace(provider, use)
    async with provider.connect() as session:
        _expect_result(subject, await in_time(session.call(_call(provider, subject.answers)), "the call"))


async def _left_in_peace(provider: ToolProvider, use: Callable[[ToolSession], Awaitable[None]]) -> None:
    """Use a connection that breaks; leaving it may say once more that it is lost, and nothing else."""
    done = False
    try:
        async with provider.connect() as session:
            await use(session)
            done = True
    except SourceLost:
        if not done:
            raise


async def keeps_its_name(subject: ProviderSubject) -> None:
    """The configured name is a text, and the same for each provider made."""
    name = subject.make().name
    expect(_is_named(name), f"the name is {name!r}")
    expect_equal(subject.make().name, name, "the name of another provider made alike")


PROVIDER_CHECKS: Final[tuple[ProviderCheck, ...]] = (
    keeps_its_name,
    lists_well_formed_tools,
    lists_the_same_again,
    answers_a_call,
    answers_many_calls_at_once,
    connects_again_after_leaving,
    tells_a_failure_and_goes_on,
    waits_for_changes_without_making_any,
    announces_a_change,
    ends_a_call_that_is_cancelled,
    says_that_the_connection_broke_during_a_call,
    says_that_an_idle_connection_broke,
    connects_again_after_a_loss,
)
"""Every check of the contract of a tool source."""
