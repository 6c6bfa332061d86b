"""Where and why a text that the parser refused is broken.

Two witnesses are heard: the parser's own log, which knows the first token it could not take and what it would have
taken, and the simple reader of `lexing`, which knows what was opened and never closed. The earlier complaint is
reported, with what the other one adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import LogType, Parser

from codemodekit.compilers.typescript.lexing import Bracket, Lexed, Token, Unclosed, lex
from codemodekit.compilers.typescript.parsing import LANGUAGE, ParsedProgram, encode, parse_loosely
from codemodekit.compilers.typescript.problems import CompileProblem, unsafe
from codemodekit.compilers.typescript.text import SourceText

__all__ = ["explain"]

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}", "${": "}"}
_UNCLOSED: Final = {
    "string": "this string is never closed on its line; close it, or use a template literal for several lines",
    "template": "this template literal is never closed; add the missing backtick",
    "comment": "this comment is never closed; add the missing `*/`",
}


def explain(text: SourceText, units: str) -> CompileProblem:
    """The problem of a text that does not parse; `units` is what the parser was given of it."""
    lexed = lex(units)
    if lexed.problem is not None:
        return _unclosed(lexed.problem)
    unexpected = _first_unexpected(units)
    bracket = lexed.bracket
    if bracket is not None and (unexpected is None or unexpected.at >= bracket.at):
        return _misfit(text, bracket)
    if unexpected is None:
        return CompileProblem("the program is not valid TypeScript, and the parser cannot say where", None)
    return _unexpected(text, units, lexed, unexpected)


def _unclosed(problem: Unclosed) -> CompileProblem:
    return CompileProblem(_UNCLOSED[problem.kind], problem.start, compiler_code="unclosed")


def _misfit(text: SourceText, bracket: Bracket) -> CompileProblem:
    if bracket.opener is None:
        message = (
            f"`{bracket.closer}` closes nothing: no bracket is open here; remove it, or add the one it should close"
        )
        if bracket.closer == "}":
            return unsafe(message, bracket.at, bracket.at + 1, "unbalanced")
        return CompileProblem(message, bracket.at, bracket.at + 1, compiler_code="unbalanced")
    wanted = _CLOSERS[bracket.opener]
    opened = f"the `{bracket.opener}` opened at {_at(text, bracket.opener_at)}"
    if bracket.closer is not None:
        message = f"`{bracket.closer}` does not close {opened}; `{wanted}` is missing before it"
        return CompileProblem(message, bracket.at, bracket.at + 1, compiler_code="unbalanced")
    message = f"`{wanted}` is missing: the program ends while {opened} is still open"
    if bracket.suspect is not None and bracket.suspect != bracket.opener_at:
        message += f"; by the indentation, the block opened at {_at(text, bracket.suspect)} is the one to close"
    return CompileProblem(message, bracket.at, compiler_code="unbalanced")


def _at(text: SourceText, offset: int) -> str:
    place = text.location(offset)
    return f"{place.line}:{place.column}"


# --- an unexpected token ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unexpected:
    at: int
    state: int | None
    """The parser's state, which knows what could have come; None if unknown."""


_PROCESS: Final = re.compile(r"process version:\d+, version_count:\d+, state:(\d+), row:(\d+), col:(\d+)")
_BLANK: Final = re.compile(r"[\s\ufeff]*")


_LOG_LINES: Final = 400_000
"""The log has some ten lines for each character; this many are read before we make do with the tree."""


def _first_unexpected(units: str) -> _Unexpected | None:
    """The first token that no reading of the text could take."""
    tree = parse_loosely(units)
    begin = _sound_until(tree)
    found = _logged_error(units, begin) or (_logged_error(units, 0) if begin else None)
    return found or _first_error_node(tree)


def _sound_until(parsed: ParsedProgram) -> int:
    """Where the last sound statement before the first error begins: the log need not be read from the start.

    That statement is read again because the error may be in how it ends.
    """
    begin = 0
    for child in parsed.root.children:
        sound = child.type.endswith(("_statement", "_declaration")) or child.type == "comment"
        if child.has_error or not sound:
            break
        begin = parsed.span(child)[0]
    return begin


def _first_error_node(parsed: ParsedProgram) -> _Unexpected | None:
    cursor = parsed.root.walk()
    while (node := cursor.node) is not None:
        if node.is_error or node.is_missing:
            return _Unexpected(parsed.span(node)[0], None)
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return None
    return None


def _logged_error(units: str, begin: int) -> _Unexpected | None:
    """Parse from a statement's begin with the parser's log on, up to the first token that could not be taken."""
    rest = units[begin:]
    data, shift = encode(rest)
    log = _ErrorLog()

    def read(offset: int, _point: object) -> bytes:
        return b"" if log.done else data[offset : offset + 1024]

    def enough(_offset: int, _has_error: bool) -> bool:
        return log.done

    try:
        Parser(LANGUAGE, logger=log.note).parse(read, encoding="utf16le" if shift else "utf8", progress_callback=enough)
    except ValueError:
        log.done = True  # ended by `enough`: the log has what we came for
    if log.furthest is None or not log.failed:
        return None
    row, column, state = log.furthest
    match = _BLANK.match(rest, _row_start(rest, row) + (column >> shift))
    return _Unexpected(begin + (match.end() if match else len(rest)), state)


