"""Drives one guest to its end, as the run loop would, with answers from a function. For checks of sandboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from codemodekit._json import ABSENT, encode, loads
from codemodekit.contracts import (
    Answer,
    Calls,
    CodeSandbox,
    Guest,
    GuestCall,
    Launch,
    LogEntry,
    Program,
    Returned,
    Threw,
    ToolResult,
)
from codemodekit.diagnostics import Location
from codemodekit.limits import ExecutionLimits
from codemodekit.testing.expecting import expect, in_time

__all__ = [
    "NAMES",
    "Played",
    "Responder",
    "answered",
    "as_program",
    "error_of",
    "guest_of",
    "names_of",
    "play",
    "refused",
    "value_of",
]

Responder: TypeAlias = Callable[[GuestCall], Answer]


@dataclass(frozen=True, slots=True)
class Played:
    """How a program went."""

    ending: Returned | Threw | None
    """None: it waits for something that nobody settles."""
    calls: tuple[GuestCall, ...]
    logs: tuple[LogEntry, ...]


def as_program(body: str) -> Program:
    """The program whose body is this JavaScript, on lines of its own."""
    return Program(
        source=body, javascript=f"async () => {{\n{body}\n}}", locate=lambda line, at: Location(line - 1, at)
    )


NAMES: Final[dict[str | None, Sequence[str]]] = {
    None: ["app", "wei rd", "then", "contacts"],
    "app": ["echo", "a.b", "toJSON"],
    "wei rd": ["größe/1"],
}


def names_of(source: str | None) -> Sequence[str]:
    """The names of a few sources, and of their tools."""
    return NAMES[source]


def answered(call: GuestCall) -> Answer:
    """The input comes back as `structuredContent`."""
    return Answer(call.id, True, encode(ToolResult(structured_content=call.input).to_wire()))


def refused(call: GuestCall) -> Answer:
    """The call has failed."""
    fields = {"message": "no", "code": "TOOL_EXECUTION_FAILED", "phase": "tool", "source": call.source,
              "tool": call.tool, "details": {"a": 1}}  # fmt: skip
    return Answer(call.id, False, encode(fields))


@asynccontextmanager
async def guest_of(sandbox: CodeSandbox, body: str, **launch: Any) -> AsyncIterator[Guest]:
    """A guest with this body, closed at the end. `launch` are fields of Launch and of ExecutionLimits."""
    fields = {name: launch.pop(name) for name in ("context", "names", "seed") if name in launch}
    guest = await in_time(
        sandbox.launch(as_program(body), Launch(limits=ExecutionLimits(**launch), **fields)), "launching a guest"
    )
    try:
        yield guest
    finally:
        await in_time(guest.close(), "closing a guest")


async def play(sandbox: CodeSandbox, body: str, respond: Responder = answered, **launch: Any) -> Played:
    """Run a body to its end; each call is answered in the next step."""
    async with guest_of(sandbox, body, **launch) as guest:
        calls: list[GuestCall] = []
        step = await in_time(guest.step(()), "the first step")
        while isinstance(step, Calls) and step.calls:
            calls += step.calls
            step = await in_time(guest.step([respond(call) for call in step.calls]), "a step")
        calls += step.calls
        ending = None if isinstance(step, Calls) else step
        return Played(ending, tuple(calls), guest.logs)


async def value_of(sandbox: CodeSandbox, body: str, respond: Responder = answered, **launch: Any) -> Any:
    """What a body returns; ABSENT for `undefined`."""
    played = await play(sandbox, body, respond, **launch)
    ending = played.ending
    if not isinstance(ending, Returned):
        expect(False, f"{body!r} ought to return and came to {ending!r}")
        return None
    return ABSENT if ending.json is None else loads(ending.json)


async def error_of(sandbox: CodeSandbox, body: str, respond: Responder = answered, **launch: Any) -> Threw:
    """How a body fails."""
    played = await play(sandbox, body, respond, **launch)
    if not isinstance(played.ending, Threw):
        expect(False, f"{body!r} ought to fail and came to {played.ending!r}")
        raise AssertionError
    return played.ending
