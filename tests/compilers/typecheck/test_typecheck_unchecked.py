"""A compiler that is too slow, hangs or dies costs a run its check, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import anyio
import pytest
from tests.e2e.processes import descendants, needs_proc
from typecheck_world import PATIENT_MS, checked_kit

from codemodekit.code_mode import CodeMode, RunResult
from codemodekit.compilers.typecheck import TypeScriptChecker
from codemodekit.diagnostics import DiagnosticCode
from codemodekit.testing import InMemoryProvider

pytestmark = [pytest.mark.anyio, pytest.mark.proves("typecheck.unchecked")]

FAKE = (sys.executable, str(Path(__file__).with_name("fake_compiler.py")))
SHORT_MS = 1_000
CALLS = "return (await tools.memory.echo({ a: 1 })).structuredContent;"
WRONG = "return tools.memory.ehco({ a: 1 });"


def fake(*mood: str, budget_ms: int = PATIENT_MS) -> TypeScriptChecker:
    return TypeScriptChecker(command=(*FAKE, *mood), budget_ms=budget_ms)


def unchecked(result: RunResult) -> str:
    """The note that says so, of a run that went on all the same."""
    assert (result.ok, result.value) == (True, {"a": 1})
    return next(note for note in result.notes if "unchecked" in note)


@pytest.mark.parametrize(
    ("word", "budget_ms", "told"),
    [
        ("HANG", SHORT_MS, "took longer than 1000 ms"),
        ("END", PATIENT_MS, "broke off"),
        ("GARBAGE", PATIENT_MS, "broke off"),
        ("FLOOD", PATIENT_MS, "broke off"),
        ("NONSENSE", PATIENT_MS, "broke off"),
    ],
)
async def test_a_compiler_that_misbehaves_leaves_that_run_unchecked_and_the_next_one_checked(
    word: str, budget_ms: int, told: str
) -> None:
    source = InMemoryProvider()
    async with checked_kit([source], fake(budget_ms=budget_ms)) as code_mode:
        odd = await code_mode.run(f"// {word}\n{CALLS}")
        later = await code_mode.run(CALLS)
    assert told in unchecked(odd)
    assert (later.ok, later.notes) == (True, ())
    assert len(source.calls) == 2


@pytest.mark.parametrize("mood", ["hang", "end"])
async def test_a_compiler_that_never_gets_ready_leaves_runs_unchecked(mood: str) -> None:
    async with checked_kit([InMemoryProvider()], fake(mood, budget_ms=100)) as code_mode:
        assert "is not running" in unchecked(await code_mode.run(CALLS))


async def test_a_compiler_that_cannot_be_started_leaves_runs_unchecked() -> None:
    checker = TypeScriptChecker(command=("/no/such/compiler",))
    async with checked_kit([InMemoryProvider()], checker) as code_mode:
        assert "is not running" in unchecked(await code_mode.run(CALLS))
        assert "is not running" in unchecked(await code_mode.run(CALLS))


async def test_runs_at_the_same_time_are_checked_one_after_another() -> None:
    """One of them hangs the compiler, and only that one is unchecked."""
    async with checked_kit([InMemoryProvider()], fake(budget_ms=2_000)) as code_mode:
        texts = [f"// {'HANG' if number == 3 else number}\n{CALLS}" for number in range(8)]
        results = await asyncio.gather(*(code_mode.run(text) for text in texts))
    assert [number for number, result in enumerate(results) if result.notes] == [3]
    assert "took longer than" in unchecked(results[3])


async def test_a_run_that_is_cancelled_during_its_check_leaves_the_checker_to_others() -> None:
    async with checked_kit([InMemoryProvider()], fake()) as code_mode:
        await code_mode.run(CALLS)
        hanging = asyncio.create_task(code_mode.run(f"// HANG\n{CALLS}"))
        waiting = asyncio.create_task(code_mode.run(CALLS))
        for _ in range(50):
            await asyncio.sleep(0)  # it is in the middle of its check, and stays there
        assert not hanging.done()
        hanging.cancel()
        with anyio.fail_after(20):
            result = await waiting
    assert (result.ok, result.notes) == (True, ())
    assert hanging.cancelled()


async def test_a_checker_of_ones_own_that_fails_leaves_runs_unchecked() -> None:
    class Failing(TypeScriptChecker):
        async def check(self, *_: object) -> None:  # type: ignore[override]
            raise ZeroDivisionError

    async with checked_kit([InMemoryProvider()], Failing(command=FAKE)) as code_mode:
        assert "failed" in unchecked(await code_mode.run(CALLS))


# --- the real compiler ------------------------------------------------------------------------------------------------


def compilers() -> list[int]:
    """The compilers this process has started and not yet ended."""
    return [pid for pid, line in descendants(os.getpid()).items() if "--lsp" in line]


BOMBS = {
    "tuples and templates": """
        type B<T> = [T, T, T, T, T, T, T, T];
        type Big<T> = B<B<B<B<B<B<B<B<T>>>>>>>>;
        let one: Big<string> | undefined;
        const other: Big<number> = one as any as Big<string>;
        type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'|'8'|'9';
        let digits: `${D}${D}${D}${D}${D}` = '00000';
    """,
    "deep recursion": """
        type Count<N extends number, A extends any[] = []> = A['length'] extends N ? A : Count<N, [...A, 1]>;
        type Fib<N extends number> = [...Count<N>, ...Count<N>, ...Count<N>];
        let many: [Fib<999>, Fib<998>, Fib<997>, Fib<996>, Fib<995>] | undefined;
    """,
    "much text": "const rows = [" + "{ a: 1, b: 'x', c: [1, 2, { d: null }] }," * 2_900 + "];",
    "deep text": "const deep = " + "[" * 390 + "]" * 390 + ";",
    "long chains": "let sum = " + " + ".join(["rows"] * 15_000) + "; var rows = 1;",
}


@pytest.mark.parametrize("name", BOMBS)
async def test_a_hostile_program_costs_at_most_its_own_check(name: str) -> None:
    async with checked_kit([InMemoryProvider()], TypeScriptChecker(budget_ms=1_000)) as code_mode:
        result = await code_mode.run(BOMBS[name] + CALLS)
        await until_checked(code_mode)
    assert (result.ok, result.value) == (True, {"a": 1}), result.error


async def until_checked(code_mode: CodeMode) -> None:
    """Returns when a mistake is found again."""
    with anyio.fail_after(30):
        while (error := (await code_mode.run(WRONG)).error) is None or error.code is not DiagnosticCode.TYPE_ERROR:
            pass


@needs_proc
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_compiler_that_was_killed_or_stopped_is_replaced(sign: signal.Signals) -> None:
    async with checked_kit([InMemoryProvider()], TypeScriptChecker(budget_ms=1_000)) as code_mode:
        await until_checked(code_mode)
        [first] = compilers()
        os.kill(first, sign)
        assert (await code_mode.run(CALLS)).ok
        await until_checked(code_mode)
        assert first not in compilers()


@needs_proc
async def test_a_compiler_that_dies_at_any_moment_leaves_no_exception_that_nobody_fetched() -> None:
    lost: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: lost.append(told))
    async with checked_kit([InMemoryProvider()], TypeScriptChecker(budget_ms=1_000)) as code_mode:
        for turns in range(9):
            await until_checked(code_mode)
            for pid in compilers():
                os.kill(pid, signal.SIGKILL)
            for _ in range(turns):
                await asyncio.sleep(0)
            assert (await code_mode.run(CALLS)).ok
            gc.collect()
    assert lost == []
