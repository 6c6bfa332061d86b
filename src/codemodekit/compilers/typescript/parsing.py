"""Program text to syntax tree, in bounded time, whatever the text.

Uses the tree-sitter grammar of TypeScript, and papers over what that grammar cannot read or reads otherwise: comments
in odd places, `using` declarations and what `ambiguities` finds are masked in what the parser is given, never in the
program. Knows nothing of what is done with the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

from codemodekit.compilers.typescript.ambiguities import Grammar, Reading, read
from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.lexing import lex
from codemodekit.compilers.typescript.problems import CompileProblem

__all__ = ["LANGUAGE", "MAX_BRACKET_DEPTH", "ParsedProgram", "encode", "parse", "parse_loosely"]

LANGUAGE: Final = Language(tree_sitter_typescript.language_typescript())

MAX_BRACKET_DEPTH: Final = 400
"""Deepest nesting of brackets. The engine's parser recurses: beyond this it could run out of its own stack."""

_OPENERS, _CLOSERS = b"([{", b")]}"
_DEPTH_TABLE: Final = bytes(2 if byte in _OPENERS else 0 for byte in range(256))
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in _OPENERS + _CLOSERS)
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """A tree and how its byte offsets become UTF-16 offsets."""

    tree: Tree
    shift: int
    """1 where the parser was given UTF-16, two bytes a unit; 0 where it was given ASCII."""
    erased: tuple[tuple[int, int], ...] = ()
    """Types of the program that the parser was not given."""
    imports: tuple[tuple[int, int], ...] = ()
    """Calls of `import` that the parser was given as names; what is not in a type is to be refused."""

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def span(self, node: Node) -> tuple[int, int]:
        start, end = node.byte_range
        return start >> self.shift, end >> self.shift

    def at(self, at: int) -> Node | None:
        """The smallest node at a place."""
        return self.root.descendant_for_byte_range(at << self.shift, (at + 1) << self.shift)

    def type_at(self, at: int) -> str | None:
        """The kind of the smallest node at a place."""
        node = self.at(at)
        return node.type if node is not None else None


def encode(units: str) -> tuple[bytes, int]:
    """Bytes for the parser, and the shift from its offsets to ours."""
    if units.isascii():
        return units.encode("ascii"), 0
    return units.encode("utf-16-le", "surrogatepass"), 1


