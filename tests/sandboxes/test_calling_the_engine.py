"""The short way of calling the engine gives what its own binding gives."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

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


@pytest.mark.proves("sandbox.stepwise")
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


@pytest.mark.proves("sandbox.stepwise")
def test_both_ways_of_calling_give_the_same(linked: Linked) -> None:
    for size in (0, 1, 16_384):
        store = wasmtime.Store(linked.engine)
        store.set_epoch_deadline(1)
        mailbox = linked.ready.instantiate(store).exports(store)["mailbox"]
        assert isinstance(mailbox, wasmtime.Func)
        instance = Instance(linked, LIMITS.memory_bytes)
        instance.rearm()
        try:
            instance._begin(instance._mailbox, size)
            assert instance.advance()
            assert instance._results[0].of.i32 & 0xFFFFFFFF == mailbox(store, size) & 0xFFFFFFFF
        finally:
            instance.close()
            store.close()


@pytest.mark.proves("sandbox.stepwise")
def test_a_step_leaves_the_text_of_the_program(linked: Linked) -> None:
    instance = Instance(linked, LIMITS.memory_bytes)
    instance.rearm()
    instance.start(program("return [1, 'é', null]"), Launch(limits=LIMITS))
    assert instance.advance()
    assert instance.text() == 'R\n[0]\n[1,"é",null]'
    instance.close()
    instance.close()


@pytest.mark.proves("sandbox.off-loop", "sandbox.stepwise")
def test_a_step_goes_on_from_where_it_was_on_any_thread(linked: Linked) -> None:
    instance = Instance(linked, LIMITS.memory_bytes)
    body = "let sum = 0; for (let i = 0; i < 3e6; i++) sum += i % 7; return [sum, Object.keys(tools)]"
    instance.names = lambda _source: ["app"]
    instance.start(program(body), Launch(limits=LIMITS))
    over = threading.Event()

    def bump() -> None:
        while not over.wait(0.001):
            linked.bump()

    slices = 1
    with ThreadPoolExecutor(1) as bumping, ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        bumping.submit(bump)
        pools = itertools.cycle((first, second))
        while not next(pools).submit(instance.advance).result():
            slices += 1
        over.set()
    assert slices > 3
    assert instance.text() == 'R\n[0]\n[8999994,["app"]]'
    instance.close()


@pytest.mark.proves("sandbox.fresh", "limit.logs")
def test_a_step_given_up_in_the_middle_leaves_its_logs_and_the_engine_unharmed(linked: Linked) -> None:
    for _ in range(3):
        instance = Instance(linked, LIMITS.memory_bytes)
        instance.start(program("console.log('before'); for (;;) {}"), Launch(limits=LIMITS))
        instance.rearm()
        threading.Timer(0.01, linked.bump).start()
        assert not instance.advance()
        instance.stop()
        assert [entry.message for entry in instance.logs()] == ["before"]
        instance.close()
    instance = Instance(linked, LIMITS.memory_bytes)
    instance.start(program("return 1"), Launch(limits=LIMITS))
    instance.rearm()
    assert instance.advance()
    instance.close()
