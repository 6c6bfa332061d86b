"""What the grammar reads otherwise than TypeScript does, found among a program's tokens and mended before it is parsed.

Type arguments in front of templates and of some calls, which the grammar takes for comparisons; `typeof x` in types, to
which it adds what is called on the next line; `import("x")` in types, to which it lets nothing be added; index
signatures that are static. What stands there is blanked or replaced in what the parser is given, and said, so that the
rest of the package erases it or refuses it. Knows tokens, not trees: what the parser makes of them it asks through
functions that are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.lexing import BEFORE_OPERAND, Token, lex
from codemodekit.compilers.typescript.problems import unsupported

__all__ = ["Grammar", "Reading", "read"]

_SUSPECT: Final = re.compile(r"(?<!=)>\s{0,200}(?:`|/[/*])|\bimport\s*\(|\bstatic\s*\[")
"""Without any of these, calls and `typeof` there is nothing to look for, and most programs are without."""
_CALL: Final = re.compile(r"(?<!=)>\s{0,200}\(")
_TYPE_QUERY: Final = re.compile(r"\btypeof[ \t]+[\w$.]{1,200}(?:[ \t\r]|//[^\n]{0,400})*(?P<end>\n)\s*[(\[]")
_GAP: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_MOST_TAGGED_TEMPLATES: Final = 60
_TOO_MANY_TAGGED: Final = (
    "too many templates stand behind a `>`; put the tags' results into variables in a loop instead"
)
_MOST_COMPARED: Final = 1_000
_TOO_MANY_COMPARED: Final = "too many parentheses stand behind a `>`; put what is compared into variables"
_LONGEST_ARGUMENTS: Final = 400
"""Tokens between `<` and `>` that are looked at."""
_OPENERS: Final = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What the parser is given instead of the text, of the same length."""

    units: str
    erased: tuple[tuple[int, int], ...] = ()
    """Types that the parser does not see."""
    imports: tuple[tuple[int, int], ...] = ()
    """Calls of `import` that the parser sees as names; they are refused unless they turn out to be in a type."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the parser is asked."""

    is_type_arguments: Callable[[str], bool]
    """Whether a text is `<`, types, and `>`."""
    is_comparison: Callable[[int], bool]
    """Whether it took the `>` at a place for an operator, or cannot say."""
    is_type_query: Callable[[int], bool]
    """Whether it took the `typeof` at a place for that of a type."""


def read(units: str, grammar: Grammar) -> Reading:
    """The text as the parser shall have it.

    Raises:
        CompileProblem: more comparisons than can be looked at.
    """
    compared = _compared(units, grammar)
    ends = {found.start("end"): ";" for found in _TYPE_QUERY.finditer(units) if grammar.is_type_query(found.start())}
    if not (compared or ends or _SUSPECT.search(units)):
        return Reading(units)
    lexed = lex(units)
    if lexed.problem is not None:
        return Reading(units)
    tokens = lexed.tokens
    imports = tuple(_imports(tokens, units))
    for start, end in imports:
        units = units[:start] + "_" * (end - start) + units[end:]
    signatures = _static_signatures(tokens)
    erased = (*signatures, *_arguments(tokens, units, compared, grammar))
    edits = Edits(blanks=list(erased), puts=ends | {start: ";" for start, _ in signatures})
    return Reading(edits.apply(units)[0], erased, imports)


def _compared(units: str, grammar: Grammar) -> set[int]:
    """The signs `>` in front of a parenthesis that the parser took for comparisons."""
    found = set()
    for number, match in enumerate(_CALL.finditer(units)):
        if number > _MOST_COMPARED:
            raise unsupported(_TOO_MANY_COMPARED, match.start(), match.start() + 1, "comparison")
        if grammar.is_comparison(match.start()):
            found.add(match.start())
    return found


def _imports(tokens: Sequence[Token], units: str) -> list[tuple[int, int]]:
    found = []
    for at in range(len(tokens) - 3):
        word, opening, name, closing = tokens[at : at + 4]
        if word.text == "import" and opening.text == "(" and name.kind == "string" and closing.text == ")":
            start, end = word.start, closing.end
            if not re.search("[\n\u2028\u2029/]", units[start : name.start] + units[name.end : end]):
                found.append((start, end))
    return found


def _static_signatures(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    found = []
    for at in range(len(tokens) - 3):
        static, opening, name, colon = tokens[at : at + 4]
        if static.text == "static" and opening.text == "[" and name.kind == "word" and colon.text == ":":
            found.append((static.start, static.end))
    return found


def _arguments(tokens: Sequence[Token], units: str, compared: set[int], grammar: Grammar) -> list[tuple[int, int]]:
    """Type arguments that the parser took for comparisons; TypeScript knows them by what stands behind them."""
    found: list[tuple[int, int]] = []
    templates = 0
    for at, token in enumerate(tokens):
        if token.text != ">" or not (token.start in compared or _begins_template(units, token.end)):
            continue
        if token.start not in compared:
            if not grammar.is_comparison(token.start):
                continue
            templates += 1
            if templates > _MOST_TAGGED_TEMPLATES:
                raise unsupported(_TOO_MANY_TAGGED, token.start, token.end, "tagged-template")
        opening = _opening(tokens, at)
        if opening is not None and grammar.is_type_arguments(units[tokens[opening].start : token.end]):
            found.append((tokens[opening].start, token.end))
    return found


def _begins_template(units: str, at: int) -> bool:
    gap = _GAP.match(units, at)
    return units.startswith("`", gap.end() if gap else at)


def _opening(tokens: Sequence[Token], closing: int) -> int | None:
    """The `<` that a `>` closes, if it stands behind something that can be a tag."""
    brackets: list[str] = []
    angles = 0
    for at in range(closing, max(closing - _LONGEST_ARGUMENTS, 0), -1):
        text = tokens[at].text
        if text in _OPENERS:
            brackets.append(_OPENERS[text])
        elif text in ("(", "[", "{", "${"):
            if not brackets or brackets.pop() != text.lstrip("$"):
                return None
        elif brackets:
            continue
        elif text == ">":
            angles += 1
        elif text == "<":
            angles -= 1
            if not angles:
                return at if _ends_operand(tokens[at - 1]) else None
    return None


def _ends_operand(token: Token) -> bool:
    if token.kind == "word":
        return token.text not in BEFORE_OPERAND
    return token.kind == "template" or token.text in (")", "]", "}", "!")
