"""One guest in its WebAssembly instance: texts in, texts out, in slices of time.

A call of the engine runs on a stack of its own and comes back when it is done or when the engine's epoch was bumped;
it can then be gone on with, on any thread, or be dropped. That is in the engine's C interface and not in the face of
the `wasmtime` package, so this file calls the C interface through the bindings the package itself is made of; it is
pinned exactly, and a test compares both ways of calling. Knows nothing of threads or limits in time; sandbox.py stands
above.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import wasmtime
from wasmtime import _ffi as ffi

from codemodekit.contracts import Answer, GuestError, Launch, LogEntry, Program
from codemodekit.sandboxes.quickjs.module_cache import GuestModule
from codemodekit.sandboxes.quickjs.texts import lines_before, read_logs

__all__ = ["Instance", "Interrupted", "Linked"]

_STACK: Final = 512 * 1024
"""Stack of JavaScript frames; the engine answers its end with a RangeError the program can catch."""

_SLACK: Final = 12 << 20
"""Linear memory beyond the heap limit: answers on their way in, and the allocator's own waste."""

_START: Final = struct.Struct("<10Ii4x16s")
_ANSWER: Final = struct.Struct("<III")
_STATE: Final = struct.Struct("<7I")
_SMALL: Final = 16384
"""Size of the mailbox that is always there (small_mail in shim.c)."""

# Calls that return at once keep the interpreter's lock: giving it up and waiting for it again would cost far more.
_quick = ctypes.PyDLL(str(ffi.filename))


def _bind(name: str, result: Any, arguments: list[Any] | None = None) -> Any:
    function = getattr(_quick, name)
    function.argtypes, function.restype = arguments or getattr(ffi.dll, name).argtypes, result
    return function


_memory_data = _bind("wasmtime_memory_data", ctypes.c_void_p)
_memory_size = _bind("wasmtime_memory_data_size", ctypes.c_size_t)
_set_deadline = _bind("wasmtime_context_set_epoch_deadline", None)
_export_get = _bind("wasmtime_instance_export_get", ctypes.c_bool)
_yield_at_epochs = _bind("wasmtime_context_epoch_deadline_async_yield_and_update", None)
_call = _bind("wasmtime_func_call_async", ctypes.c_void_p)
_drop = _bind("wasmtime_call_future_delete", None, [ctypes.c_void_p])
_poll = ffi.dll.wasmtime_call_future_poll
"""Runs the guest, and gives up the interpreter's lock meanwhile."""
_poll.argtypes, _poll.restype = [ctypes.c_void_p], ctypes.c_bool

_I32: Final = 0
"""The engine's number of that type (`WASMTIME_I32`)."""

_linking = threading.Lock()  # the binding's table of host functions is shared and has no lock of its own


class Interrupted(Exception):
    """The guest was ended by the engine; `kind` says at which limit."""

    def __init__(self, error: GuestError) -> None:
        super().__init__(error.message)
        self.error = error


class Linked:
    """The module with its imports, ready to be instantiated, on an engine that its guests share."""

    __slots__ = ("_asking", "bumps", "engine", "least", "live", "mail", "ready", "state")

    def __init__(self, guest: GuestModule) -> None:
        self.engine = guest.engine
        self.live = 0
        """Guests that belong here; counted by the event loop's thread."""
        self.bumps = 0
        """How often the epoch was bumped, or nearly: it changes with every bump."""
        self._asking = threading.local()
        with _linking:
            linker = self._imports()
            self.ready = linker.instantiate_pre(guest.module)
        (memory,) = (export.type for export in guest.module.exports if export.name == "memory")
        assert isinstance(memory, wasmtime.MemoryType)
        self.least = memory.limits.min * 65536
        store = wasmtime.Store(guest.engine)
        store.set_epoch_deadline(1)
        exports = self.ready.instantiate(store).exports(store)
        self.state = _address(store, exports["state_address"])
        self.mail = _address(store, exports["mailbox"], 0)
        store.close()

    def bump(self) -> None:
        """End the slice of whatever runs here. From any thread."""
        self.bumps += 1
        self.engine.increment_epoch()

    def serve(self, instance: Instance) -> None:
        """Questions for names that come on this thread are of this guest, until the next one is served."""
        self._asking.instance = instance

    def close(self) -> None:
        """Let go of the engine: the binding's table of host functions holds us until the imports are gone."""
        with _linking:
            self.ready.close()

    def _imports(self) -> wasmtime.Linker:
        # None of these may raise: the binding keeps a raised exception in one place for all threads.
        linker = wasmtime.Linker(self.engine)
        i32, i64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()

        def define(module: str, name: str, given: list[wasmtime.ValType], gives: bool, function: Any) -> None:
            kind = wasmtime.FuncType(given, [i32] if gives else [])
            linker.define_func(module, name, kind, function, access_caller=True)

        wasi = "wasi_snapshot_preview1"
        define(wasi, "clock_time_get", [i32, i64, i32], True, _clock)
        define(wasi, "fd_close", [i32], True, lambda *_: 52)
        define(wasi, "fd_fdstat_get", [i32, i32], True, lambda *_: 8)
        define(wasi, "fd_seek", [i32, i64, i32, i32], True, lambda *_: 52)
        define(wasi, "fd_write", [i32] * 4, True, lambda *_: 8)
        define("host", "names", [i32, i32], True, self._say_names)
        define("host", "names_read", [i32], False, self._copy_names)
        return linker

    def _say_names(self, caller: wasmtime.Caller, at: int, length: int) -> int:
        try:
            source = (
                None
                if length < 0
                else bytes(_memory(caller).read(caller, at & 0xFFFFFFFF, (at & 0xFFFFFFFF) + length)).decode()
            )
            asking: Instance = self._asking.instance
            text = json.dumps(list(asking.names(source)), ensure_ascii=True).encode("ascii")
        except Exception:
            return -1
        # With the guest, which may be on another thread when it comes for it.
        asking.answer = text
        return len(text)

    def _copy_names(self, caller: wasmtime.Caller, at: int) -> None:
        memory, start, text = _memory(caller), at & 0xFFFFFFFF, self._asking.instance.answer
        if start + len(text) <= memory.data_len(caller):
            memory.write(caller, text, start)


