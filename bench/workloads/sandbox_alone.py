"""The sandbox without bridge, catalogue and policy: our QuickJsSandbox, and pydantic-monty with its pool kept warm."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from bench.ours import LIMITS
from bench.workload import AtLeastPeer, Bound, Figure, Measure, Sizes, Workload, middle, require
from codemodekit import QuickJsSandbox, TypeScriptCompiler
from codemodekit._json import encode
from codemodekit.contracts import Answer, Calls, Launch, Program, Returned

__all__ = ["WORKLOAD"]

_RUN = "return 1"
_CALLS = """
let s = 0;
for (let i = 0; i < {calls}; i++) s += (await tools.app.echo({{ i }})).structuredContent.i;
return s
"""
_PEER_CALLS = "s = 0\nfor i in range({calls}):\n    s += (await echo(i))['i']\ns"


def _figures(_sizes: Sizes) -> tuple[Figure, ...]:
    return (
        Figure(name="trivial_p50", title="fresh run, p50", unit="ms", targets=(Bound(0.35),)),
        Figure(name="sequential", title="calls in one run, answered at once", unit="calls/s", targets=(AtLeastPeer(),)),
    )


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    sandbox = QuickJsSandbox()
    run, calls = _program(_RUN), _program(_CALLS.format(calls=sizes.calls))

    async def trivial() -> None:
        require(await _play(sandbox, run) == "1", "not 1")

    async def sequential() -> None:
        value = await _play(sandbox, calls)
        require(value == str(sum(range(sizes.calls))), value)

    async def measure() -> Mapping[str, float]:
        return {
            "trivial_p50": await middle(trivial, sizes) * 1e3,
            "sequential": sizes.calls / await middle(sequential, sizes.few),
        }

    try:
        yield measure
    finally:
        await sandbox.aclose()


def _program(text: str) -> Program:
    program = TypeScriptCompiler().compile(text)
    assert isinstance(program, Program), program
    return program


async def _play(sandbox: QuickJsSandbox, program: Program) -> str | None:
    """Run it to the end in a fresh guest, each call answered with what it was given."""
    guest = await sandbox.launch(program, Launch(limits=LIMITS))
    step = await guest.step(())
    while isinstance(step, Calls):
        step = await guest.step([Answer(call.id, True, _answer(call.input)) for call in step.calls])
    await guest.close()
    require(isinstance(step, Returned), step)
    assert isinstance(step, Returned)
    return step.json


def _answer(given: Any) -> bytes:
    return encode({"content": [{"type": "text", "text": encode(given).decode()}], "structuredContent": given})


@asynccontextmanager
async def _peer(sizes: Sizes) -> AsyncIterator[Measure]:
    from pydantic_monty import AsyncMonty

    from bench.peer import MONTY_LIMITS

    async def echo(i: int) -> dict[str, int]:
        return {"i": i}

    async with AsyncMonty() as pool:

        async def play(program: str) -> Any:
            async with pool.checkout(limits=MONTY_LIMITS) as session:
                return await session.feed_run(program, external_lookup={"echo": echo})

        async def trivial() -> None:
            require(await play("1") == 1, "not 1")

        async def sequential() -> None:
            value = await play(_PEER_CALLS.format(calls=sizes.calls))
            require(value == sum(range(sizes.calls)), value)

        async def measure() -> Mapping[str, float]:
            return {
                "trivial_p50": await middle(trivial, sizes) * 1e3,
                "sequential": sizes.calls / await middle(sequential, sizes.few),
            }

        yield measure


WORKLOAD = Workload(
    name="sandbox_alone",
    title="Sandbox alone (peer: pydantic-monty alone, pool warm)",
    figures=_figures,
    ours=_ours,
    peer=_peer,
)
