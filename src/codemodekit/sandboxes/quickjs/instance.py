"""One guest in its WebAssembly instance: texts in, texts out, on the thread of one worker.

Speaks to the engine's C interface through the bindings that `wasmtime` itself is made of, for the one reason that its
convenient `Func.__call__` works out a function's type anew at every call, which costs more than a whole step of a
program. The call used here checks no types: the exports have one known shape, and a test compares both ways of calling.
The package is pinned exactly. Knows nothing of threads or limits in time; worker.py stands above.
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
from codemodekit.sandboxes.quickjs.texts import read_logs

__all__ = ["Instance", "Interrupted", "Linked", "link"]

_STACK: Final = 512 * 1024
"""Stack of JavaScript frames; the engine answers its end with a RangeError the program can catch."""

_SLACK: Final = 12 << 20
"""Linear memory beyond the heap limit: answers on their way in, and the allocator's own waste."""

_START: Final = struct.Struct("<10I16s")
_ANSWER: Final = struct.Struct("<III")
_STATE: Final = struct.Struct("<7I")
_SMALL: Final = 16384
"""Size of the mailbox that is always there (small_mail in shim.c)."""

# Calls that return at once keep the interpreter's lock: giving it up and waiting for it again would cost far more.
_quick = ctypes.PyDLL(str(ffi.filename))


def _bind(name: str, result: Any) -> Any:
    known = getattr(ffi, f"_{name}", None) or getattr(ffi.dll, name)
    function = getattr(_quick, name)
    function.argtypes, function.restype = known.argtypes, result
    return function


_memory_data = _bind("wasmtime_memory_data", ctypes.c_void_p)
_memory_size = _bind("wasmtime_memory_data_size", ctypes.c_size_t)
_set_deadline = _bind("wasmtime_context_set_epoch_deadline", None)
_export_get = _bind("wasmtime_instance_export_get", ctypes.c_bool)
_call = ffi.dll.wasmtime_func_call_unchecked

_linking = threading.Lock()  # the binding's table of host functions is shared and has no lock of its own


class Interrupted(Exception):
    """The guest was ended by the engine; `kind` says at which limit."""

    def __init__(self, error: GuestError) -> None:
        super().__init__(error.message)
        self.error = error


class Linked:
    """The module with its imports, ready to be instantiated; belongs to one worker, runs one guest at a time."""

    __slots__ = ("_names", "_text", "engine", "least", "mail", "ready", "state")

    def __init__(self, guest: GuestModule) -> None:
        self.engine = guest.engine
        self._names: Callable[[str | None], Sequence[str]] | None = None
        self._text = b""
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

    def serve(self, names: Callable[[str | None], Sequence[str]]) -> None:
        """Answer the next guest's questions for names from here."""
        self._names = names

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
            names = self._names(source) if self._names is not None else ()
            self._text = json.dumps(list(names), ensure_ascii=True).encode("ascii")
        except Exception:
            return -1
        return len(self._text)

    def _copy_names(self, caller: wasmtime.Caller, at: int) -> None:
        memory, start = _memory(caller), at & 0xFFFFFFFF
        if start + len(self._text) <= memory.data_len(caller):
            memory.write(caller, self._text, start)


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


def link(guest: GuestModule) -> Linked:
    """The module of one worker with its imports."""
    return Linked(guest)


