"""TypeScript text to a Program: the one JavaScript function a sandbox runs, at the places the model wrote.

In: any text. Out: a `Program`, or a `Diagnostic` that says where and why not. Runs nothing, knows neither tools nor
sandbox; `code_mode` calls it, the sandbox takes what it makes. The engine's parser has the last word on JavaScript:
what it refuses, it refuses before anything runs, and its places come back through `Program.locate`.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from codemodekit.compilers.typescript import recovery, safety
from codemodekit.compilers.typescript.early_errors import check_private_names
from codemodekit.compilers.typescript.edits import Edits, Insertions
from codemodekit.compilers.typescript.erasing import Eraser
from codemodekit.compilers.typescript.parsing import ParsedProgram, parse
from codemodekit.compilers.typescript.problems import CompileProblem
from codemodekit.compilers.typescript.syntax import Capture, captures
from codemodekit.compilers.typescript.syntax_errors import explain
from codemodekit.compilers.typescript.text import SourceText, join_surrogates
from codemodekit.compilers.typescript.transforms import Transformer
from codemodekit.contracts import Program, TypedText
from codemodekit.diagnostics import Diagnostic, Location

__all__ = ["TypeScriptCompiler"]

_PREFIX: Final = '(async function () { "use strict";\n'
_SUFFIX: Final = "\n})"
_PREFIX_LINES: Final = 1


class TypeScriptCompiler:
    """Compiles programs and remembers the outcomes of the latest texts. Safe to share between threads."""

    def __init__(self, *, cache_entries: int = 256, cache_bytes: int = 8 * 1024 * 1024) -> None:
        self._cache = _OutcomeCache(cache_entries, cache_bytes)

    def compile(self, source: str) -> Program | Diagnostic:
        """The program of a text, or why there is none. Never raises, whatever the text holds."""
        key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
        outcome = self._cache.get(key)
        if outcome is None:
            outcome = _compile(source)
            self._cache.put(key, outcome, len(source))
        return outcome


def _compile(source: str) -> Program | Diagnostic:
    text = SourceText(source)
    try:
        if text.unspeakable is not None:
            raise CompileProblem(
                "the text holds a character that cannot be handed on (NUL, or half of a surrogate pair); "
                "write it as an escape such as `\\u0000`",
                text.unspeakable,
                text.unspeakable + 1,
                compiler_code="character",
            )
        units, parsed, notes = _read(text)
        return _Translation(units, parsed, notes).program(text)
    except CompileProblem as problem:
        return problem.diagnostic(text)


def _read(text: SourceText) -> tuple[str, ParsedProgram, list[str]]:
    """The tree of the text, or of what stands in its one code fence."""
    parsed = parse(text.units)
    fence = recovery.fence_at(text.units)
    if parsed is not None and (fence is None or parsed.type_at(fence) == "comment"):
        return text.units, parsed, []
    inside = recovery.unfence(text.units)
    if inside is None:
        raise explain(text, text.units)
    parsed = parse(inside)
    if parsed is None:
        raise explain(text, inside)
    return inside, parsed, [recovery.FENCE_NOTE]


class _Translation:
    """One program on its way from tree to JavaScript."""

    def __init__(self, units: str, parsed: ParsedProgram, notes: list[str]) -> None:
        self.units = units
        self.parsed = parsed
        self.notes = notes
        self.edits = Edits()
        self.transformer = Transformer(units, parsed, self.edits)
        self.returns: list[int] = []
        """Where the program itself returns."""
        self.lone: recovery.LoneFunction | None = None
        self._functions: list[tuple[int, bool]] = []
        """Ends of the functions we are in, and whether they are async; the program itself is not among them."""
        self._erased_to = 0
        eraser = Eraser(units, parsed, self.edits)
        self.edits.blanks += parsed.erased
        self.guard = guard = safety.Guard(units, self.edits, parsed.imports)
        self._handlers = {
            "type": eraser.blank,
            "modifier": eraser.blank,
            "first_modifier": eraser.first_modifier,
            "statement": eraser.statement,
            "this_parameter": eraser.this_parameter,
            "arrow_return": eraser.arrow_return,
            "arrow_parameters": eraser.arrow_parameters,
            "conversion": eraser.conversion,
            "non_null": eraser.non_null,
            "assertion": eraser.assertion,
            "field_name": eraser.field_name,
            "import": guard.import_,
            "export": guard.export,
            "namespace": guard.namespace,
            "import_alias": guard.import_alias,
            "import_call": guard.import_call,
            "meta": guard.meta,
            "decorator": guard.decorator,
            "accessor": guard.accessor,
            "html_comment": guard.html_comment,
            "enum": self.transformer.enum,
            "parameter_property": self.transformer.parameter_property,
            "function": self._function,
            "field_value": self._field_value,
            "await": self._await,
            "return": self._return,
        }

    def program(self, text: SourceText) -> Program:
        """Raises: CompileProblem."""
        self.lone = recovery.call_lone_function(self.units, self.parsed, self.edits)
        mended, moved = self.edits.apply(self.units)
        for capture in captures(self.parsed):
            self._take(capture)
        self.transformer.finish()
        self.guard.finish()
        safety.check_html_comments(self.units, self.parsed)
        check_private_names(self.units, self.parsed)
        safety.check_global_calls(self.units, self.parsed, self.edits)
        if self.lone is not None:
            self.notes.append(self.lone.note)
        discarded = None if self.returns or self.lone is not None else recovery.discarded_value(self.units, self.parsed)
        body, insertions = self.edits.apply(self.units)
        return Program(
            source=text.source,
            javascript=_PREFIX + join_surrogates(body) + _SUFFIX,
            locate=_Locator(text, SourceText(join_surrogates(body)), insertions),
            typed=None if mended == body else _typed(text, mended, moved),
            notes=tuple(self.notes),
            discarded=discarded,
            returned_at=text.location(self.returns[0]) if len(self.returns) == 1 else None,
        )

    def _take(self, capture: Capture) -> None:
        start, end, name, node = capture
        if start < self._erased_to and name not in _SEE_ERASED:
            return
        if name == "export" and self.lone is not None and self.lone.exported_at == start:
            return
        self._handlers[name](start, end, node)
        if name in _ERASE_ALL:
            self._erased_to = max(self._erased_to, end)

    def _function(self, start: int, end: int, node: Node) -> None:
        self._leave(start)
        self._functions.append((end, _is_async(node)))

    def _field_value(self, start: int, end: int, _node: Node) -> None:
        """The value of a field is a function of its own: an engine reads `await` in it as a name."""
        self._leave(start)
        self._functions.append((end, False))

    def _await(self, start: int, _end: int, _node: Node) -> None:
        self._leave(start)
        if self._functions and not self._functions[-1][1]:
            raise CompileProblem(
                "`await` in a function or field that is not async; write `async` in front of the function around it",
                start,
                start + 5,
                compiler_code="await",
            )

    def _return(self, start: int, _end: int, _node: Node) -> None:
        self._leave(start)
        if not self._functions:
            self.returns.append(start)

    def _leave(self, at: int) -> None:
        while self._functions and self._functions[-1][0] <= at:
            self._functions.pop()


def _typed(text: SourceText, units: str, insertions: Insertions) -> TypedText:
    """The program before anything was erased, in the same function."""
    body = join_surrogates(units)
    return TypedText(_PREFIX + body + _SUFFIX, _Locator(text, SourceText(body), insertions))


_ERASE_ALL: Final = frozenset({"type", "statement", "import", "export", "namespace"})
"""Nothing inside of these is looked at again."""
_SEE_ERASED: Final = frozenset({"arrow_return", "arrow_parameters", "field_name"})
"""These sit on a type that is erased itself."""


def _is_async(node: Node) -> bool:
    if node.type == "method_definition":
        return any(child.type == "async" for child in node.children)
    return node.child_count > 0 and node.child(0).type == "async"


@dataclass(frozen=True, slots=True)
class _Locator:
    """From a place in the JavaScript to the place in the text it came from."""

    text: SourceText
    body: SourceText
    insertions: Insertions = field(default_factory=Insertions)

    def __call__(self, line: int, column: int) -> Location | None:
        offset = self.body.offset(line - _PREFIX_LINES, column)
        return None if offset is None else self.text.location(self.insertions.origin(offset))


class _OutcomeCache:
    """The latest outcomes, bounded by number and by size of the texts."""

    def __init__(self, entries: int, size: int) -> None:
        self._entries = entries
        self._size = size
        self._held = 0
        self._lock = threading.Lock()
        self._outcomes: OrderedDict[bytes, tuple[Program | Diagnostic, int]] = OrderedDict()

    def get(self, key: bytes) -> Program | Diagnostic | None:
        with self._lock:
            found = self._outcomes.get(key)
            if found is None:
                return None
            self._outcomes.move_to_end(key)
            return found[0]

    def put(self, key: bytes, outcome: Program | Diagnostic, size: int) -> None:
        with self._lock:
            if size > self._size or key in self._outcomes:
                return
            self._outcomes[key] = (outcome, size)
            self._held += size
            while len(self._outcomes) > self._entries or self._held > self._size:
                _, (_, dropped) = self._outcomes.popitem(last=False)
                self._held -= dropped
