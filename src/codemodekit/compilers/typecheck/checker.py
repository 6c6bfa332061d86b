"""TypeScriptChecker: checks programs one after another in one warm compiler, each within its budget.

A compiler that takes too long, dies or hangs costs the run that it was checking its check, and nothing else: it is
killed, another is started in the background, and the next run waits for that one. Nothing here knows what is a mistake.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Final

from codemodekit.catalog.snapshot import Catalog
from codemodekit.compilers.checker import TypeCheck
from codemodekit.compilers.typecheck.catalogue import PRELUDE_TEXT, MentionedCatalogue
from codemodekit.compilers.typecheck.compiler import CATALOGUE, ERASED, PRELUDE, TYPED, Compiler
from codemodekit.compilers.typecheck.connection import CompilerLost
from codemodekit.compilers.typecheck.declared import Declarations
from codemodekit.compilers.typecheck.extra import compiler_command
from codemodekit.compilers.typecheck.judge import mistakes_in
from codemodekit.compilers.typecheck.mistakes import Mistake
from codemodekit.compilers.typecheck.reports import blocked, notes_about
from codemodekit.compilers.typecheck.scene import Scene
from codemodekit.contracts import Program
from codemodekit.errors import ConfigurationError

__all__ = ["TypeScriptChecker"]

_log = logging.getLogger("codemodekit")

_PATIENCE: Final = 3
"""How many budgets a run waits for its turn, and for a compiler that is starting."""
_START_S: Final = 15.0
_SHORTEST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0
_INLINE_BYTES: Final = 4 * 1024
"""A longer text is read in a thread, and so are the schemas of tools that nobody has mentioned before."""
_EMPTY: Final = "(async function () {\n})"


class TypeScriptChecker:
    """The native TypeScript compiler as a `TypeChecker`. Use it in one event loop; whoever is given it closes it.

    Args:
        budget_ms: how long one check may take; a program that takes longer runs unchecked.
        memory_bytes: what the compiler tries to stay within; it is ended at twice as much.
        command: what starts the compiler, if not the one that comes with the extra.

    Raises:
        ConfigurationError: the extra is not installed, or a number is not positive.
    """

    def __init__(
        self, *, budget_ms: int = 1000, memory_bytes: int = 256 * 1024 * 1024, command: Sequence[str] | None = None
    ) -> None:
        if budget_ms <= 0 or memory_bytes <= 0:
            raise ConfigurationError("budget and memory of a type checker must be positive")
        self._command = tuple(command) if command is not None else compiler_command()
        self._budget_ms = budget_ms
        self._memory_bytes = memory_bytes
        self._patience_s = _PATIENCE * budget_ms / 1000
        self._catalogue = MentionedCatalogue()
        self._turn = asyncio.Lock()
        self._compiler: Compiler | None = None
        self._starting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._began = 0.0
        self._not_before = 0.0
        self._closed = False

    async def start(self) -> None:
        """Start the compiler in the background. Twice is fine."""
        if self._compiler is None and not self._closed:
            self._begin()

    async def aclose(self) -> None:
        """End the compiler. Twice is fine."""
        self._closed = True
        self._drop()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._ending:
            await asyncio.wait(self._ending)

    async def check(self, program: Program, catalog: Catalog, sources: Sequence[str]) -> TypeCheck:
        """Check one program against the tools of a catalogue; see `TypeChecker`."""
        try:
            async with asyncio.timeout(self._patience_s):
                await self._turn.acquire()
        except TimeoutError:
            return _unchecked("the type checker was busy with other programs")
        try:
            compiler = await self._ready()
            if compiler is None:
                return _unchecked("the type checker is not running")
            return await self._check(compiler, program, catalog, sources)
        finally:
            self._turn.release()

    async def _check(self, compiler: Compiler, program: Program, catalog: Catalog, sources: Sequence[str]) -> TypeCheck:
        check: _Check | None = None
        is_whole = False
        try:
            async with asyncio.timeout(self._budget_ms / 1000):
                declared = await self._declared(program.javascript, catalog, sources)
                scene = Scene(program.javascript, declared, catalog, sources)
                check = _Check(compiler, program, scene)
                outcome = await check.outcome()
            is_whole = True
        except TimeoutError:
            outcome = _cut_short(check, f"type checking took longer than {self._budget_ms} ms")
        except CompilerLost:
            outcome = _cut_short(check, "the type checker broke off")
        finally:
            if check is not None and not is_whole:  # also when the run is cancelled: nobody will read the answer
                self._drop()
                self._begin()
        return outcome

    async def _declared(self, text: str, catalog: Catalog, sources: Sequence[str]) -> Declarations:
        if len(text) <= _INLINE_BYTES:
            declared = self._catalogue.declare_known(text, catalog, sources)
            if declared is not None:
                return declared
        return await asyncio.to_thread(self._catalogue.declare, text, catalog, sources)

    # --- the compiler's life ----------------------------------------------------------------------------------------

    async def _ready(self) -> Compiler | None:
        """A compiler that has loaded its libraries; None if there is none in time."""
        if self._compiler is not None and not self._compiler.is_alive:
            self._drop()
        if self._compiler is None:
            self._begin()
            if self._starting is not None:
                # counted from its start: of one that hangs, not every run has to wait for as long
                left = self._began + self._patience_s - time.monotonic()
                await asyncio.wait([self._starting], timeout=max(0.0, left))
        return self._compiler

    def _begin(self) -> None:
        if self._closed or (self._starting is not None and not self._starting.done()):
            return
        if time.monotonic() >= self._not_before:
            self._began = time.monotonic()
            self._starting = asyncio.get_running_loop().create_task(self._start(), name="type checker starts")

    async def _start(self) -> None:
        compiler: Compiler | None = None
        try:
            async with asyncio.timeout(_START_S):
                compiler = await Compiler.start(self._command, self._memory_bytes)
                await _warm(compiler)
            self._compiler, self._failures = compiler, 0
        except (OSError, TimeoutError, CompilerLost) as error:
            self._failures += 1
            pause = min(_SHORTEST_PAUSE_S * 2 ** (self._failures - 1), _LONGEST_PAUSE_S)
            self._not_before = time.monotonic() + pause
            if self._failures == 1:
                _log.warning(
                    "the type checker cannot be started, programs run unchecked: %s", str(error) or type(error).__name__
                )
        finally:
            if compiler is not None and self._compiler is not compiler:
                await compiler.close()

    def _drop(self) -> None:
        """Kill the compiler, and let it be cleared away in the background."""
        compiler, self._compiler = self._compiler, None
        if compiler is not None:
            compiler.kill()
            task = asyncio.get_running_loop().create_task(compiler.close(), name="type checker ends")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


async def _warm(compiler: Compiler) -> None:
    """Have the libraries loaded: the first check of all takes a hundred times as long as the next."""
    await compiler.initialize()
    for name, text in ((PRELUDE, PRELUDE_TEXT), (CATALOGUE, ""), (ERASED, _EMPTY), (TYPED, _EMPTY)):
        compiler.put(name, text)
    await compiler.complaints(ERASED)


class _Check:
    """One program in the compiler: first without its types, for the mistakes about tools, then with them, for notes.

    The program's own types are what it claims, not what is so. Without them the compiler knows only what literals,
    the language and the tools' declarations say, and what it then finds wrong about a tool is wrong.
    """

    def __init__(self, compiler: Compiler, program: Program, scene: Scene) -> None:
        self._compiler = compiler
        self._program = program
        self._scene = scene
        self._mistakes: list[Mistake] | None = None
        waiting = scene.declared.waiting
        self._notes = tuple(
            f"source {name!r} had not listed its tools yet, so calls of it are unchecked" for name in waiting
        )

    async def outcome(self) -> TypeCheck:
        """Raises CompilerLost."""
        typed = self._program.typed
        self._compiler.put(CATALOGUE, self._scene.declared.text)
        self._compiler.put(ERASED, self._program.javascript)
        self._compiler.put(TYPED, _EMPTY if typed is None else typed.text)
        complaints = await self._compiler.complaints(ERASED)
        if complaints and len(self._program.javascript) > _INLINE_BYTES:
            await asyncio.to_thread(self._scene.prepare)
        self._mistakes = mistakes_in(self._scene, complaints)
        if self._mistakes:
            return TypeCheck(checked=True, error=blocked(self._program, self._mistakes), notes=self._notes)
        locate = self._program.locate
        if typed is not None:
            locate, complaints = typed.locate, await self._compiler.complaints(TYPED)
        return TypeCheck(checked=True, notes=(*self._notes, *notes_about(locate, complaints)))

    @property
    def is_past_tools(self) -> bool:
        """Whether the use of tools was checked, and only notes are missing."""
        return self._mistakes is not None


def _cut_short(check: _Check | None, why: str) -> TypeCheck:
    if check is None or not check.is_past_tools:
        return _unchecked(why)
    return TypeCheck(
        checked=True, notes=(f"the program's own types are unchecked ({why}); its use of tools was checked",)
    )


def _unchecked(why: str) -> TypeCheck:
    return TypeCheck(checked=False, notes=(f"the program is unchecked: {why}",))
