"""Programs made at random: with types they mean what they mean without, and broken ones are refused in their place."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Launch, Program, Returned, Step, Threw
from codemodekit.diagnostics import Diagnostic, utf16_length
from codemodekit.limits import ExecutionLimits
from codemodekit.sandboxes.quickjs import QuickJsSandbox
from fuzzing import TIMES, fuzzed
from npm_packages import installed

from .typescript_fuzz.programs import make_program

_HERE = Path(__file__).parent
CORPUS = [
    case["src"]
    for file in (_HERE.parent / "corpus" / "typescript.json", _HERE / "typescript_cases.json")
    for case in json.loads(file.read_text(encoding="utf-8"))
]
PIECES = [
    "as any", "<T>", "!", "(", ")", "[", "]", "{", "}", "`", "${", "/", "*/", "/*", "//", "\n", "\r", "\u2028",
    "'", '"', "=>",
    "interface A {", "enum E {", "type T =", "static ", "import('x')", "await ", "yield ", "\\", "😀", "\ud83d", "\0",
    "#x", "@d",
    "<", ">", ":", ";", ",", "?", "=", "...", "satisfies", "declare ", "namespace N {", "export ", "using x",
    "-->", "in ",
]  # fmt: skip
_DROPPED = re.compile(r"(?:return|yield|throw)\b.{0,400}/\*[^*]*\n", re.DOTALL)
CHANCE = st.randoms(use_true_random=False)


class Engine:
    """The real sandbox, for tests that are not async."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._sandbox = QuickJsSandbox()

    def outcome(self, program: Program) -> tuple[str, Any]:
        """What a program came to, in a form that can be compared."""
        step = self._runner.run(self._step(program))
        if isinstance(step, Returned):
            return "returned", step.json
        assert isinstance(step, Threw)
        return step.error.kind, step.error.name

    async def _step(self, program: Program) -> Step:
        guest = await self._sandbox.launch(program, Launch(limits=ExecutionLimits(compute_time_ms=2000)))
        try:
            return await guest.step([])
        finally:
            await guest.close()

    def close(self) -> None:
        self._runner.run(self._sandbox.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()


def as_javascript(text: str) -> Program:
    """A program that no compiler of ours has seen."""
    return Program(
        source=text, javascript=f'(async function () {{ "use strict";\n{text}\n}})', locate=lambda _line, _column: None
    )


@pytest.mark.proves("compile.erasing", "compile.transforms")
@pytest.mark.slow
@fuzzed(150)
@given(CHANCE)
def test_a_program_with_types_means_what_it_means_without(engine: Engine, chance: random.Random) -> None:
    made = make_program(chance)

    compiled = TypeScriptCompiler().compile(made.ts)

    if isinstance(compiled, Diagnostic):
        assert compiled.location is not None  # how many of these there may be is tested below
    else:
        assert engine.outcome(compiled) == engine.outcome(as_javascript(made.js)), made.ts


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.timeout(120 + 60 * TIMES)
@pytest.mark.proves("compile.erasing", "compile.bounded")
def test_hardly_a_program_that_typescript_takes_is_refused(engine: Engine) -> None:
    refused, wrong = [], []
    seeds = range(400 * max(TIMES, 1))
    for seed in seeds:
        made = make_program(random.Random(seed))
        compiled = TypeScriptCompiler().compile(made.ts)
        if isinstance(compiled, Diagnostic):
            refused.append(seed)
        elif engine.outcome(compiled) != engine.outcome(as_javascript(made.js)):
            wrong.append(seed)
    assert wrong == []
    assert len(refused) <= len(seeds) // 100


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A program of the corpus, or a made one, after an accident."""
    text = draw(st.sampled_from(CORPUS)) if draw(st.booleans()) else make_program(draw(CHANCE), 2).ts
    for _ in range(draw(st.integers(1, 3))):
        at, to = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        kind = draw(st.sampled_from(["insert", "insert", "cut", "keep", "double", "swap"]))
        if kind == "insert":
            text = text[:at] + draw(st.sampled_from(PIECES)) + text[at:]
        elif kind == "cut":
            text = text[:at] + text[min(to, at + 20) :]
        elif kind == "keep":
            text = text[:to]
        elif kind == "double":
            text = text[:to] + text[at:]
        else:
            text = text[to:] + text[:at]
    return text


@pytest.mark.proves("compile.bounded", "compile.deterministic", "compile.refused")
@pytest.mark.slow
@fuzzed(300)
@given(broken())
def test_a_broken_program_has_one_outcome_with_a_place_inside_of_it(source: str) -> None:
    first, second = TypeScriptCompiler().compile(source), TypeScriptCompiler().compile(source)

    assert type(first) is type(second)
    if isinstance(first, Program) and isinstance(second, Program):
        assert (first.javascript, first.notes, first.discarded) == (second.javascript, second.notes, second.discarded)
        first.javascript.encode()
        return
    assert isinstance(first, Diagnostic)
    assert first == second
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if (place := first.location) is not None:
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= utf16_length(lines[place.line - 1]) + 2
        assert (place.end_line or place.line, place.end_column or place.column) >= (place.line, place.column)
    json.dumps(first.to_wire()).encode()


# --- the real compiler as a witness ---------------------------------------------------------------------------------


def erased_officially(texts: list[str]) -> list[str | None]:
    """What the real compiler makes of the texts; None where it finds a mistake in the syntax."""
    node, modules = installed("typescript", "5.9", "lib/typescript.js")
    done = subprocess.run(
        [node, str(_HERE / "typescript_fuzz" / "erase.cjs"), str(modules)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100 + 60 * TIMES,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: list[str | None] = json.loads(done.stdout)
    return answer


def plain(result: tuple[str, Any]) -> Any:
    """The recorded values, without the order of an object's keys: where a parameter's field stands differs."""
    kind, text = result
    return (
        [json.loads(each) if each[:1] in '[{"' else each for each in json.loads(text)]
        if text and kind == "returned"
        else kind
    )


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.timeout(240 + 60 * TIMES)
@pytest.mark.proves("compile.erasing", "compile.transforms")
def test_programs_mean_what_the_real_compiler_makes_of_them(engine: Engine) -> None:
    begin = 50_000 if not TIMES else random.randrange(10**9)
    texts = [make_program(random.Random(begin + number)).ts for number in range(300 * max(TIMES, 1))]
    compared = 0
    for text, official in zip(texts, erased_officially(texts), strict=True):
        compiled = TypeScriptCompiler().compile(text)
        # The real compiler drops parentheses behind `return` and `yield`, and a comment may then end the line.
        if official is None or isinstance(compiled, Diagnostic) or _DROPPED.search(text):
            continue
        compared += 1
        assert plain(engine.outcome(compiled)) == plain(engine.outcome(as_javascript(official))), text
    assert compared > len(texts) // 2
