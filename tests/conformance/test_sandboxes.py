"""Every sandbox that ships keeps the contract."""

from __future__ import annotations

import pytest

from codemodekit.contracts import Calls, GuestCall, Returned
from codemodekit.sandboxes.quickjs import QuickJsSandbox
from codemodekit.testing import (
    CALLING,
    ENDLESS,
    HANG,
    JAVASCRIPT_CHECKS,
    RETURNING,
    SANDBOX_CHECKS,
    SandboxCheck,
    ScriptedSandbox,
)

pytestmark = [pytest.mark.anyio, pytest.mark.proves("house.testing", "sandbox.stepwise")]


def scripted() -> ScriptedSandbox:
    return ScriptedSandbox(
        {
            RETURNING: [Returned("1")],
            CALLING: [Calls((GuestCall(1, "app", "echo", {"i": 7}, 7),)), Returned("7")],
            ENDLESS: [HANG],
        }
    )


@pytest.mark.parametrize("check", SANDBOX_CHECKS, ids=lambda check: check.__name__)
async def test_the_scripted_sandbox(check: SandboxCheck) -> None:
    await check(scripted)


@pytest.mark.proves("value.plain", "value.refused", "value.hostile")
@pytest.mark.parametrize("check", (*SANDBOX_CHECKS, *JAVASCRIPT_CHECKS), ids=lambda check: check.__name__)
async def test_the_quickjs_sandbox(check: SandboxCheck) -> None:
    await check(QuickJsSandbox)


@pytest.mark.parametrize("check", (*SANDBOX_CHECKS, *JAVASCRIPT_CHECKS), ids=lambda check: check.__name__)
async def test_the_quickjs_sandbox_with_two_workers(check: SandboxCheck) -> None:
    await check(lambda: QuickJsSandbox(workers=2))
