"""Every source that ships keeps the contract."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from codemodekit.contracts import ToolCall, ToolProvider, ToolSession
from codemodekit.errors import ToolCallFailed, ToolError
from codemodekit.providers.local import local
from codemodekit.providers.mcp.sources import mcp
from codemodekit.testing import PROVIDER_CHECKS, InMemoryProvider, Probe, ProviderCheck, ProviderSubject

pytestmark = [pytest.mark.anyio, pytest.mark.proves("house.testing")]
each_check = pytest.mark.parametrize("check", PROVIDER_CHECKS, ids=lambda check: check.__name__)

SERVER = str(Path(__file__).parents[1] / "servers" / "mcp_fixture_server.py")


async def echo(x: int) -> dict[str, int]:
    return {"x": x}


async def fail() -> None:
    raise ToolError("there is no such row")


async def hang() -> None:
    await asyncio.get_running_loop().create_future()


def of_functions() -> ProviderSubject:
    return ProviderSubject(
        make=lambda: local("app", [echo, fail, hang]),
        answers=Probe("echo", {"x": 1}),
        structured={"x": 1},
        fails=Probe("fail"),
        hangs=Probe("hang"),
    )


def in_memory() -> ProviderSubject:
    def make() -> InMemoryProvider:
        provider = InMemoryProvider("memory", ["echo", "fail", "hang", "kill"])

        async def break_off(call: ToolCall) -> None:
            provider.disconnect()
            await asyncio.get_running_loop().create_future()

        provider.answer("fail", ToolCallFailed("there is no such row"))
        provider.answer("kill", break_off)
        provider.gate("hang")
        return provider

    async def lose(provider: ToolProvider, _session: ToolSession) -> None:
        assert isinstance(provider, InMemoryProvider)
        provider.disconnect()

    async def change(provider: ToolProvider, _session: ToolSession) -> None:
        assert isinstance(provider, InMemoryProvider)
        provider.change("echo", "more")

    return ProviderSubject(
        make=make,
        answers=Probe("echo", {"x": 1}),
        structured={"x": 1},
        fails=Probe("fail"),
        hangs=Probe("hang"),
        kills=Probe("kill"),
        lose=lose,
        change=change,
    )


def over_stdio() -> ProviderSubject:
    async def lose(provider: ToolProvider, session: ToolSession) -> None:
        # Nobody waits for this call: what shows is that the connection tells of its end by itself.
        call = ToolCall(execution_id="e", call_id="c", source=provider.name, tool="die", input={})
        await asyncio.gather(session.call(call), return_exceptions=True)

    async def change(provider: ToolProvider, session: ToolSession) -> None:
        await session.call(ToolCall(execution_id="e", call_id="c", source=provider.name, tool="grow", input={}))

    return ProviderSubject(
        make=lambda: mcp.stdio("fixture", sys.executable, ["-W", "ignore", SERVER, "stdio"]),
        answers=Probe("echo", {"x": 1}),
        structured={"x": 1},
        fails=Probe("fail"),
        hangs=Probe("slow"),
        kills=Probe("die"),
        lose=lose,
        change=change,
    )


@each_check
async def test_python_functions(check: ProviderCheck) -> None:
    await check(of_functions())


@each_check
async def test_the_source_in_memory(check: ProviderCheck) -> None:
    await check(in_memory())


@pytest.mark.slow
@each_check
async def test_an_mcp_server_over_stdio(check: ProviderCheck) -> None:
    await check(over_stdio())
