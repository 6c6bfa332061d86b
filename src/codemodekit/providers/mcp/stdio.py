"""A server as a child process, spoken to over its stdin and stdout.

Not the SDK's own stdio transport, for what that one leaves open: a line may grow without bound, each line of noise on
stdout is logged with a traceback, a server's descendants outlive it when it died first (a killed `npx` leaves its node
running), stderr goes to ours, and why the child ended is not said. Starting on Windows and ending a process tree are
the SDK's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TextIO, cast

import anyio
import anyio.abc
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage

from codemodekit import _json
from codemodekit.errors import SourceLost
from codemodekit.providers.mcp.guardian import GUARDIAN
from codemodekit.providers.mcp.lines import EndlessLine, Lines
from codemodekit.providers.mcp.link import Incoming, Link
from codemodekit.providers.mcp.messages import read_message
from codemodekit.providers.mcp.settings import StdioServer
from codemodekit.providers.mcp.tail import Tail

__all__ = ["open_stdio"]

_GRACE_S: Final = 1.5
"""How long the child has to leave by itself after its stdin was closed."""
_TERMINATE_S: Final = 1.5
"""How long its process group has after SIGTERM, before SIGKILL."""
_REAP_S: Final = 1.0
_EXIT_CODE_WAIT_S: Final = 0.5
"""A child that closed its stdout has normally exited; this long we wait to learn its exit code."""
_LAST_WORDS_S: Final = 0.2
"""How long we wait for what is still to be read of its stderr."""
_POLL_S: Final = 0.01
_CHUNK: Final = 64 * 1024
_QUEUED_MESSAGES: Final = 256
"""Messages waiting for a child that does not read; without a queue, withdrawing a call would wait for the pipe."""


@asynccontextmanager
async def open_stdio(server: StdioServer) -> AsyncIterator[Link]:
    """Start the child; on leaving it is gone, with all of its process group, after at most about four seconds.

    Raises:
        SourceLost: it cannot be started.
    """
    process = await _start(server)
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
            try:
                yield link
            finally:
                tasks.cancel_scope.cancel()
    finally:
        for stream in (inbox_send, inbox, outbox, outbox_receive):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _end(process, tail)
            await anyio.to_thread.run_sync(GUARDIAN.release, process.pid)


async def _start(server: StdioServer) -> anyio.abc.Process:
    command = [await _executable(server.command), *server.args]
    env = {**get_default_environment(), **server.env}
    try:
        if sys.platform == "win32":
            # Typed for a file, but handed on as it is to the process call, which takes PIPE: stderr is ours to drain.
            stderr = cast("TextIO", subprocess.PIPE)
            return cast(
                "anyio.abc.Process", await create_windows_process(command[0], command[1:], env, stderr, server.cwd)
            )
        return await anyio.open_process(command, env=env, cwd=server.cwd, start_new_session=True)
    except (OSError, ValueError) as error:
        raise SourceLost(await anyio.to_thread.run_sync(_why_not_started, server, error)) from error


async def _executable(command: str) -> str:
    if sys.platform == "win32":  # npx is npx.cmd there
        return await anyio.to_thread.run_sync(get_windows_executable_command, command)
    return command


def _why_not_started(server: StdioServer, error: Exception) -> str:
    name = Path(server.command).name or server.command
    if server.cwd is not None and not Path(server.cwd).is_dir():
        return f"command {name!r} was not started: its configured working directory does not exist"
    if isinstance(error, FileNotFoundError):
        return f"command {name!r} was not found; install it, or give its full path"
    if isinstance(error, PermissionError):
        return f"command {name!r} may not be executed"
    what = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return f"command {name!r} could not be started ({what})"


# --- what the child says ----------------------------------------------------------------------------------------------


async def _drain(output: anyio.abc.ByteReceiveStream, tail: Tail) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            tail.add(await output.receive(_CHUNK))


async def _read_stderr(process: anyio.abc.Process, tail: Tail, said_all: anyio.Event) -> None:
    if process.stderr is not None:
        await _drain(process.stderr, tail)
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
                for line in lines.feed(await process.stdout.receive(_CHUNK)):
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


async def _why_ended(process: anyio.abc.Process, otherwise: str) -> str:
    await _exited(process, _EXIT_CODE_WAIT_S)
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


# --- the end ----------------------------------------------------------------------------------------------------------


async def _end(process: anyio.abc.Process, tail: Tail) -> None:
    """Let the child leave, then make it and all of its process group leave. Every wait is bounded."""
    outputs = [(process.stdout, Tail()), (process.stderr, tail)]
    async with anyio.create_task_group() as draining:
        # A child that still writes must not be held up by a full pipe.
        for stream, kept in outputs:
            if stream is not None:
                draining.start_soon(_drain, stream, kept)
        if process.stdin is not None:
            await _close(process.stdin)
        await _exited(process, _GRACE_S)
        if sys.platform == "win32":
            await terminate_windows_process_tree(process)
            close_process_job(process)
        else:
            # Also when the child itself has left: what it started is still in its group.
            await terminate_posix_process_tree(process, _TERMINATE_S)
        await _exited(process, _REAP_S)
        draining.cancel_scope.cancel()
    for stream, _kept in outputs:
        if stream is not None:
            await _close(stream)
    _close_pipes(process)


async def _exited(process: anyio.abc.Process, timeout_s: float) -> None:
    # Polled, because `wait()` also waits for the pipes, which a descendant may hold open.
    with anyio.move_on_after(timeout_s):
        while process.returncode is None:  # noqa: ASYNC110 - nothing public tells it apart from the end of the pipes
            await anyio.sleep(_POLL_S)


async def _close(stream: anyio.abc.AsyncResource) -> None:
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


def _close_pipes(process: anyio.abc.Process) -> None:
    """Close the transport below, which a descendant that left the group may hold open; nothing public reaches it."""
    close = getattr(getattr(getattr(process, "_process", None), "_transport", None), "close", None)
    if callable(close):
        with suppress(PermissionError):
            close()
