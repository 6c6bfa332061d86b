"""The ports of the system: what a tool source, a compiler, a sandbox and a policy must do, and what they exchange.

Everything concrete stands above and is handed in. A new source, sandbox or compiler needs no base class: it passes the
conformance suite of its contract in `codemodekit.testing`.

Values are frozen dataclasses. The three that are made for every call are named tuples, which are made in a third of the
time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from codemodekit._json import ABSENT, Absent, JsonObject, JsonValue
from codemodekit.diagnostics import Diagnostic, Location
from codemodekit.limits import ExecutionLimits

__all__ = [
    "Allow",
    "Answer",
    "Ask",
    "Calls",
    "CodeCompiler",
    "CodeSandbox",
    "ContentBlock",
    "Decision",
    "Deny",
    "Guest",
    "GuestCall",
    "GuestError",
    "GuestFrame",
    "Launch",
    "LogEntry",
    "PolicyRequest",
    "Program",
    "Returned",
    "Step",
    "Threw",
    "ToolAnnotations",
    "ToolCall",
    "ToolDefinition",
    "ToolListing",
    "ToolPolicy",
    "ToolProvider",
    "ToolResult",
    "ToolSession",
    "TypedText",
]

# --- tools and their sources ------------------------------------------------------------------------------------------

ContentBlock: TypeAlias = Mapping[str, Any]
"""One block of rich content in wire form: `{"type": "text", "text": …}`, image, audio, resource, resource_link; a block
of an unknown type is kept as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """Hints about a tool from its (untrusted) source; None where the source said nothing."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    @property
    def may_write(self) -> bool:
        """Whether a call may change something: it may, unless annotated read-only or idempotent."""
        return self.read_only is not True and self.idempotent is not True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool as its source describes it; names and schemas are kept exactly."""

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    """JSON Schema of the arguments; its root is an object."""
    output_schema: JsonObject | None = None
    """JSON Schema of `structured_content`, where the source declares one."""
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)
    model_visible: bool = True
    """False hides the tool from programs and from search (tools meant for an application only)."""
    output_mismatch: Literal["error", "warn"] = "error"
    """What a result does that does not match `output_schema`: fail, or pass with a note."""
    sideband: JsonObject = field(default_factory=dict)
    """Everything else the source said (`_meta`, unknown fields); for trusted host code only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListing:
    """All tools of a source at one moment, every page of them."""

    definitions: tuple[ToolDefinition, ...]
    notes: tuple[str, ...] = ()
    """What was odd about the listing, such as a page cursor that came back."""


def _no_progress(_message: str) -> None:
    """The default listener hears nothing."""


class ToolCall(NamedTuple):
    """One call on its way to a source; the input has been validated."""

    execution_id: str
    call_id: str
    source: str
    tool: str
    input: JsonValue
    report_progress: Callable[[str], None] = _no_progress
    """Tells the run's listeners something; returns at once and never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered. The program sees `content` and `structured_content`; `sideband` stays on the host."""

    content: tuple[ContentBlock, ...] = ()
    structured_content: JsonValue | Absent = ABSENT
    sideband: JsonObject = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """The object a program receives."""
        wire: dict[str, Any] = {"content": list(self.content)}
        if self.structured_content is not ABSENT:
            wire["structuredContent"] = self.structured_content
        return wire


class ToolSession(Protocol):
    """A source while it is connected. `call` may run many times at once, from any task of the event loop."""

    async def list_tools(self) -> ToolListing:
        """All tools, every page read.

        Raises:
            SourceLost: the connection is gone.
        """
        ...

    async def wait_for_change(self) -> None:
        """Return when the tools may have changed.

        Raises:
            SourceLost: the connection is gone; the message says why, without secrets.
        """
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Carry out one call, never twice. Cancelling it cancels the work upstream as far as the protocol can.

        Raises:
            ToolCallFailed: the source answered with a failure.
            ToolError: a tool wants its message shown.
            SourceLost: the connection is gone and no answer will come.
        """
        ...


class ToolProvider(Protocol):
    """A source of tools under a configured name. Connecting again after a loss is the catalogue's work, not its own."""

    @property
    def name(self) -> str:
        """The configured name, kept exactly."""
        ...

    def connect(self) -> AbstractAsyncContextManager[ToolSession]:
        """Open one connection. It is entered and left in the same task, which does nothing else meanwhile.

        Raises:
            SourceLost: (on entering) the source cannot be reached; the message says why, without secrets.
        """
        ...


# --- programs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypedText:
    """A program with its types still in it, as one function expression."""

    text: str
    locate: Callable[[int, int], Location | None]
    """As `Program.locate`, from places in `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled program."""

    source: str
    """The text as the model wrote it."""
    javascript: str
    """One JavaScript expression: an async function without parameters whose body is the program."""
    locate: Callable[[int, int], Location | None]
    """From a 1-based line and UTF-16 column of `javascript` to the place in `source`; None outside of the program."""
    notes: tuple[str, ...] = ()
    """What the compiler mended or noticed, for the model."""
    typed: TypedText | None = None
    """For a type checker: the same function with the types the program was written with; None where there are none."""
    discarded: str | None = None
    """What to tell the model if the program gives back `undefined`: that its last value was dropped."""
    returned_at: Location | None = None
    """Where its value comes from, if there is one place: the program's only `return`."""


