"""What every sandbox must do, whatever its language: life, steps, endings. Run by a test one by one.

    @pytest.mark.parametrize("check", (*SANDBOX_CHECKS, *JAVASCRIPT_CHECKS), ids=lambda check: check.__name__)
    async def test_my_sandbox_keeps_the_contract(check):
        await check(MySandbox)

The checks of this module run the three programs below; a sandbox of another language, or a fake, is made so that it
knows them by their source. What JavaScript programs may rely on is in `javascript_checks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from codemodekit.contracts import Calls, CodeSandbox, GuestCall, Launch, Returned
from codemodekit.errors import ClosedError
from codemodekit.limits import ExecutionLimits
from codemodekit.testing.expecting import expect, expect_equal, in_time, raises
from codemodekit.testing.playing import answered, as_program, guest_of, play, value_of

__all__ = ["CALLING", "ENDLESS", "RETURNING", "SANDBOX_CHECKS", "SandboxCheck", "opened"]

SandboxCheck: TypeAlias = Callable[[Callable[[], CodeSandbox]], Awaitable[None]]

RETURNING: Final = "return 1"
"""Returns 1 at once."""
CALLING: Final = "return (await tools.app.echo({ i: 7 })).structuredContent.i"
"""Makes one call and returns 7, which the answer holds."""
ENDLESS: Final = "for (;;) {}"
"""Never ends; given 60 seconds to compute."""


@asynccontextmanager
async def opened(make: Callable[[], CodeSandbox]) -> AsyncIterator[CodeSandbox]:
    """A sandbox, closed at the end."""
    sandbox = make()
    try:
        yield sandbox
    finally:
        await in_time(sandbox.aclose(), "closing the sandbox")


async def returns_a_value(make: Callable[[], CodeSandbox]) -> None:
    """A program that waits for nothing ends in its first step."""
    async with opened(make) as sandbox:
        expect_equal((await play(sandbox, RETURNING)).ending, Returned("1"), "the ending")


async def stops_at_a_call_and_goes_on_with_its_answer(make: Callable[[], CodeSandbox]) -> None:
    """The call says what it is about; its answer lets the program end."""
    async with opened(make) as sandbox, guest_of(sandbox, CALLING) as guest:
        step = await in_time(guest.step(()), "the first step")
        expect_equal(step, Calls((GuestCall(1, "app", "echo", {"i": 7}, 7),)), "the first step")
        last = await in_time(guest.step([answered(step.calls[0])]), "the second step")
        expect_equal(last, Returned("7"), "the second step")


async def refuses_a_step_after_the_end(make: Callable[[], CodeSandbox]) -> None:
    """ClosedError, both after the program ended and after the guest was closed."""
    async with opened(make) as sandbox:
        async with guest_of(sandbox, RETURNING) as guest:
            await in_time(guest.step(()), "the first step")
            await raises(ClosedError, guest.step(()), "a step after the end")
        await raises(ClosedError, guest.step(()), "a step after closing")
        async with guest_of(sandbox, RETURNING) as fresh:
            await in_time(fresh.close(), "closing")
            await raises(ClosedError, fresh.step(()), "a first step after closing")


async def closes_guests_twice(make: Callable[[], CodeSandbox]) -> None:
    """Whether the guest has not begun, waits for an answer, or has ended."""
    async with opened(make) as sandbox:
        for body, steps in ((RETURNING, 0), (RETURNING, 1), (CALLING, 1)):
            async with guest_of(sandbox, body) as guest:
                for _ in range(steps):
                    await in_time(guest.step(()), "a step")
                await in_time(guest.close(), "closing")
                await in_time(guest.close(), "closing again")
                expect_equal(guest.logs, (), "the logs after closing")


async def closes_twice(make: Callable[[], CodeSandbox]) -> None:
    """Also before anything was launched; launching afterwards raises ClosedError."""
    for used in (False, True):
        sandbox = make()
        if used:
            await value_of(sandbox, RETURNING)
        await in_time(sandbox.aclose(), "closing the sandbox")
        await in_time(sandbox.aclose(), "closing the sandbox again")
        launch = Launch(limits=ExecutionLimits())
        await raises(ClosedError, sandbox.launch(as_program(RETURNING), launch), "launching after closing")


async def ends_a_step_that_is_cancelled(make: Callable[[], CodeSandbox]) -> None:
    """Also an endless one; the program is over for good, and the sandbox goes on."""
    async with opened(make) as sandbox:
        async with guest_of(sandbox, ENDLESS, compute_time_ms=60_000) as guest:
            step = asyncio.ensure_future(guest.step(()))
            await asyncio.sleep(0)
            expect_equal(await value_of(sandbox, RETURNING), 1, "a program beside an endless one")
            expect(not step.done(), "the endless program has ended")
            step.cancel()
            await in_time(asyncio.wait({step}), "ending a cancelled step")
            expect(step.cancelled(), "a cancelled step was not cancelled")
            await raises(ClosedError, guest.step(()), "a step after a cancelled one")
        expect_equal(await value_of(sandbox, RETURNING), 1, "a program afterwards")


async def ends_running_guests_when_it_closes(make: Callable[[], CodeSandbox]) -> None:
    """A step under way comes to an end of some kind, and soon."""
    sandbox = make()
    guest = await sandbox.launch(as_program(ENDLESS), Launch(limits=ExecutionLimits(compute_time_ms=60_000)))
    step = asyncio.ensure_future(guest.step(()))
    await asyncio.sleep(0)
    expect_equal(await value_of(sandbox, RETURNING), 1, "a program beside an endless one")
    await in_time(sandbox.aclose(), "closing the sandbox")
    await in_time(asyncio.wait({step}), "the end of a running guest")
    expect(step.exception() is not None or not isinstance(step.result(), Returned), "an endless program returned")
    await in_time(guest.close(), "closing the guest afterwards")


async def runs_many_guests_side_by_side(make: Callable[[], CodeSandbox]) -> None:
    """Thirty guests that wait at the same time all end, in whatever order they are answered."""
    async with opened(make) as sandbox:
        launch = Launch(limits=ExecutionLimits())
        guests = [await in_time(sandbox.launch(as_program(CALLING), launch), "launching") for _ in range(30)]
        steps = await in_time(asyncio.gather(*(guest.step(()) for guest in guests)), "thirty first steps")
        for guest, step in reversed(list(zip(guests, steps, strict=True))):
            last = await in_time(guest.step([answered(step.calls[0])]), "a second step")
            expect_equal(last, Returned("7"), "the ending")
            await guest.close()


SANDBOX_CHECKS: Final[tuple[SandboxCheck, ...]] = (
    returns_a_value,
    stops_at_a_call_and_goes_on_with_its_answer,
    refuses_a_step_after_the_end,
    closes_guests_twice,
    closes_twice,
    ends_a_step_that_is_cancelled,
    ends_running_guests_when_it_closes,
    runs_many_guests_side_by_side,
)
"""Every check of the contract of a sandbox that does not depend on its language."""