class Instance:
    """A live guest. Every method but `logs` runs on the worker's thread; after an end only `logs` and `close` do."""

    __slots__ = (
        "_base",
        "_context",
        "_linked",
        "_mailbox",
        "_memory",
        "_slot",
        "_start",
        "_step",
        "_store",
        "_trap",
    )

    def __init__(self, linked: Linked, memory_bytes: int) -> None:
        self._linked = linked
        self._store: wasmtime.Store | None = wasmtime.Store(linked.engine)
        self._store.set_limits(
            linked.least + memory_bytes + _SLACK, table_elements=20_000, instances=1, tables=2, memories=1
        )
        self._context = self._store._context()
        raw = linked.ready.instantiate(self._store)._instance
        self._memory = self._export(raw, b"memory").memory
        self._base = _memory_data(self._context, ctypes.byref(self._memory))
        self._mailbox = self._export(raw, b"mailbox").func
        self._start = self._export(raw, b"start").func
        self._step = self._export(raw, b"step").func
        # One slot for the argument of a call and then for its result: every export takes at most one number.
        self._slot = (ffi.wasmtime_val_raw_t * 1)()
        self._trap = ctypes.POINTER(ffi.wasm_trap_t)()

    def _export(self, raw: Any, name: bytes) -> Any:
        item = ffi.wasmtime_extern_t()
        buffer = ctypes.create_string_buffer(name)
        if not _export_get(self._context, ctypes.byref(raw), buffer, len(name), ctypes.byref(item)):
            raise KeyError(name.decode())
        return item.of

    def arm(self) -> None:
        """From now on the next bump of the engine's epoch ends this guest."""
        _set_deadline(self._context, 1)

    def start(self, program: Program, launch: Launch) -> str:
        """Begin the program; the text of its first step. Raises Interrupted."""
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
            seed,
        )  # fmt: skip
        self._put(head + code + b"\0" + context)
        return self._enter(self._start, limits.total_bridge_bytes)

    def step(self, answers: Sequence[Answer], most: int) -> str:
        """Settle the answers and go on; the text of the step, at most about `most` bytes. Raises Interrupted."""
        if len(answers) == 1:
            answer = answers[0]
            message = _ANSWER.pack(answer.id, answer.ok, len(answer.json)) + answer.json
        else:
            message = b"".join(_ANSWER.pack(each.id, each.ok, len(each.json)) + each.json for each in answers)
        self._put(message)
        return self._enter(self._step, most, len(message))

    def _put(self, message: bytes) -> None:
        if len(message) <= _SMALL:
            at = self._linked.mail
        else:
            at = self._run(self._mailbox, len(message)) & 0xFFFFFFFF
            if at == 0:
                raise Interrupted(GuestError(kind="memory"))
        ctypes.memmove(self._base + at, message, len(message))

    def _enter(self, function: Any, most: int, argument: int = 0) -> str:
        packed = self._run(function, argument)
        at, size = packed >> 32, packed & 0xFFFFFFFF
        if size > 2 * most + 65_536:
            raise Interrupted(GuestError(kind="bridge_limit"))
        return self._read(at, size).decode("utf-8", "replace")

    def _run(self, function: Any, argument: int = 0) -> int:
        self._slot[0].i64 = argument
        error = _call(self._context, ctypes.byref(function), self._slot, 1, ctypes.byref(self._trap))
        if error or self._trap:  # type: ignore[truthy-bool] # a null pointer of ctypes is false
            raise Interrupted(self._why(error))
        return int(self._slot[0].i64) & 0xFFFFFFFFFFFFFFFF

    def _why(self, error: Any) -> GuestError:
        if error:
            return GuestError(kind="internal", message=str(wasmtime.WasmtimeError._from_ptr(error)).split("\n")[0])
        trap = wasmtime.Trap._from_ptr(self._trap)
        self._trap = ctypes.POINTER(ffi.wasm_trap_t)()
        if self._state()[0]:
            return GuestError(kind="memory")
        if trap.trap_code is wasmtime.TrapCode.INTERRUPT:
            return GuestError(kind="compute")
        if trap.trap_code is wasmtime.TrapCode.STACK_OVERFLOW:
            return GuestError(kind="stack")
        return GuestError(kind="internal", message=trap.message.split("\n")[0])

    def _read(self, at: int, size: int) -> bytes:
        if at + size > _memory_size(self._context, ctypes.byref(self._memory)):
            return b""
        return ctypes.string_at(self._base + at, size)

    def _state(self) -> tuple[int, ...]:
        return _STATE.unpack(self._read(self._linked.state, _STATE.size))

    def logs(self) -> tuple[LogEntry, ...]:
        """What the program wrote to its console; readable after a trap too, until closed."""
        _, head, head_used, tail, tail_used, dropped, _ = self._state()
        if not head and not dropped:
            return ()
        return read_logs(self._read(head, head_used), self._read(tail, tail_used), dropped)

    def close(self) -> None:
        """Free the instance."""
        if self._store is not None:
            self._store.close()
            self._store = None
