"""A server's child process: how it is started, and how it is made to end with everything it started.

Starting on Windows and ending a process tree are the SDK's. Knows nothing of messages.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO, cast

import anyio
import anyio.abc
import anyio.to_thread
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)

from codemodekit.errors import SourceLost
from codemodekit.providers.mcp.settings import StdioServer
from codemodekit.providers.mcp.tail import Tail

__all__ = ["CHUNK_BYTES", "child_exited", "drained", "end_child", "start_child"]

CHUNK_BYTES: Final = 64 * 1024
"""Read from a pipe at a time."""

_GRACE_S: Final = 1.5
"""How long the child has to leave by itself after its stdin was closed."""
_TERMINATE_S: Final = 1.5
"""How long its process group has after SIGTERM, before SIGKILL."""
_REAP_S: Final = 1.0
_POLL_S: Final = 0.01


async def start_child(server: StdioServer) -> anyio.abc.Process:
    """The child, in a session and process group of its own.

    Raises:
        SourceLost: it cannot be started.
    """
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


async def end_child(process: anyio.abc.Process, tail: Tail) -> None:
    """Let the child leave, then make it and all of its process group leave. Every wait is bounded."""
    outputs = [(process.stdout, Tail()), (process.stderr, tail)]
    async with anyio.create_task_group() as draining:
        # A child that still writes must not be held up by a full pipe.
        for stream, kept in outputs:
            if stream is not None:
                draining.start_soon(drained, stream, kept)
        if process.stdin is not None:
            await _close(process.stdin)
        await child_exited(process, _GRACE_S)
        if sys.platform == "win32":
            await terminate_windows_process_tree(process)
            close_process_job(process)
        else:
            # Also when the child itself has left: what it started is still in its group.
            await terminate_posix_process_tree(process, _TERMINATE_S)
        await child_exited(process, _REAP_S)
        draining.cancel_scope.cancel()
    for stream, _kept in outputs:
        if stream is not None:
            await _close(stream)
    _close_pipes(process)


async def child_exited(process: anyio.abc.Process, timeout_s: float, *, poll_s: float = _POLL_S) -> None:
    """Returns when the child has exited, or the time is over."""
    # Polled, because `wait()` also waits for the pipes, which a descendant may hold open.
    with anyio.move_on_after(timeout_s):
        while process.returncode is None:  # noqa: ASYNC110 - nothing public tells it apart from the end of the pipes
            await anyio.sleep(poll_s)


async def _close(stream: anyio.abc.AsyncResource) -> None:
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


def _close_pipes(process: anyio.abc.Process) -> None:
    """Close the transport below, which a descendant that left the group may hold open; nothing public reaches it."""
    close = getattr(getattr(getattr(process, "_process", None), "_transport", None), "close", None)
    if callable(close):
        with suppress(PermissionError):
            close()


async def drained(output: anyio.abc.ByteReceiveStream, tail: Tail) -> None:
    """Keep the last of what comes, until nothing comes any more."""
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            tail.add(await output.receive(CHUNK_BYTES))
