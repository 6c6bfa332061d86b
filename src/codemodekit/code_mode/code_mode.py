"""CodeMode: one small surface in front of any number of sources.

Joins a compiler, a sandbox, a policy and sources into something that runs programs. Transports, servers and skills are
above and not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from codemodekit._json import MAX_DEPTH, JsonObject, JsonValue, encode, is_deeper, rounded_integer
from codemodekit.bridge.bridge import ToolBridge
from codemodekit.bridge.decisions import Approver
from codemodekit.catalog.health import CatalogNote, SourceHealth
from codemodekit.catalog.manager import CatalogManager, Reconnect
from codemodekit.catalog.revision import CatalogRevision
from codemodekit.catalog.search.tool_search import ToolSearch
from codemodekit.catalog.snapshot import Catalog
from codemodekit.code_mode.audit import AuditLog
from codemodekit.code_mode.events import Listener, Observer
from codemodekit.code_mode.host_side import HostSide, ObservationHealth
from codemodekit.code_mode.listeners import HostCode, Outbox
from codemodekit.code_mode.pump import Inbox
from codemodekit.code_mode.result import RunResult
from codemodekit.code_mode.run import HOST_CLOSING, Run
from codemodekit.code_mode.watching import Watch
from codemodekit.compilers.checker import TypeCheck, TypeChecker
from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import CodeCompiler, CodeSandbox, Program, ToolPolicy, ToolProvider
from codemodekit.declarations.typescript import declare_catalog
from codemodekit.diagnostics import Diagnostic, DiagnosticCode
from codemodekit.errors import ClosedError, ConfigurationError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls, deny_all_tool_calls, policy_rules, read_only_tool_calls
from codemodekit.sandboxes.quickjs import QuickJsSandbox

__all__ = ["CodeMode"]

_log = logging.getLogger("codemodekit")

_COMPILE_INLINE_BYTES: Final = 2 * 1024
"""What takes a twentieth of a second to read in the worst of texts. Longer programs are compiled in a thread: the event
loop has others to serve."""


_LISTING_S: Final = 3.0
"""How long a program that is to be type-checked waits for sources it mentions. A call waits longer."""


_POLICY_MAKERS: Final[tuple[object, ...]] = (
    allow_all_tool_calls,
    deny_all_tool_calls,
    policy_rules,
    read_only_tool_calls,
)


class CodeMode:
    """Runs programs against a catalogue of sources. Use as an async context manager.

    Args:
        providers: the sources, each under a unique name.
        tool_policy: decides each call; there is no default.
        compiler: TypeScript, unless another is given.
        type_checker: looks at each program before it runs; none unless given. It is closed with this object.
        sandbox: QuickJS in WebAssembly, unless another is given. It is closed with this object.
        limits: of every run.
        reconnect: how lost sources are sought again.
        observer: hears payload-free events of every run, beside the runs.
        approver: answers when the policy asks.
        on_trusted_result: host code that sees whole tool results, sideband included, beside the runs.
        on_diagnostic: host code that gets the fuller record behind each `correlationId`, beside the runs.
        audit: the log of decisions, calls and runs. It is closed with this object.

    Of these listeners a coroutine function is awaited on the event loop, any other function is called in a thread.

    Raises:
        ConfigurationError: no policy, or a duplicate or empty source name.
    """

    def __init__(
        self,
        *,
        providers: Sequence[ToolProvider],
        tool_policy: ToolPolicy,
        compiler: CodeCompiler | None = None,
        type_checker: TypeChecker | None = None,
        sandbox: CodeSandbox | None = None,
        limits: ExecutionLimits | None = None,
        reconnect: Reconnect | None = None,
        observer: Observer | None = None,
        approver: Approver | None = None,
        on_trusted_result: HostCode | None = None,
        on_diagnostic: HostCode | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        if tool_policy in _POLICY_MAKERS:
            raise ConfigurationError(f"call it: tool_policy={getattr(tool_policy, '__name__', 'policy')}(...)")
        if not callable(tool_policy):
            raise ConfigurationError(
                "a tool policy is required: allow_all_tool_calls(), read_only_tool_calls(), policy_rules(...) or yours"
            )
        if limits is not None and not isinstance(limits, ExecutionLimits):
            raise ConfigurationError(f"limits must be ExecutionLimits, not {limits!r}")
        self._compiler: CodeCompiler = compiler if compiler is not None else TypeScriptCompiler()
        self._type_checker = type_checker
        self._sandbox: CodeSandbox = sandbox if sandbox is not None else QuickJsSandbox()
        self._limits = limits or ExecutionLimits()
        self._host = HostSide(
            observer=observer, on_trusted_result=on_trusted_result, on_diagnostic=on_diagnostic, audit=audit
        )
        self._catalog = CatalogManager(providers, reconnect=reconnect or Reconnect())
        self._search = ToolSearch(self._catalog)
        self._bridge = ToolBridge(
            catalog=self._catalog,
            policy=tool_policy,
            approver=approver,
            on_trusted_result=self._host.show_result if self._host.wants_results else None,
            on_failure=self._host.record,
        )
        self._running: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._started = False

    @property
    def limits(self) -> ExecutionLimits:
        """The limits of every run."""
        return self._limits

    async def start(self) -> None:
        """Begin to connect the sources, in the background. Twice is fine.

        Raises:
            ConfigurationError: the audit log cannot be written.
        """
        if self._closing:
            raise ClosedError("this CodeMode has been closed")
        if not self._started:
            self._host.open()
            self._started = True
            if self._type_checker is not None:
                await self._type_checker.start()
            await self._catalog.start()

    async def aclose(self) -> None:
        """Cancel what runs, leave the sources, stop the sandbox. Twice is fine."""
        self._closing = True
        running = [task for task in self._running if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=5)
        if self._type_checker is not None:
            await self._type_checker.aclose()
        try:
            await self._catalog.aclose()
            await self._sandbox.aclose()
        finally:
            await self._host.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # --- programs -----------------------------------------------------------------------------------------------

    async def run(
        self,
        code: str,
        *,
        context: JsonValue = None,
        on_progress: Listener | None = None,
        principal: Any = None,
    ) -> RunResult:
        """Run a program to its end.

        Args:
            code: the body of an async TypeScript function.
            context: JSON value of the global `context`.
            on_progress: hears the run's events.
            principal: who runs it; the policy sees it, the program does not.

        Never raises for anything the program, a tool or a source does; cancelling the awaiting task cancels the run.

        Raises:
            ClosedError: not started, or closed.
            ConfigurationError: the context is not a JSON value, or `on_progress` is no function.
        """
        if not self._started or self._closing:
            raise ClosedError(
                "this CodeMode has been closed" if self._closing else "this CodeMode has not been started"
            )
        _check_context(context)
        execution_id = "run_" + secrets.token_hex(8)
        progress = self._host.progress(on_progress)
        watch = self._host.watch(execution_id, code, principal, self._limits, progress)
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            result = await self._watched(watch, self._cancellable(execution_id, code, context, principal, watch))
            await self._heard(progress)
        except asyncio.CancelledError:
            with contextlib.suppress(asyncio.CancelledError):
                await self._host.heard(progress)
            raise
        finally:
            self._running.discard(task)
        return result

    async def _watched(self, watch: Watch | None, running: Coroutine[Any, Any, RunResult]) -> RunResult:
        """The result of the run, whose beginning and end the watchers hear whatever comes."""
        if watch is None:
            return self._correlated(await running)
        watch.began()
        try:
            result = self._correlated(await running)
        except asyncio.CancelledError:
            watch.end("cancelled", str(DiagnosticCode.EXECUTION_CANCELLED), None)
            raise
        except BaseException:
            watch.end("failed", str(DiagnosticCode.INTERNAL_ERROR), None)
            raise
        watch.end("ok" if result.ok else "failed", str(result.error.code) if result.error else None, result.rerun)
        return result

    async def _heard(self, progress: Outbox | None) -> None:
        try:
            await self._host.heard(progress)
        except asyncio.CancelledError:
            if not self._takes_back_cancelling(asyncio.current_task()):
                raise

    async def _cancellable(
        self, execution_id: str, code: str, context: JsonValue, principal: Any, watch: Watch | None
    ) -> RunResult:
        try:
            return await self._run(execution_id, code, context, principal, watch)
        except asyncio.CancelledError:
            if not self._takes_back_cancelling(asyncio.current_task()):
                raise
            return _failure(execution_id, HOST_CLOSING)

    async def _run(
        self, execution_id: str, code: str, context: JsonValue, principal: Any, watch: Watch | None
    ) -> RunResult:
        program = await self.compile(code)
        if isinstance(program, Diagnostic):
            return _failure(execution_id, program)
        inbox = Inbox()
        if self._type_checker is not None:
            await self._listing_of(code)
        bridge = self._bridge.open(execution_id, self._limits, inbox.put, principal=principal, listener=watch)
        check = await self._type_check(program, bridge.pinned)
        if check.error is not None:
            bridge.close()
            return replace(_failure(execution_id, check.error), notes=check.notes)
        if watch is not None:
            watch.compiled()
        run = Run(
            execution_id=execution_id,
            program=program if check.notes == program.notes else replace(program, notes=check.notes),
            context=context,
            limits=self._limits,
            seed=int.from_bytes(os.urandom(8), "little"),
            sandbox=self._sandbox,
            bridge=bridge,
            inbox=inbox,
        )
        if watch is not None:
            watch.running()
        try:
            result = await run.execute()
        except asyncio.CancelledError:
            if run.cut_short is None or not self._takes_back_cancelling(asyncio.current_task()):
                raise
            result = run.cut_short
        if watch is not None:
            watch.result_bytes = run.result_bytes
        return self._correlated(result, run.fault)

    def _takes_back_cancelling(self, task: asyncio.Task[Any] | None) -> bool:
        """Whether the task was cancelled by `aclose` and by nobody else: its caller gets a result then."""
        if task is None or not self._closing or task.cancelling() > 1:
            return False
        task.uncancel()
        return True

    async def compile(self, code: str) -> Program | Diagnostic:
        """Check a program without running it: the compiled form, or why it cannot be compiled."""
        size = _size(code)
        if size > self._limits.source_bytes:
            message = (
                f"the program is {size} bytes and may be {self._limits.source_bytes}; pass data by `context` instead"
            )
            return Diagnostic(code=DiagnosticCode.SOURCE_LIMIT_EXCEEDED, message=message)
        if size <= _COMPILE_INLINE_BYTES:
            return self._compiler.compile(code)
        return await asyncio.to_thread(self._compiler.compile, code)

    async def check(self, code: str) -> TypeCheck:
        """Compile a program, and type-check it if there is a type checker; nothing of it runs.

        The outcome's `error` says why it would not run; its notes hold those of the compiler too.
        """
        program = await self.compile(code)
        if isinstance(program, Diagnostic):
            return TypeCheck(checked=False, error=program)
        await self._listing_of(code)
        return await self._type_check(program, self.snapshot())

    async def _listing_of(self, code: str) -> None:
        """Wait, within a bound, for mentioned sources that list their tools for the first time: a program that calls
        one would wait for it anyway, and can only be checked against what is known."""
        known = self.snapshot().sources
        first = [name for name in self._catalog.names if name not in known and name in code]
        if first:
            await asyncio.gather(*(self._catalog.ready(name, _LISTING_S) for name in first))

    async def _type_check(self, program: Program, catalog: Catalog) -> TypeCheck:
        """The checker's outcome, with the notes of the compiler; a checker that fails stands in nobody's way."""
        if self._type_checker is None:
            return TypeCheck(checked=False, notes=program.notes)
        try:
            async with asyncio.timeout(self._limits.wall_time_ms / 1000):
                check = await self._type_checker.check(program, catalog, self._catalog.names)
        except Exception:
            _log.exception("the type checker failed")
            return TypeCheck(checked=False, notes=(*program.notes, "the program is unchecked: the type checker failed"))
        return replace(check, notes=(*program.notes, *check.notes))

    # --- the catalogue ------------------------------------------------------------------------------------------

    async def search_tools(
        self,
        query: str,
        *,
        source: str | None = None,
        detail: str = "summary",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """Search the tools that can be called now; the answer of the `search_tools` tool."""
        return await self._search.search(query, source=source, detail=detail, limit=limit, cursor=cursor)

    async def declarations(self, source: str | None = None) -> str:
        """TypeScript declarations of the whole catalogue, or of one source."""
        catalog = self.snapshot()
        chosen = {
            name: [tool.definition for tool in found.tools.values()]
            for name, found in catalog.sources.items()
            if source in (None, name)
        }
        return await asyncio.to_thread(declare_catalog, chosen)

    def snapshot(self) -> Catalog:
        """The catalogue of this moment."""
        return self._catalog.snapshot()

    def catalog_revision(self) -> CatalogRevision:
        """The same as a plain value, to be saved or compared with `diff_catalogs`."""
        return CatalogRevision.of(self.snapshot(), self._catalog.names)

    async def settled(self, timeout_s: float) -> None:
        """Wait until every source has connected or failed once, at most so long."""
        await self._catalog.settled(timeout_s)

    def health(self) -> tuple[SourceHealth, ...]:
        """How each source is."""
        return self._catalog.health()

    def catalog_diagnostics(self) -> tuple[CatalogNote, ...]:
        """What is odd about the catalogue: tools put aside, listings with faults."""
        return self._catalog.diagnostics()

    def observation(self) -> ObservationHealth:
        """What went wrong with listeners and the audit log; runs were not touched by it."""
        return self._host.health()

    def catalog_envelope(self, source: str, tool: str) -> JsonObject:
        """What the source said about a tool besides its definition; for trusted host code.

        Raises:
            KeyError: no such tool now.
        """
        return self.snapshot().sources[source].tools[tool].definition.sideband

    # --- records ------------------------------------------------------------------------------------------------

    def _correlated(self, result: RunResult, cause: BaseException | None = None) -> RunResult:
        if result.error is None or result.error.correlation_id:
            return result
        return replace(result, error=self._host.record(result.execution_id, result.error, cause))


def _size(code: str) -> int:
    return len(code.encode("utf-8", "surrogatepass"))


def _check_context(context: JsonValue) -> None:
    if context is None:
        return
    try:
        encoded = encode(context)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"the context of a run must be a JSON value: {error}") from error
    if is_deeper(context, MAX_DEPTH):
        raise ConfigurationError(f"the context of a run is nested deeper than {MAX_DEPTH} levels")
    if (rounded := rounded_integer(context, encoded)) is not None:
        raise ConfigurationError(
            f"the integer at {rounded[0]!r} of the context is larger than JavaScript's numbers hold exactly; "
            "give it as a text"
        )


def _failure(execution_id: str, diagnostic: Diagnostic) -> RunResult:
    return RunResult(ok=False, execution_id=execution_id, error=diagnostic)
