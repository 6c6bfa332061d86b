"""The short way of calling the engine gives what its own binding gives."""

from __future__ import annotations

import pytest
import wasmtime

from codemodekit.contracts import Launch, Program
from codemodekit.limits import ExecutionLimits
from codemodekit.sandboxes.quickjs import module_cache
from codemodekit.sandboxes.quickjs.instance import Instance, Linked

LIMITS = ExecutionLimits()


@pytest.fixture(scope="module")
def linked() -> Linked:
    return Linked(module_cache.load(module_cache.guest_bytes()))


def program(body: str) -> Program:
    javascript = f"(async function () {{\n{body}\n}})"
    return Program(source=body, javascript=javascript, locate=lambda _line, _column: None)


def test_exports_have_the_shapes_they_are_called_with(linked: Linked) -> None:
    i32, i64 = str(wasmtime.ValType.i32()), str(wasmtime.ValType.i64())
    shapes = {}
    for export in linked.ready.module.exports:
        if isinstance(export.type, wasmtime.FuncType):
            shapes[export.name] = (
                [str(each) for each in export.type.params],
                [str(each) for each in export.type.results],
            )
    assert shapes["start"] == ([], [i64])
    assert shapes["step"] == ([i32], [i64])
    assert shapes["mailbox"] == ([i32], [i32])


def test_both_ways_of_calling_give_the_same(linked: Linked) -> None:
    for size in (0, 1, 16_384):
        store = wasmtime.Store(linked.engine)
        store.set_epoch_deadline(1)
        mailbox = linked.ready.instantiate(store).exports(store)["mailbox"]
        assert isinstance(mailbox, wasmtime.Func)
        instance = Instance(linked, LIMITS.memory_bytes)
        instance.arm()
        try:
            assert instance._run(instance._mailbox, size) & 0xFFFFFFFF == mailbox(store, size) & 0xFFFFFFFF
        finally:
            instance.close()
            store.close()


def test_a_step_leaves_the_text_of_the_program(linked: Linked) -> None:
    instance = Instance(linked, LIMITS.memory_bytes)
    instance.arm()
    assert instance.start(program("return [1, 'é', null]"), Launch(limits=LIMITS)) == 'R\n[0]\n[1,"é",null]'
    instance.close()
    instance.close()
