"""A second, simple reading of a program, used only where the parser failed: tokens, comments, brackets.

The parser says that a text is broken but often not where: it blames a missing brace on the whole program. This reader
follows strings, templates, comments, regular expressions and brackets alone, and so can tell which of them was never
closed. It guesses whether a slash begins a regular expression from the token before, which is good enough for messages
and is never used to decide that a program is safe.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

__all__ = ["BEFORE_OPERAND", "Bracket", "Lexed", "Token", "Unclosed", "lex"]


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """word, number, string, template, regex or punctuation."""
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Unclosed:
    """A string, template, comment or regular expression that does not end."""

    kind: str
    start: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """A closing bracket that fits nothing, or (at the end of the text) the opening one that was never closed."""

    at: int
    closer: str | None
    """None at the end of the text."""
    opener: str | None
    opener_at: int
    suspect: int | None = None
    """An inner opening bracket that the closer's indentation does not fit: the likely culprit."""


@dataclass(slots=True)
class Lexed:
    tokens: list[Token] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    problem: Unclosed | None = None
    bracket: Bracket | None = None
    too_deep: int | None = None


_TOKEN: Final = re.compile(
    r"""
      (?P<space>[\s\ufeff]+)
    | (?P<line_comment>//[^\n\r\u2028\u2029]*)
    | (?P<comment>/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
    | (?P<word>(?:[#@]?[\w$\\]|(?![\s\ufeff])[^\x00-\x7f])(?:[\w$\\]|(?![\s\ufeff])[^\x00-\x7f])*)
    | (?P<string>"(?:[^"\\\n\r]|\\(?:\r\n|.|\n))*+"?|'(?:[^'\\\n\r]|\\(?:\r\n|.|\n))*+'?)
    | (?P<punctuation>=>|\?\.|\?\?=?|\.\.\.|[=!]==?|[&|]{2}=?|\*\*=?|<<=?|>=|<=|\+\+|--|[-+*%&|^]=?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE: Final = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+", re.DOTALL)
_REGEX: Final = re.compile(
    r"/(?![*/])(?:[^/\\\[\n\r\u2028\u2029]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r]){0,999}+\]){1,999}+/[\w$]*"
)  # bounded: a text of slashes must not be read to its end for each of them
BEFORE_OPERAND: Final = frozenset(
    [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "instanceof",
        "do",
        "else",
        "yield",
        "await",
        "extends",
    ]
)
"""Words behind which a value begins: a slash is a regular expression there, and `<` a type's bracket."""
_WIDEST_INDENT: Final = 200
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def lex(units: str, *, depth: int | None = None) -> Lexed:
    """Read a text to its end, or to the first thing that does not close.

    With `depth`, stops at the first bracket nested deeper and reports its place.
    """
    return _Reader(units, depth).read()


class _Reader:
    def __init__(self, units: str, depth: int | None) -> None:
        self.units = units
        self.depth = depth
        self.out = Lexed()
        self.open: list[tuple[str, int]] = []
        """Open brackets; `${` of a template is kept as such, so that its `}` leads back into the template."""
        self.open_now: Counter[str] = Counter()
        """How many of each opening bracket are open."""
        self.suspect: int | None = None
        """First `{` whose `}` is indented less than the line that opened it: its own closer is probably missing."""

    def read(self) -> Lexed:
        at = 0
        while at < len(self.units) and self.out.problem is None and self.out.too_deep is None:
            at = self._next(at)
        if self.open and self.out.problem is None:
            opener, opener_at = self.open[-1]
            self._misfit(Bracket(len(self.units.rstrip()), None, opener, opener_at, self.suspect))
        return self.out

    def _next(self, at: int) -> int:
        if self.units[at] == "`":
            return self._template(at, at + 1)
        if self.units[at] == "/" and self._regex_may_begin() and (regex := _REGEX.match(self.units, at)):
            return self._token("regex", at, regex.end())
        match = _TOKEN.match(self.units, at)
        assert match is not None, "the last alternative takes any character"
        kind, end = match.lastgroup, match.end()
        if kind in ("line_comment", "comment"):
            self.out.comments.append((at, end))
            if kind == "comment" and (end < at + 4 or not match[0].endswith("*/")):
                self.out.problem = Unclosed("comment", at)
        elif kind == "string":
            if end == at + 1 or match[0][-1] != match[0][0]:
                self.out.problem = Unclosed("string", at)
            self._token(kind, at, end)
        elif kind == "punctuation":
            return self._punctuation(at, end)
        elif kind is not None and kind != "space":
            self._token(kind, at, end)
        return end

    def _token(self, kind: str, start: int, end: int) -> int:
        self.out.tokens.append(Token(kind, start, end, self.units[start:end]))
        return end

    def _regex_may_begin(self) -> bool:
        if not self.out.tokens:
            return True
        before = self.out.tokens[-1]
        if before.kind == "word":
            return before.text in BEFORE_OPERAND
        return before.kind == "punctuation" and before.text not in (")", "]", "++", "--")

    def _template(self, start: int, at: int) -> int:
        """Text of a template from `at` on; `start` is where the template began."""
        match = _TEMPLATE.match(self.units, at)
        end = match.end() if match else at
        if self.units.startswith("`", end):
            return self._token("template", start, end + 1)
        if self.units.startswith("${", end):
            self._token("punctuation", end, end + 2)
            self._push("${", start)
            return end + 2
        self.out.problem = Unclosed("template", start)
        return len(self.units)

    def _push(self, opener: str, at: int) -> None:
        self.open.append((opener, at))
        self.open_now[opener] += 1
        if self.depth is not None and len(self.open) > self.depth:
            self.out.too_deep = at

    def _pop(self) -> str:
        opener, _ = self.open.pop()
        self.open_now[opener] -= 1
        return opener

    def _punctuation(self, at: int, end: int) -> int:
        text = self.units[at:end]
        self._token("punctuation", at, end)
        if text in "([{":
            self._push(text, at)
        elif text in _PAIRS:
            return self._close(text, at, end)
        return end

    def _close(self, closer: str, at: int, end: int) -> int:
        opener, opener_at = self.open[-1] if self.open else (None, -1)
        if opener == "${" and closer == "}":
            self._pop()
            return self._template(opener_at, end)
        if opener == _PAIRS[closer]:
            if closer == "}" and self.suspect is None and self._closes_too_far_left(opener_at, at):
                self.suspect = opener_at
            self._pop()
            return end
        self._misfit(Bracket(at, closer, opener, opener_at))
        if self.open_now[_PAIRS[closer]]:
            while self._pop() != _PAIRS[closer]:
                pass
        return end

    def _closes_too_far_left(self, opener_at: int, closer_at: int) -> bool:
        opened, closed = self._indent(opener_at), self._indent(closer_at)
        begins_line = not self.units[max(0, closer_at - closed) : closer_at].strip() and closed < _WIDEST_INDENT
        return begins_line and closed < opened

    def _indent(self, at: int) -> int:
        """Width of the white space before the line's first character, up to `at`."""
        line = self.units.rfind("\n", max(0, at - _WIDEST_INDENT), at) + 1
        before = self.units[line:at] if line else self.units[max(0, at - _WIDEST_INDENT) : at]
        return len(before) - len(before.lstrip())

    def _misfit(self, bracket: Bracket) -> None:
        if self.out.bracket is None:
            self.out.bracket = bracket
