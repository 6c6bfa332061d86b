"""The native TypeScript compiler as a child process that keeps its libraries loaded from check to check.

It is given an empty folder of its own and a few documents that exist in memory only. Imports are not resolved and no
types are looked for, so nothing of the user's is ever read. Its group, memory and environment are its own; when it is
told to end it is killed, since there is nothing it could have left to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codemodekit.compilers.typecheck.connection import CompilerLost, Connection

__all__ = ["CATALOGUE", "ERASED", "PRELUDE", "TYPED", "Compiler", "Complaint"]

PRELUDE: Final = "prelude.d.ts"
CATALOGUE: Final = "catalogue.d.ts"
ERASED: Final = "erased.ts"
TYPED: Final = "typed.ts"

_OPTIONS: Final = {
    "noEmit": True,
    # What only stricter settings would say is true of many programs that run well.
    "strict": False,
    "noImplicitAny": True,  # else a wrong name in brackets passes
    "target": "esnext",
    "module": "esnext",
    # What came later and the sandbox has is in the prelude: the whole of `esnext` costs each check a fifth more.
    "lib": ["es2023"],
    "types": [],
    "noResolve": True,
    "moduleDetection": "legacy",
    "skipLibCheck": True,
}
_PROJECT: Final = {"compilerOptions": _OPTIONS, "files": [PRELUDE, CATALOGUE, ERASED, TYPED]}

_MOST_COMPLAINTS: Final = 200
_REAP_S: Final = 2.0
_PIPE_BYTES: Final = 1024 * 1024
_ERROR: Final = 1


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of the compiler; lines and columns from 0, in UTF-16 units, the end not included."""

    code: int
    message: str
    start: tuple[int, int]
    end: tuple[int, int]


class Compiler:
    """One process, from its start to its end. Used by one check at a time."""

    def __init__(self, process: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory[str]) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self._process = process
        self._folder = folder
        self._connection = Connection(process.stdout, process.stdin)
        self._texts: dict[str, str] = {}
        self._version = 0

    @classmethod
    async def start(cls, command: Sequence[str], memory_bytes: int) -> Compiler:
        """Start the process; it is not ready yet.

        Raises:
            OSError: it cannot be started.
        """
        folder = _project_folder()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=folder.name,
                env=_environment(memory_bytes),
                start_new_session=True,
                limit=_PIPE_BYTES,
            )
        except BaseException:
            folder.cleanup()
            raise
        _bound_memory(process.pid, 2 * memory_bytes)
        return cls(process, folder)

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None and not self._connection.is_lost

    async def initialize(self) -> None:
        """Shake hands. Raises CompilerLost."""
        asked = {
            "processId": os.getpid(),
            "rootUri": Path(self._folder.name).as_uri(),
            "workspaceFolders": None,
            # each message wakes two processes, and nobody reads these
            "initializationOptions": {"logVerbosity": 0, "disablePushDiagnostics": True},
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "textDocument": {"diagnostic": {"relatedInformation": False}},
            },
        }
        answer = await self._connection.request("initialize", asked)
        encoding = _member(_member(answer, "capabilities"), "positionEncoding")
        if encoding not in (None, "utf-16"):
            raise CompilerLost(f"it counts columns as {encoding!r}")
        self._connection.notify("initialized", {})

    def put(self, name: str, text: str) -> None:
        """Give a document a text; it is sent along with the next question."""
        if self._texts.get(name) == text:
            return
        self._version += 1
        document = {"uri": self._uri(name), "version": self._version}
        if name in self._texts:
            changed = {"textDocument": document, "contentChanges": [{"text": text}]}
            self._connection.notify("textDocument/didChange", changed)
        else:
            opened = {"textDocument": {**document, "languageId": "typescript", "text": text}}
            self._connection.notify("textDocument/didOpen", opened)
        self._texts[name] = text

    async def complaints(self, name: str) -> list[Complaint]:
        """The errors of a document, in its order, at most 200. Raises CompilerLost."""
        asked = {"textDocument": {"uri": self._uri(name)}}
        answer = await self._connection.request("textDocument/diagnostic", asked)
        items = _member(answer, "items")
        if not isinstance(items, list):
            raise CompilerLost("it gives no list of errors")
        errors = (item for item in items if _member(item, "severity") == _ERROR)
        return sorted(map(_complaint, errors), key=lambda one: one.start)[:_MOST_COMPLAINTS]

    def kill(self) -> None:
        """End the process and all of its group, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            elif self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Kill it, and leave nothing of it behind."""
        self.kill()
        await self._connection.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REAP_S):
                await self._process.wait()
        self._folder.cleanup()

    def _uri(self, name: str) -> str:
        return f"{Path(self._folder.name).as_uri()}/{name}"


def _project_folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="codemodekit-types-", ignore_cleanup_errors=True)
    place = Path(os.path.realpath(folder.name))
    folder.name = str(place)
    (place / "tsconfig.json").write_text(json.dumps(_PROJECT), encoding="utf-8")
    (place / "package.json").write_text("{}", encoding="utf-8")  # else it looks for one in every folder above
    return folder


_INHERITED: Final = ("SYSTEMROOT",)
"""What no process can do without on Windows; elsewhere nothing is handed on."""


def _environment(memory_bytes: int) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, "GOMEMLIMIT": str(memory_bytes), "GOMAXPROCS": "2", "PATH": "", "LANG": "C"}


def _bound_memory(pid: int, most: int) -> None:
    """GOMEMLIMIT makes the compiler's collector work harder and harder; this ends it."""
    if sys.platform == "linux":
        import resource  # there is no such module elsewhere

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _complaint(item: Any) -> Complaint:
    reach = _member(item, "range")
    code, message = _member(item, "code"), _member(item, "message")
    start, end = _place(_member(reach, "start")), _place(_member(reach, "end"))
    if not isinstance(code, int) or not isinstance(message, str) or start is None or end is None:
        raise CompilerLost("an error without a code, a message or a place")
    return Complaint(code, message, start, end)


def _place(value: Any) -> tuple[int, int] | None:
    line, column = _member(value, "line"), _member(value, "character")
    return (line, column) if isinstance(line, int) and isinstance(column, int) else None
