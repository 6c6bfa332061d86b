"""A WebAssembly engine with its settings.

On Linux an engine keeps the memories of guests that have ended: the next guest finds its pages in place, restored to
what was baked, where mapping and unmapping them would cost more than a short program. The settings for that are not in
the package's own face, only in the bindings it is made of; it is pinned exactly.
"""

from __future__ import annotations

import mmap
import sys
from typing import Any, Final

import wasmtime
from wasmtime import _ffi as ffi

__all__ = ["GUESTS_PER_ENGINE", "SETTINGS", "new_engine"]

MAX_WASM_STACK: Final = 2 << 20
"""Native stack of a guest."""

_HOST_STACK: Final = 1 << 20
"""What is left on that stack for the few host functions a guest may call."""

GUESTS_PER_ENGINE: Final = 64
"""Guests that may live on one engine at one time."""

_ADDRESSES_PER_GUEST: Final = (4 << 30) + (64 << 20)
"""Address space of one memory with its guard pages; with less the engine would have to check every access."""

_KEEPS_MEMORIES: Final = sys.platform == "linux"
_KEPT_BYTES: Final = 2 << 20
"""What stays resident of an ended guest's memory, of each that ever lived at one time with others: no more than what is
baked and the little a usual program adds. With less a short program costs twice the time."""
_KEPT_MEMORIES: Final = 8
"""Ended guests whose memory stays mapped to what was baked, an engine."""

SETTINGS: Final = f"epoch cow nothreads stack={MAX_WASM_STACK} pool={_KEEPS_MEMORIES}"
"""Names what compiled code depends on."""


def new_engine() -> wasmtime.Engine:
    """An engine whose epoch ends the slices of all guests on it, and the guests of nobody else."""
    config = _config()
    if _KEEPS_MEMORIES and _has_address_space():
        config = _keeping_memories(config)
    return wasmtime.Engine(config)


def _has_address_space() -> bool:
    """Whether the addresses of all memories can be had, as they cannot under `ulimit -v`.

    Asked beforehand, because the engine aborts the process when they cannot. Without them guests cost more to start,
    and nothing else.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        mmap.mmap(-1, (GUESTS_PER_ENGINE + 8) * _ADDRESSES_PER_GUEST, flags=flags, prot=0).close()
    except (OSError, ValueError):
        return False
    return True


def _config() -> wasmtime.Config:
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.wasm_threads = False
    config.memory_init_cow = True
    # Before the guest's own, because the engine wants this one to be the larger at any time.
    ffi.dll.wasmtime_config_async_stack_size_set(config.ptr(), MAX_WASM_STACK + _HOST_STACK)
    config.max_wasm_stack = MAX_WASM_STACK
    config.memory_may_move = False  # so that instance.py need not ask for the address again at every step
    return config


def _keeping_memories(config: wasmtime.Config) -> wasmtime.Config:
    pool = ffi.wasmtime_pooling_allocation_config_new()
    for name, value in (
        ("total_core_instances", GUESTS_PER_ENGINE),
        ("total_memories", GUESTS_PER_ENGINE),
        ("total_tables", GUESTS_PER_ENGINE),
        ("total_stacks", GUESTS_PER_ENGINE),
        ("total_gc_heaps", 0),
        ("max_memory_size", 1 << 32),
        ("linear_memory_keep_resident", _KEPT_BYTES),
        ("table_keep_resident", 1 << 16),
        ("max_unused_warm_slots", _KEPT_MEMORIES),
    ):
        setter: Any = getattr(ffi, f"wasmtime_pooling_allocation_config_{name}_set")
        setter(pool, value)
    ffi.wasmtime_pooling_allocation_strategy_set(config.ptr(), pool)
    ffi.wasmtime_pooling_allocation_config_delete(pool)
    return config
