"""The compiler as a whole: one outcome a text, whatever the text, from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import CodeCompiler, Program
from codemodekit.diagnostics import Diagnostic

HOSTILE = {
    "open parentheses": "(" * 131_072,
    "closing braces": "}" * 131_072,
    "question marks": "?" * 100_000,
    "open templates": "`${" * 40_000,
    "open generics": "a<" * 30_000,
    "quotes": '"' * 60_001,
    "postfix chain": "a" + "!" * 120_000,
    "arrow chain": "(a): b =>" * 10_000 + "1",
    "conversion chain": "a" + " as b" * 20_000,
    "sum": "a+" * 60_000 + "a",
    "compared templates": "x=" + "a<b>`x`+" * 12_000 + "1",
    "else-if chain": "if (a) b; else " * 8_000 + "c",
    "local requires": "let require;require();" * 3_000,
    "import types": 'x as typeof import("a");' * 4_000,
    "private names": "class A{#a;m(){this.#a}};" * 3_000,
    "fences": "```\n" * 20_000,
    "punctuation": "}{)(][<>=!&|?:;,." * 5_000,
    "line separators": "\u2028" * 1_000,
    "signs and a comment": ">//" * 40_000,
    "open comments": "a>/*" * 30_000,
    "wrong brackets": ")[1n" * 30_000,
    "converted powers": "x = a" + " ** b as T" * 12_000,
    "converted sums": "x = a" + " + b as T ** c" * 8_000,
    "calls of comparisons": "a<b,c>(" * 399 + ")" * 399 + ";f<a,b>(c)" * 9_000,
    "imports": "import('x')." * 10_000,
    "backslashes": "\\" * 50_000,
}


@pytest.mark.proves("compile.bounded")
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_has_an_outcome(source: str) -> None:
    outcome = TypeScriptCompiler().compile(source)
    assert isinstance(outcome, Program | Diagnostic)
    if isinstance(outcome, Diagnostic):
        assert outcome.message


@pytest.mark.proves("compile.deterministic")
def test_the_same_text_is_compiled_once() -> None:
    compiler: CodeCompiler = TypeScriptCompiler()
    assert compiler.compile("return 1") is compiler.compile("return 1")
    assert compiler.compile("return (") is compiler.compile("return (")


@pytest.mark.proves("compile.deterministic")
def test_outcomes_are_forgotten_beyond_the_bounds_oldest_use_first() -> None:
    compiler = TypeScriptCompiler(cache_entries=2)
    first, second = compiler.compile("return 1"), compiler.compile("return 2")
    assert compiler.compile("return 1") is first
    compiler.compile("return 3")
    assert compiler.compile("return 1") is first
    assert compiler.compile("return 2") is not second


@pytest.mark.proves("compile.deterministic")
def test_a_text_larger_than_the_cache_is_not_kept() -> None:
    compiler = TypeScriptCompiler(cache_bytes=10)
    assert compiler.compile("return 1 + 1") is not compiler.compile("return 1 + 1")


@pytest.mark.proves("compile.deterministic")
def test_threads_share_one_compiler() -> None:
    compiler = TypeScriptCompiler(cache_entries=4)
    sources = [f"const x{n}: number = {n}; return x{n}" for n in range(20)] * 5
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(compiler.compile, sources))
    for source, outcome in zip(sources, outcomes, strict=True):
        assert isinstance(outcome, Program)
        assert outcome.source == source