def _address(store: wasmtime.Store, function: Any, *arguments: int) -> int:
    return int(function(store, *arguments)) & 0xFFFFFFFF


def _memory(caller: wasmtime.Caller) -> wasmtime.Memory:
    memory = caller["memory"]
    assert isinstance(memory, wasmtime.Memory)
    return memory


def _clock(caller: wasmtime.Caller, _clock_id: int, _precision: int, at: int) -> int:
    memory, start = _memory(caller), at & 0xFFFFFFFF
    if start + 8 > memory.data_len(caller):
        return 28
    # Whole milliseconds: a finer clock helps no program and helps measuring the machine.
    memory.write(caller, (time.time_ns() // 1_000_000 * 1_000_000).to_bytes(8, "little"), start)
    return 0


class Instance:
    """A live guest. A step is `start` or `step`, then `advance` until it says the step is over, then `text`.

    Methods may be called on any thread, one at a time. After an end only `logs` and `close` may be.
    """

    __slots__ = (
        "_arguments",
        "_base",
        "_bumps",
        "_call_error",
        "_call_trap",
        "_context",
        "_error",
        "_future",
        "_linked",
        "_mailbox",
        "_memory",
        "_most",
        "_results",
        "_size",
        "_start",
        "_step",
        "_store",
        "_trap",
        "answer",
        "names",
    )

    def __init__(
        self, linked: Linked, memory_bytes: int, names: Callable[[str | None], Sequence[str]] = lambda _source: ()
    ) -> None:
        self.names = names
        """Answers the guest's questions for names."""
        self.answer = b""
        self._linked = linked
        self._store: wasmtime.Store | None = wasmtime.Store(linked.engine)
        self._store.set_limits(
            linked.least + memory_bytes + _SLACK, table_elements=20_000, instances=1, tables=2, memories=1
        )
        self._context = self._store._context()
        raw = linked.ready.instantiate(self._store)._instance
        _yield_at_epochs(self._context, 1)
        self._bumps = -1
        self._memory = self._export(raw, b"memory").memory
        self._base = _memory_data(self._context, ctypes.byref(self._memory))
        self._size = linked.least
        """Bytes of memory there are at least."""
        self._mailbox = self._export(raw, b"mailbox").func
        self._start = self._export(raw, b"start").func
        self._step = self._export(raw, b"step").func
        # The engine reads and writes these until a call is over: they live as long as the guest.
        # Null pointers of ctypes are false.
        argument: Any = ffi.wasmtime_val_t(kind=_I32)
        self._arguments: Any = (ffi.wasmtime_val_t * 1)(argument)
        self._results: Any = (ffi.wasmtime_val_t * 1)()
        self._trap: Any = ctypes.POINTER(ffi.wasm_trap_t)()
        self._error: Any = ctypes.POINTER(ffi.wasmtime_error_t)()
        self._call_trap, self._call_error = ctypes.byref(self._trap), ctypes.byref(self._error)
        self._future: int | None = None
        self._most = 0

    def _export(self, raw: Any, name: bytes) -> Any:
        item = ffi.wasmtime_extern_t()
        buffer = ctypes.create_string_buffer(name)
        if not _export_get(self._context, ctypes.byref(raw), buffer, len(name), ctypes.byref(item)):
            raise KeyError(name.decode())
        return item.of

    def start(self, program: Program, launch: Launch) -> None:
        """Begin the first step. Raises Interrupted."""
        limits = launch.limits
        code = program.javascript.encode("utf-8", "surrogatepass")
        context = json.dumps(launch.context, ensure_ascii=True).encode("ascii")
        entries = limits.log_entries // 2
        # Hashed, because the generator's first numbers are barely mixed: near seeds would give near numbers.
        seed = hashlib.blake2b((launch.seed & (2**64 - 1)).to_bytes(8, "little"), digest_size=16).digest()
        head = _START.pack(
            len(code), len(context), limits.memory_bytes, _STACK,
            limits.log_bytes // 2, limits.log_bytes - limits.log_bytes // 2, limits.log_entries - entries, entries,
            min(limits.final_result_bytes, 2**31), min(limits.total_bridge_bytes, 2**31),
            1 - lines_before(program), seed,
        )  # fmt: skip
        self._put(head + code + b"\0" + context)
        self._most = limits.total_bridge_bytes
        self._begin(self._start)

    def step(self, answers: Sequence[Answer]) -> None:
        """Begin a step that settles the answers and goes on. Raises Interrupted."""
        if len(answers) == 1:
            answer = answers[0]
            message = _ANSWER.pack(answer.id, answer.ok, len(answer.json)) + answer.json
        else:
            message = b"".join(_ANSWER.pack(each.id, each.ok, len(each.json)) + each.json for each in answers)
        self._put(message)
        self._begin(self._step, len(message))

    def advance(self) -> bool:
        """Run until the step is over, which is True, or somebody bumps the engine's epoch. Raises Interrupted."""
        self._linked.serve(self)
        if not _poll(self._future):
            return False
        self._end_call()
        if self._error or self._trap:
            raise Interrupted(self._why())
        return True

    def rearm(self) -> None:
        """From now on the next bump of the engine's epoch, and none before, ends the slice."""
        bumps = self._linked.bumps
        if bumps != self._bumps:
            self._bumps = bumps
            _set_deadline(self._context, 1)

    def text(self) -> str:
        """What the step that is over left behind. Raises Interrupted: far more than the guest would write."""
        packed = self._results[0].of.i64 & 0xFFFFFFFFFFFFFFFF
        at, size = packed >> 32, packed & 0xFFFFFFFF
        if size > 2 * self._most + 65_536:
            raise Interrupted(GuestError(kind="bridge_limit"))
        return self._read(at, size).decode("utf-8", "replace")

    def _put(self, message: bytes) -> None:
        if len(message) <= _SMALL:
            at = self._linked.mail
        else:
            self._begin(self._mailbox, len(message))
            while not self.advance():
                pass  # it only allocates
            at = self._results[0].of.i32 & 0xFFFFFFFF
            if at == 0:
                raise Interrupted(GuestError(kind="memory"))
        ctypes.memmove(self._base + at, message, len(message))

    def _begin(self, function: Any, argument: int | None = None) -> None:
        if argument is not None:
            self._arguments[0].of.i32 = argument
        self._future = _call(
            self._context, ctypes.byref(function), self._arguments, argument is not None,
            self._results, 1, self._call_trap, self._call_error,
        )  # fmt: skip

    def _end_call(self) -> None:
        if self._future is not None:
            _drop(self._future)
            self._future = None

    def _why(self) -> GuestError:
        if self._error:
            error = wasmtime.WasmtimeError._from_ptr(self._error)
            return GuestError(kind="internal", message=str(error).split("\n")[0])
        trap = wasmtime.Trap._from_ptr(self._trap)
        if self._state()[0]:
            return GuestError(kind="memory")
        if trap.trap_code is wasmtime.TrapCode.STACK_OVERFLOW:
            return GuestError(kind="stack")
        return GuestError(kind="internal", message=trap.message.split("\n")[0])

    def _read(self, at: int, size: int) -> bytes:
        if at + size > self._size and at + size > self.memory_bytes():
            return b""
        return ctypes.string_at(self._base + at, size)

    def memory_bytes(self) -> int:
        """Size of the guest's memory now."""
        self._size = _memory_size(self._context, ctypes.byref(self._memory))
        return self._size

    def _state(self) -> tuple[int, ...]:
        return _STATE.unpack(self._read(self._linked.state, _STATE.size))

    def logs(self) -> tuple[LogEntry, ...]:
        """What the program wrote to its console; readable after a trap too, until closed."""
        _, head, head_used, tail, tail_used, dropped, _ = self._state()
        if not head and not dropped:
            return ()
        return read_logs(self._read(head, head_used), self._read(tail, tail_used), dropped)

    def stop(self) -> None:
        """Give up a step that is not over, if there is one."""
        self._end_call()

    def close(self) -> None:
        """Free the instance."""
        self._end_call()
        if self._store is not None:
            self._store.close()
            self._store = None
