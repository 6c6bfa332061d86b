"""Guests that wait for tools: many on one worker, and no more than it has room for."""

from __future__ import annotations

import asyncio
import gc
import mmap
import sys
import threading
from pathlib import Path

import pytest
import wasmtime

from codemodekit.contracts import Answer, Calls, Guest, Launch, Program, Returned, Step, Threw
from codemodekit.limits import ExecutionLimits
from codemodekit.sandboxes.quickjs import QuickJsSandbox, engine, sandbox

pytestmark = pytest.mark.anyio

LAUNCH = Launch(limits=ExecutionLimits())


def program(body: str) -> Program:
    javascript = f"(async function () {{\n{body}\n}})"
    return Program(source=body, javascript=javascript, locate=lambda _line, _column: None)


LONG = "for (const end = Date.now() + 30; Date.now() < end; ) {}"
"""Longer than a step may take on the event loop's thread."""


async def waiting(box: QuickJsSandbox, number: int) -> Guest:
    guest = await box.launch(program(f"return [{number}, await tools.a.b({{}})]"), LAUNCH)
    assert isinstance(await guest.step([]), Calls)
    return guest


@pytest.mark.proves("sandbox.fresh")
async def test_many_more_guests_wait_than_there_are_threads_or_room_on_an_engine() -> None:
    box = QuickJsSandbox(workers=1)
    try:
        guests = [await waiting(box, number) for number in range(2 * sandbox.GUESTS_PER_ENGINE + 1)]
        for number, guest in enumerate(guests):
            step = await guest.step([Answer(1, True, b"true")])
            assert isinstance(step, Returned)
            assert step.json == f"[{number},true]"
            await guest.close()
    finally:
        await box.aclose()


@pytest.mark.proves("sandbox.off-loop")
async def test_a_launch_beyond_the_room_waits_until_a_guest_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "GUESTS_PER_ENGINE", 1)
    monkeypatch.setattr(sandbox, "_ENGINES", 2)
    box = QuickJsSandbox(workers=1)
    try:
        first, second = await waiting(box, 1), await waiting(box, 2)
        third = asyncio.create_task(waiting(box, 3))
        done, _ = await asyncio.wait([third], timeout=0.2)
        assert not done
        await first.close()
        guest = await asyncio.wait_for(third, 5)
        step = await guest.step([Answer(1, True, b"null")])
        assert isinstance(step, Returned)
        assert step.json == "[3,null]"
        await guest.close()
        await second.close()
    finally:
        await box.aclose()


@pytest.mark.proves("sandbox.fresh")
async def test_a_guest_that_was_given_up_leaves_its_room_clean_to_the_next() -> None:
    box = QuickJsSandbox(workers=1)
    try:
        for _ in range(600):
            guest = await box.launch(program("globalThis.left = 'behind'; await tools.a.b({})"), LAUNCH)
            assert isinstance(await guest.step([]), Calls)
            await guest.close()
        last = await box.launch(program("return typeof globalThis.left"), LAUNCH)
        assert await last.step([]) == Returned('"undefined"')
        await last.close()
    finally:
        await box.aclose()


@pytest.mark.proves("api.close")
@pytest.mark.skipif(sys.platform != "linux", reason="reads what the process holds from /proc")
async def test_a_closed_sandbox_gives_back_threads_files_and_addresses() -> None:
    def held() -> tuple[int, int, int]:
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
        gibibytes = int(fields["VmSize"].split()[0]) >> 20
        threads = sum(thread.name.startswith("codemodekit") for thread in threading.enumerate())
        return threads, len(list(Path("/proc/self/fd").iterdir())), gibibytes // 64

    async def used() -> None:
        box = QuickJsSandbox(workers=2)
        guests = [await waiting(box, number) for number in range(4)]
        await guests[0].close()
        await box.aclose()

    await used()
    gc.collect()
    before = held()
    for _ in range(3):
        await used()
    gc.collect()
    assert held() <= before


@pytest.mark.proves("sandbox.fresh")
def test_without_address_space_for_all_memories_an_engine_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_ADDRESSES_PER_GUEST", 1 << 50)
    module = wasmtime.Module(engine.new_engine(), b"\x00asm\x01\x00\x00\x00")
    assert list(module.exports) == []


@pytest.mark.proves("sandbox.fresh")
@pytest.mark.skipif(sys.platform != "linux", reason="counts the process's mappings in /proc")
def test_many_engines_take_few_of_the_mappings_a_process_may_have() -> None:
    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text(encoding="utf-8").splitlines())

    before = mappings()
    engines = [engine.new_engine() for _ in range(4)]
    assert mappings() - before < 250 * len(engines)


