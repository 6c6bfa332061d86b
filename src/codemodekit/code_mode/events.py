"""What listeners hear while runs go on, as values: progress for who waits, and events for who operates the host.

Neither carries what a program says to a tool or hears from it; progress has the messages that tools meant to be read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["EventKind", "Listener", "Observer", "ObserverEvent", "ObserverEventKind", "RunEvent"]

EventKind: TypeAlias = Literal[
    "compiled", "started", "tool_queued", "tool_started", "tool_progress", "tool_finished", "finished"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One station of a run, for whoever waits for its end."""

    sequence: int
    """Increases by at least one from event to event of a run."""
    kind: EventKind
    execution_id: str
    call_id: str | None = None
    source: str | None = None
    tool: str | None = None
    message: str | None = None
    """For tool_progress: what the tool said, cleaned and bounded."""
    status: str | None = None
    """For tool_finished: the status of the receipt. For finished: ok, failed or cancelled."""
    code: str | None = None
    """Why it failed, as a stable code."""


ObserverEventKind: TypeAlias = Literal[
    "execution_started", "tool_call_queued", "tool_call_started", "tool_call_completed", "execution_completed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverEvent:
    """One station of any run, for whoever operates the host: no program, argument, result or message is in it."""

    sequence: int
    """Increases by one from event to event of a run."""
    kind: ObserverEventKind
    execution_id: str
    time: float
    """Seconds since 1970."""
    call_id: str | None = None
    source: str | None = None
    """As the program named it; a source or tool that does not exist has a name too. At most 513 characters."""
    tool: str | None = None
    status: str | None = None
    """For tool_call_completed: the status of the receipt. For execution_completed: ok, failed or cancelled."""
    code: str | None = None
    """Why it failed, as a stable code."""
    duration_ms: float | None = None
    """Of a call, from dispatch to answer; None when it was never dispatched. Of a run, all of it."""
    input_bytes: int | None = None
    """Of a call, its input as JSON. Of a run, its program."""
    result_bytes: int | None = None
    """Of a call, what the program got. Of a run, the value it returned."""
    calls: int | None = None
    """For execution_completed: how many calls the program made, those that were refused included."""


Listener: TypeAlias = Callable[[RunEvent], None] | Callable[[RunEvent], Awaitable[None]]
"""Hears the progress of one run. A coroutine function is awaited on the event loop, any other is called in a thread."""

Observer: TypeAlias = Callable[[ObserverEvent], None] | Callable[[ObserverEvent], Awaitable[None]]
"""Hears the events of all runs, in the same manner."""
