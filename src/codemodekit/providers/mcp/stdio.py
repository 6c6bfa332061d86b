"""A server as a child process, spoken to over its stdin and stdout.

Not the SDK's own stdio transport, for what that one leaves open: a line may grow without bound, each line of noise on
stdout is logged with a traceback, a server's descendants outlive it when it died first (a killed `npx` leaves its node
running), stderr goes to ours, and why the child ended is not said.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.abc
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from codemodekit import _json
from codemodekit.providers.mcp.child import CHUNK_BYTES, child_exited, drained, end_child, start_child
from codemodekit.providers.mcp.guardian import GUARDIAN
from codemodekit.providers.mcp.lines import EndlessLine, Lines
from codemodekit.providers.mcp.link import Incoming, Link
from codemodekit.providers.mcp.messages import read_message
from codemodekit.providers.mcp.settings import StdioServer
from codemodekit.providers.mcp.tail import Tail

__all__ = ["open_stdio"]

_EXIT_CODE_WAIT_S: Final = 0.5
"""A child that closed its stdout has normally exited; this long we wait to learn its exit code."""
_EXIT_POLL_S: Final = 0.25
_LAST_WORDS_S: Final = 0.2
"""How long we wait for what is still to be read of its stderr."""
_QUEUED_MESSAGES: Final = 256
"""Messages waiting for a child that does not read; without a queue, withdrawing a call would wait for the pipe."""


@asynccontextmanager
async def open_stdio(server: StdioServer) -> AsyncIterator[Link]:
    """Start the child; on leaving it is gone, with all of its process group, after at most about four seconds.

    Raises:
        SourceLost: it cannot be started.
    """
    process = await start_child(server)
    tail, said_all = Tail(), anyio.Event()
    # No await between the start and the shielded ending below: a cancellation there would leave the child behind.
    inbox_send, inbox = anyio.create_memory_object_stream[Incoming](0)
    outbox, outbox_receive = anyio.create_memory_object_stream[SessionMessage](_QUEUED_MESSAGES)
    link = Link(read=inbox, write=outbox, needs_probing=False, host_notes=tail.text)
    try:
        GUARDIAN.watch(process.pid)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read_stdout, process, inbox_send, link, tail, said_all)
            tasks.start_soon(_write_stdin, process, outbox_receive, link)
            tasks.start_soon(_read_stderr, process, tail, said_all)
            tasks.start_soon(_watch_exit, process, link)
            try:
                yield link
            finally:
                tasks.cancel_scope.cancel()
    finally:
        for stream in (inbox_send, inbox, outbox, outbox_receive):
            stream.close()
        with anyio.CancelScope(shield=True):
            await end_child(process, tail)
            await anyio.to_thread.run_sync(GUARDIAN.release, process.pid)


# --- what the child says ----------------------------------------------------------------------------------------------


async def _read_stderr(process: anyio.abc.Process, tail: Tail, said_all: anyio.Event) -> None:
    if process.stderr is not None:
        await drained(process.stderr, tail)
    said_all.set()


async def _read_stdout(
    process: anyio.abc.Process,
    inbox: MemoryObjectSendStream[Incoming],
    link: Link,
    tail: Tail,
    said_all: anyio.Event,
) -> None:
    assert process.stdout is not None
    lines = Lines()
    # The inbox is closed only after the reason is known: closing it is what fails the calls in flight.
    async with inbox:
        try:
            while True:
                for line in lines.feed(await process.stdout.receive(CHUNK_BYTES)):
                    message = read_message(line)
                    if message is None:
                        tail.noise(line.head)
                    else:
                        await inbox.send(message)
        except EndlessLine as error:
            link.end(str(error))
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            reason = await _why_ended(process, "the server closed its output")
            with anyio.move_on_after(_LAST_WORDS_S):
                await said_all.wait()
            link.end(reason)


async def _watch_exit(process: anyio.abc.Process, link: Link) -> None:
    """Tell of an exit that does not end stdout, because something the child had started holds it open.

    After a failure that is what is left of the server; after an orderly exit it may be the server proper.
    """
    await child_exited(process, math.inf, poll_s=_EXIT_POLL_S)
    await anyio.sleep(_EXIT_CODE_WAIT_S)  # an end of stdout comes at once, and says it all
    reason = await _why_ended(process, link.reason)
    if process.returncode:
        link.end(reason)
    elif not link.ended.is_set():
        link.reason = reason
        link.doubtful.set()


async def _why_ended(process: anyio.abc.Process, otherwise: str) -> str:
    await child_exited(process, _EXIT_CODE_WAIT_S)
    code = process.returncode
    if code is None:
        return otherwise
    if code < 0:
        return f"the server process was killed by signal {-code}"
    return f"the server process exited with code {code}"


# --- what we say ------------------------------------------------------------------------------------------------------


async def _write_stdin(
    process: anyio.abc.Process, outbox: MemoryObjectReceiveStream[SessionMessage], link: Link
) -> None:
    assert process.stdin is not None
    async with outbox:
        try:
            async for item in outbox:
                text = _json.encode(item.message.model_dump(by_alias=True, mode="python", exclude_unset=True))
                await process.stdin.send(text + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            link.end(await _why_ended(process, "the server closed its input"))