@pytest.mark.proves("limit.logs")
async def test_what_a_program_printed_is_there_when_it_is_given_up_while_it_waits_for_its_turn() -> None:
    box = QuickJsSandbox(workers=1)
    try:
        printer = await box.launch(program(f"{LONG} console.log('seen'); await tools.a.b({{}}); return 1"), LAUNCH)
        assert isinstance(await printer.step([]), Calls)
        looping = await box.launch(program("await 0; for (;;) {}"), LAUNCH)
        loop = asyncio.create_task(looping.step([]))
        turn = asyncio.create_task(printer.step([Answer(1, True, b"null")]))
        await asyncio.sleep(0)
        turn.cancel()
        await asyncio.wait([turn])
        assert turn.cancelled()
        await printer.close()
        assert [entry.message for entry in printer.logs] == ["seen"]
        assert not loop.done()
        loop.cancel()
        await asyncio.wait([loop])
        await looping.close()
    finally:
        await box.aclose()


@pytest.mark.proves("api.close")
async def test_a_launch_given_up_while_its_engine_is_made_leaves_no_thread_behind() -> None:
    def threads() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name.startswith("codemodekit-sandbox")}

    before = threads()
    box = QuickJsSandbox(workers=2)
    launches = [asyncio.create_task(box.launch(program("return 1"), LAUNCH)) for _ in range(4)]
    await asyncio.sleep(0)
    for launch in launches:
        launch.cancel()
    await asyncio.wait(launches)
    await box.aclose()
    assert threads() <= before


@pytest.mark.proves("limit.memory")
@pytest.mark.skipif(sys.platform != "linux", reason="reads what is resident from /proc")
async def test_a_burst_of_guests_leaves_little_of_their_memory_resident() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * mmap.PAGESIZE >> 20

    box = QuickJsSandbox(workers=1)
    body = "const bytes = new Uint8Array(6e6).fill(1); await tools.a.b({}); return bytes.length"
    try:
        first = await waiting(box, 0)
        before = resident()
        guests = [await box.launch(program(body), LAUNCH) for _ in range(40)]
        for guest in guests:
            assert isinstance(await guest.step([]), Calls)
        assert resident() - before > 40 * 5
        for guest in (first, *guests):
            await guest.close()
        await (await waiting(box, 1)).close()
        assert resident() - before < 40 * 3
    finally:
        await box.aclose()


@pytest.mark.proves("limit.logs")
async def test_what_a_program_printed_is_there_when_it_is_given_up_just_as_its_step_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over, go_on, read_step = threading.Event(), threading.Event(), sandbox.read_step

    def held(text: str, javascript: str) -> Step:
        over.set()
        go_on.wait(5)
        return read_step(text, javascript)

    monkeypatch.setattr(sandbox, "read_step", held)
    box = QuickJsSandbox(workers=1)
    try:
        guest = await box.launch(program(f"{LONG} console.log('seen'); await tools.a.b({{}})"), LAUNCH)
        step = asyncio.create_task(guest.step([]))
        await asyncio.to_thread(over.wait, 5)
        step.cancel()
        asyncio.get_running_loop().call_soon(go_on.set)
        await asyncio.wait([step])
        assert step.cancelled()
        await guest.close()
        assert [entry.message for entry in guest.logs] == ["seen"]
    finally:
        await box.aclose()


@pytest.mark.proves("sandbox.off-loop")
async def test_programs_that_compute_share_one_worker_and_the_event_loop_goes_on() -> None:
    box = QuickJsSandbox(workers=1)
    ended: list[int] = []

    async def compute(number: int, times: int) -> None:
        guest = await box.launch(program(f"{LONG * times} return {number}"), LAUNCH)
        assert await guest.step([]) == Returned(str(number))
        ended.append(number)
        await guest.close()

    turns = 0

    async def count() -> None:
        nonlocal turns
        while len(ended) < 3:
            await asyncio.sleep(0.001)
            turns += 1

    try:
        await asyncio.gather(compute(1, 12), compute(2, 6), compute(3, 1), count())
        assert ended == [3, 2, 1]
        assert turns > 20
    finally:
        await box.aclose()


@pytest.mark.proves("limit.compute", "sandbox.off-loop")
async def test_a_looping_program_ends_at_its_compute_limit_also_when_it_shares_its_worker_with_others() -> None:
    box = QuickJsSandbox(workers=1)
    limits = ExecutionLimits(compute_time_ms=100)
    try:
        guests = [await box.launch(program("for (;;) {}"), Launch(limits=limits)) for _ in range(4)]
        for step in await asyncio.gather(*(guest.step([]) for guest in guests)):
            assert isinstance(step, Threw)
            assert step.error.kind == "compute"
    finally:
        await box.aclose()