class _ErrorLog:
    """Listens to the parser until every reading of the text has failed; keeps the token that got furthest."""

    def __init__(self) -> None:
        self.furthest: tuple[int, int, int] | None = None
        """Row, column and parser state."""
        self.failed = False
        """Whether every reading failed: before that, the token may only be where a wrong guess ended."""
        self.done = False
        self._current = (0, 0, 0)
        self._lines = 0

    def note(self, _kind: LogType, line: str) -> None:
        # Called from C, where an exception could not be raised.
        if self.done:
            return
        self._lines += 1
        if line.startswith("process"):
            match = _PROCESS.match(line)
            if match is not None:
                self._current = (int(match[2]), int(match[3]), int(match[1]))
        elif line.startswith("detect_error"):
            self.furthest = max(self.furthest, self._current) if self.furthest is not None else self._current
        elif line.startswith("resume"):
            self.failed = self.done = True
        elif self._lines > _LOG_LINES:
            self.done = True


def _row_start(units: str, row: int) -> int:
    at = 0
    for _ in range(row):
        at = units.find("\n", at) + 1
    return at


def _unexpected(text: SourceText, units: str, lexed: Lexed, unexpected: _Unexpected) -> CompileProblem:
    if (jsx := _markup(units, lexed, unexpected.at)) is not None:
        return CompileProblem("JSX is not supported; build strings or objects instead", jsx, compiler_code="jsx")
    index = next((i for i, token in enumerate(lexed.tokens) if token.end > unexpected.at), len(lexed.tokens))
    token = lexed.tokens[index] if index < len(lexed.tokens) else None
    before = lexed.tokens[index - 1] if index else None
    if token is None:
        message, start, end = "the program ends too early", unexpected.at, unexpected.at
    else:
        message, start, end = f"unexpected {_named(token)}", max(token.start, unexpected.at), token.end
    advice = _advice(token, before) or _expectation(unexpected.state)
    if lexed.bracket is not None and lexed.bracket.opener_at >= 0 and lexed.bracket.opener is not None:
        opened = f"`{lexed.bracket.opener}` opened at {_at(text, lexed.bracket.opener_at)} is never closed"
        advice = f"{advice}; {opened}" if advice else opened
    elif not advice:
        advice = "check the line for a missing operator, comma or bracket"
    return CompileProblem(f"{message}: {advice}", start, end)


_MARKUP: Final = re.compile(r"<(?:([A-Za-z][\w.]{0,60})\b[^<>]{0,400}|)>[^<>]{0,400}</")


def _markup(units: str, lexed: Lexed, unexpected_at: int) -> int | None:
    """Where an element of JSX begins, if one stands before the token that could not be read, or holds it."""
    operators = {token.start for token in lexed.tokens if token.kind == "punctuation"}
    for match in _MARKUP.finditer(units):
        if match.start() > unexpected_at:
            return None
        if match.start() in operators:
            return match.start()
    return None


def _named(token: Token) -> str:
    shown = token.text if len(token.text) <= 40 else token.text[:37] + "…"
    return f"{token.kind} {shown!r}" if token.kind in ("string", "template", "regex") else f"`{shown}`"


_PYTHON: Final = frozenset(
    {"None", "True", "False", "def", "elif", "lambda", "not", "and", "or", "pass", "except", "raise"}
)


def _advice(token: Token | None, before: Token | None) -> str | None:
    """Advice for what models often write by mistake."""
    words = {word.text for word in (token, before) if word is not None}
    if found := sorted(words & _PYTHON):
        return f"`{found[0]}` is Python; programs are TypeScript"
    if token is None or before is None:
        return None
    if token.kind in ("string", "template") and before.text in ("f", "r", "b") and before.end == token.start:
        return "prefixed strings are Python; write a template literal: `text ${value}`"
    if token.text == "#" or token.text.startswith("#"):
        return "comments begin with `//`, and private names exist only inside classes"
    return None


_SHOWN: Final = frozenset([")", "]", "}", "(", ":", ";", ",", "=", "=>", "{", "of", "in", "from"])


def _expectation(state: int | None) -> str:
    if state is None:
        return ""
    everything = set(_acceptable(state))
    if "keyof" in everything:
        return "a type is expected here"
    if "++" in everything and "class" in everything:
        return "an expression is expected here"
    expected = sorted(everything & _SHOWN)
    if not expected or len(expected) > 4:
        return ""
    return "expected " + " or ".join(f"`{name}`" for name in expected)


def _acceptable(state: int) -> Iterator[str]:
    iterator = LANGUAGE.lookahead_iterator(state)
    return iter(iterator.names()) if iterator is not None else iter(())
