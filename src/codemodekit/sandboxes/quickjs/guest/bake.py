"""Turns the compiled engine and the prelude into one module whose data section holds the initialised heap.

Usage: bake.py RAW.wasm PRELUDE.js TARGET.wasm. Deterministic: the guest sees a clock that stands at 0, and whatever
the engine seeds itself with is seeded again by every run. Needs only wasmtime.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wasmtime

PAGE = 4096
MEMORY, DATA_COUNT, DATA = 5, 12, 11


def unsigned(value: int) -> bytes:
    """LEB128 as the WebAssembly binary format writes unsigned numbers."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def signed(value: int) -> bytes:
    """LEB128 of a signed number."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        if (value == 0 and not byte & 0x40) or (value == -1 and byte & 0x40):
            out.append(byte)
            return bytes(out)
        out.append(byte | 0x80)


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
        if not byte & 0x80:
            return value, at


def segments(image: bytes) -> Iterator[tuple[int, bytes]]:
    """Runs of pages of the image that are not all zero."""
    blank = bytes(PAGE)
    start: int | None = None
    for at in range(0, len(image) + PAGE, PAGE):
        used = at < len(image) and image[at : at + PAGE] != blank
        if used and start is None:
            start = at
        elif not used and start is not None:
            yield start, image[start:at]
            start = None


def with_heap(module: bytes, image: bytes) -> bytes:
    """The module again, its memory holding `image` from the start; custom sections are left out."""
    parts = [b"\x00\x41" + signed(at) + b"\x0b" + unsigned(len(data)) + data for at, data in segments(image)]
    replaced = {DATA: unsigned(len(parts)) + b"".join(parts), DATA_COUNT: unsigned(len(parts))}
    out, at = bytearray(module[:8]), 8
    while at < len(module):
        section = module[at]
        size, at = read_unsigned(module, at + 1)
        body, at = module[at : at + size], at + size
        if section == 0:
            continue
        if section == MEMORY:
            body = memory_of(body, len(image) // 65536)
        body = replaced.get(section, body)
        out += bytes([section]) + unsigned(len(body)) + body
    return bytes(out)


def memory_of(body: bytes, pages: int) -> bytes:
    count, at = read_unsigned(body, 0)
    flags = body[at]
    least, rest = read_unsigned(body, at + 1)
    return unsigned(count) + bytes([flags]) + unsigned(max(least, pages)) + body[rest:]


def linker(engine: wasmtime.Engine) -> wasmtime.Linker:
    """The imports of the guest, none of which does anything here."""
    made = wasmtime.Linker(engine)
    i32, i64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()

    def define(module: str, name: str, given: list[wasmtime.ValType], answer: int | None) -> None:
        kind = wasmtime.FuncType(given, [] if answer is None else [i32])
        made.define_func(module, name, kind, lambda *_: answer)

    wasi = "wasi_snapshot_preview1"
    define(wasi, "clock_time_get", [i32, i64, i32], 0)
    define(wasi, "fd_close", [i32], 52)
    define(wasi, "fd_fdstat_get", [i32, i32], 8)
    define(wasi, "fd_seek", [i32, i64, i32, i32], 52)
    define(wasi, "fd_write", [i32] * 4, 8)
    define("host", "names", [i32, i32], -1)
    define("host", "names_read", [i32], None)
    return made


def bake(raw: bytes, prelude: bytes) -> bytes:
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    exports: Any = linker(engine).instantiate(store, wasmtime.Module(engine, raw)).exports(store)
    memory = exports["memory"]
    exports["_initialize"](store)
    at = exports["mailbox"](store, len(prelude) + 1)
    memory.write(store, prelude + b"\0", at)
    if exports["init"](store, len(prelude)):
        at = exports["problem"](store)
        text = bytes(memory.read(store, at, at + 500)).split(b"\0")[0]
        raise SystemExit(f"prelude.js: {text.decode(errors='replace')}")
    exports["mailbox_done"](store)
    return with_heap(raw, bytes(memory.read(store, 0, memory.data_len(store))))


def main() -> None:
    raw, prelude, target = (Path(name) for name in sys.argv[1:])
    target.write_bytes(bake(raw.read_bytes(), prelude.read_bytes().replace(b"\r\n", b"\n")))


if __name__ == "__main__":
    main()