class CodeCompiler(Protocol):
    """Turns model-written text into a program, without running any of it."""

    def compile(self, source: str) -> Program | Diagnostic:
        """The same text gives the same outcome; never raises for anything the text holds. Safe to call in a thread."""
        ...


# --- sandbox ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a fresh guest is given besides its program."""

    limits: ExecutionLimits
    context: JsonValue = None
    """The value of the global `context`."""
    names: Callable[[str | None], Sequence[str]] = lambda _source: ()
    """Names of the sources (None) or of one source's tools; called on a sandbox thread, answers at once. Raises
    LookupError while they are not known."""
    seed: int = 0
    """Seed of `Math.random`, 64 bits."""


class GuestCall(NamedTuple):
    """A tool call the program made."""

    id: int
    """Counts from 1 in the order of issue."""
    source: str
    tool: str
    input: JsonValue
    input_bytes: int
    """Size of the input as JSON."""
    problem: str | None = None
    """Why the arguments cannot be sent at all (not JSON); then `input` is None."""
    oversize: bool = False
    """The arguments alone are larger than the bridge allows; then `input` is None."""


class Answer(NamedTuple):
    """The settling of a call: a `ToolResult` wire object, or the fields of a `ToolCallError`."""

    id: int
    ok: bool
    json: bytes


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the program's console; `level` is log, info, warn, error, debug, or `dropped` for the marker."""

    level: str
    message: str

    def to_wire(self) -> dict[str, str]:
        return {"level": self.level, "message": self.message}


@dataclass(frozen=True, slots=True)
class GuestFrame:
    """One stack frame in the coordinates of `Program.javascript`: 1-based line, 1-based UTF-16 column."""

    function: str | None
    line: int
    column: int


GuestErrorKind: TypeAlias = Literal[
    "exception",
    "syntax",
    "tool",
    "compute",
    "memory",
    "stack",
    "not_serializable",
    "output_limit",
    "bridge_limit",
    "internal",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestError:
    """Why a program ended without a value, or a rejection that nobody handled."""

    kind: GuestErrorKind
    name: str = "Error"
    message: str = ""
    frames: tuple[GuestFrame, ...] = ()
    call_id: int | None = None
    """For `tool`: the call whose failure this is; its code is the host's to say."""
    behind: tuple[str, ...] = ()
    """The errors of an AggregateError and the chain of causes, each as `name: message`; the first few."""
    path: str | None = None
    """For `not_serializable`: where in the value, as `$.rows[3].id`."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The guest waits. No calls here and none running means that it waits for something nobody can settle."""

    calls: tuple[GuestCall, ...]
    unhandled: tuple[GuestError, ...] = ()
    """Rejections nobody has handled so far."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The program returned; `json` is None for `undefined`."""

    json: str | None
    unhandled: tuple[GuestError, ...] = ()
    """Rejections nobody handled."""
    calls: tuple[GuestCall, ...] = ()
    """Calls it made in its last step without awaiting them."""


@dataclass(frozen=True, slots=True)
class Threw:
    """The program ended with an error or at a limit."""

    error: GuestError
    unhandled: tuple[GuestError, ...] = ()
    calls: tuple[GuestCall, ...] = ()


Step: TypeAlias = Calls | Returned | Threw


class Guest(Protocol):
    """One program in its sandbox. Between steps none of its code is on any stack."""

    async def step(self, answers: Sequence[Answer]) -> Step:
        """Settle the answers and run until the program waits or ends. The first step, with none, starts the program.

        Cancelling ends the program for good. A step after the end raises ClosedError.
        """
        ...

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        """What the program wrote to its console so far, also when it was killed."""
        ...

    async def close(self) -> None:
        """Free what the guest holds. Twice is fine."""
        ...


class CodeSandbox(Protocol):
    """Runs programs that nobody trusts."""

    async def launch(self, program: Program, launch: Launch) -> Guest:
        """A fresh guest; nothing of the program has run yet.

        Raises:
            SandboxError: the sandbox is broken.
            ClosedError: it has been closed.
        """
        ...

    async def aclose(self) -> None:
        """Stop all threads; running guests end. Twice is fine."""
        ...


# --- policy -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRequest:
    """One validated call that asks to be let through."""

    execution_id: str
    call_id: str
    source: str
    tool: str
    input: JsonValue
    annotations: ToolAnnotations
    """From the source, which is not trusted: hints, not facts."""
    principal: Any = None
    """Who runs the program, as the host said."""


@dataclass(frozen=True, slots=True)
class Allow:
    """Let the call through."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Refuse the call; the reason is shown to the model."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Let the host's approver decide; the reason is shown to it."""

    reason: str | None = None


Decision: TypeAlias = Allow | Deny | Ask

ToolPolicy: TypeAlias = Callable[[PolicyRequest], Awaitable[Decision]]
"""Decides each call. Anything but a decision, an exception, or no answer in time denies."""