def _parse_steps(units: str) -> int:
    """How many hundreds of parser operations a text is worth: some ten times what honest text of its size takes.

    Counted in operations, not in time, so that the same text always has the same outcome.
    """
    return min(2_000 + len(units) // 2, 200_000)


_MOST_READS: Final = 500
"""How often the parser may come for text: some tens do for honest ones, also broken ones. It comes again for each of
many comments that are never closed, and each time reads to the end."""

_MAX_DEPTH: Final = 60_000
"""Deepest tree: at 65,536 levels a query stalls for minutes, and ending it through its progress callback crashes."""


def parse(units: str) -> ParsedProgram | None:
    """The tree of a program; None if its syntax is broken.

    Raises:
        CompileProblem: nested too deeply, or too laborious to parse.
    """
    _check_depth(units)
    parsed, reading = _parse_reading(units)
    if parsed.root.has_error:
        masked = _mask_gaps(reading.units)
        if masked == reading.units:
            return None
        parsed = parse_loosely(masked)
        if parsed.root.has_error:
            return None
    _check_chains(units, parsed.root)
    return replace(parsed, erased=reading.erased, imports=reading.imports)


def _parse_reading(units: str) -> tuple[ParsedProgram, Reading]:
    parsed = parse_loosely(units)
    is_sound = not parsed.root.has_error

    def is_comparison(at: int) -> bool:
        if not is_sound:
            return True
        sign = parsed.at(at)
        return sign is not None and sign.parent is not None and sign.parent.type == "binary_expression"

    def is_type_query(at: int) -> bool:
        word = parsed.at(at)
        return word is not None and word.parent is not None and word.parent.type == "type_query"

    reading = read(units, Grammar(_is_type_arguments, is_comparison, is_type_query))
    return (parsed if reading.units == units else parse_loosely(reading.units)), reading


def _is_type_arguments(text: str) -> bool:
    parsed = parse_loosely(f"f{text}()")
    call = parsed.at(0)
    while call is not None and call.parent is not None and call.type != "call_expression":
        call = call.parent
    if parsed.root.has_error or call is None:
        return False
    types = call.child_by_field_name("type_arguments")
    return types is not None and parsed.span(types) == (1, 1 + len(text))


def parse_loosely(units: str) -> ParsedProgram:
    """The tree of any text, with error nodes where it is broken. Raises CompileProblem if too laborious."""
    data, shift = encode(units)
    left, reads = _parse_steps(units), _MOST_READS

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads -= 1
        return data[offset : offset + _CHUNK] if reads >= 0 else b""

    def out_of_steps(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0 or reads < 0

    try:
        tree = Parser(LANGUAGE).parse(read, encoding="utf16le" if shift else "utf8", progress_callback=out_of_steps)
    except ValueError:  # how the binding reports a parse that its callback ended
        raise _too_laborious() from None
    if reads < 0:
        raise _too_laborious()
    return ParsedProgram(tree, shift)


def _too_laborious() -> CompileProblem:
    """A text that costs more than any honest text of its size."""
    return CompileProblem(
        "the program is too laborious to read; shorten it, or split it into several runs", None, compiler_code="size"
    )


def _check_depth(units: str) -> None:
    data, _ = encode(units)
    if sum(map(data.count, (b"(", b"[", b"{"))) <= MAX_BRACKET_DEPTH:
        return
    # Brackets inside strings count here too; only a text that seems too deep is looked at closely.
    steps = data.translate(_DEPTH_TABLE, _NO_BRACKETS)
    if max(accumulate(step - 1 for step in steps)) <= MAX_BRACKET_DEPTH:
        return
    deepest = lex(units, depth=MAX_BRACKET_DEPTH).too_deep
    if deepest is not None:
        raise CompileProblem(
            f"nested too deeply: more than {MAX_BRACKET_DEPTH} brackets are open here; "
            "flatten the expression or move parts of it into variables or functions",
            deepest,
            compiler_code="depth",
        )


def _check_chains(units: str, root: Node) -> None:
    """Operators nest without brackets, one level a character at most; short texts need no look."""
    if len(units) < _MAX_DEPTH:
        return
    cursor = root.walk()
    depth = 0
    while True:
        if cursor.goto_first_child():
            depth += 1
            if depth > _MAX_DEPTH:
                raise CompileProblem("nested too deeply: a chain of operators is too long", None, compiler_code="depth")
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


_USING: Final = re.compile(
    r"(?<![\w$.])(await[ \t]+)?using"
    r"(?=[ \t]+(?!(?:in|of|as|instanceof|satisfies)\b)[\w$]+[ \t]*[:=])"
)


_VARIANCE: Final = re.compile(r"(?<=[<,])\s*(?:in\s+out|in|out)(?=\s+[\w$]+\s*(?:[,>=]|extends\b))")
_NAME_LIKE_IN: Final = re.compile(r"(?<=[\n\u2028\u2029 \t])in(?=[\d_$])")
"""A line that begins so is taken for the operator `in`, and so for the rest of the line above."""
_GENERATOR_MEMBER: Final = re.compile(r"\n(?=[ \t]*\*[ \t]*[\w$#\[\"'][^\n]{0,400}\)[^\n]{0,400}\{)")
"""The grammar misses that a line end ends a field in front of a method that is a generator."""
_TYPE_AT_LINE_END: Final = re.compile(r"(\b(?:as|satisfies)[ \t]+[\w$.<>\[\]|& ]{1,200})\n(?=\s*[\[`])")


def _mask_gaps(units: str) -> str:
    lexed = lex(units)
    if lexed.problem is None:
        edits = Edits()
        for start, end in lexed.comments:
            edits.blank(start, end)
        units, _ = edits.apply(units)
    units = _VARIANCE.sub(lambda match: " " * len(match[0]), units)
    units = _NAME_LIKE_IN.sub("_n", units)
    units = _GENERATOR_MEMBER.sub(";", units)
    units = _TYPE_AT_LINE_END.sub(r"\1;", units)
    return _USING.sub(lambda match: " " * len(match[1] or "") + "const", units)
