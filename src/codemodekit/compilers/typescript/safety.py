"""What is refused on the tree: ways out of the program, and TypeScript that is neither erased nor transformed.

The refusals are for good messages; the sandbox has no module loader and no code from text, whatever slips through. One
thing is decided here for good: that the text cannot end the function it is wrapped in. The parser has read it as whole
statements, and the few readings in which an engine could part from the parser (comments of HTML, `await` outside of
async functions) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.parsing import LANGUAGE, ParsedProgram
from codemodekit.compilers.typescript.problems import CompileProblem, unsafe, unsupported
from codemodekit.compilers.typescript.ranges import NamedRanges, Ranges
from codemodekit.compilers.typescript.syntax import is_type_only

__all__ = ["Guard", "check_global_calls", "check_html_comments"]

_MODULE_ADVICE: Final = "there are no modules here; everything a program may use is in the global `tools`"


class Guard:
    """Refuses captures, or erases those that hold types alone."""

    def __init__(self, units: str, edits: Edits, imports: Iterable[tuple[int, int]] = ()) -> None:
        self.units = units
        self.edits = edits
        self._import_calls = list(imports)

    def import_(self, start: int, end: int, node: Node) -> None:
        if not is_type_only(node):
            raise unsafe(f"`import` is not available: {_MODULE_ADVICE}", start, end, "import")
        self._erase(start, end)

    def export(self, start: int, end: int, node: Node) -> None:
        if not is_type_only(node):
            raise unsafe(
                "`export` is not available: a program is no module; `return` the result instead", start, end, "export"
            )
        self._erase(start, end)

    def namespace(self, start: int, end: int, node: Node) -> None:
        if not is_type_only(node):
            raise unsupported(
                "a namespace with values is not supported; use a plain object instead", start, end, "namespace"
            )
        self._erase(start, end)

    def import_alias(self, start: int, end: int, _node: Node) -> None:
        raise unsafe("`import x = …` is not available; write `const x = …` instead", start, end, "import")

    def import_call(self, start: int, end: int, _node: Node) -> None:
        self._import_calls.append((start, end))

    def meta(self, start: int, end: int, _node: Node) -> None:
        if self.units.startswith("import", start):
            raise unsafe(f"`import.meta` is not available: {_MODULE_ADVICE}", start, end, "import")

    def decorator(self, start: int, end: int, _node: Node) -> None:
        raise unsupported(
            "decorators are not supported; call the function on the class or value", start, end, "decorator"
        )

    def accessor(self, start: int, end: int, _node: Node) -> None:
        raise unsupported("`accessor` is not supported; write a `get` and a `set` method", start, end, "accessor")

    def html_comment(self, start: int, end: int, _node: Node) -> None:
        raise _html_comment(start, end)

    def finish(self) -> None:
        """Refuse the calls of `import` that are no part of an erased type, such as `typeof import("x")`."""
        erased = Ranges(self.edits.blanks if self._import_calls else ())
        for start, end in self._import_calls:
            if not erased.covers(start):
                raise unsafe(f"`import()` is not available: {_MODULE_ADVICE}", start, end, "import")

    def _erase(self, start: int, end: int) -> None:
        self.edits.blank(start, end)
        self.edits.put(start, ";")


_HTML_COMMENT: Final = re.compile(r"<!--|(?:^|(?<=[\n\r\u2028\u2029])|(?<=\*/))[^\S\n\r\u2028\u2029]*-->", re.MULTILINE)
_TEXT_NODES: Final = frozenset(
    {"string_fragment", "comment", "regex_pattern", "escape_sequence", "template_string", "string"}
)


def check_html_comments(units: str, parsed: ParsedProgram) -> None:
    """Refuse what an engine takes for a comment and the parser does not.

    Raises:
        CompileProblem: `<!--`, or `-->` at the start of a line, outside of strings and comments.
    """
    if "<!--" not in units and "-->" not in units:
        return
    for match in _HTML_COMMENT.finditer(units):
        end = match.end()
        if parsed.type_at(end - 1) not in _TEXT_NODES:
            raise _html_comment(end - len(match[0].lstrip()), end)


def _html_comment(start: int, end: int) -> CompileProblem:
    return unsafe(
        "`<!--` and `-->` begin comments of HTML, which are not accepted; put spaces between the operators",
        start,
        end,
        "html-comment",
    )


# --- calls of globals that would run text ---------------------------------------------------------------------------

_GLOBALS: Final = re.compile(r"\b(?:eval|require|Function)\b")
_ADVICE: Final = {
    "require": f"`require()` is not available: {_MODULE_ADVICE}",
    "eval": "`eval()` is not available: code cannot be made from text here; write it out",
    "Function": "`Function()` is not available: code cannot be made from text here; write a function instead",
}
# The names are compared by us: a predicate of the query would compare bytes, which are UTF-16 in most programs.
_NAMES: Final = Query(LANGUAGE, "[(identifier) (shorthand_property_identifier_pattern) (type_identifier)] @name")
_WRAPPERS: Final = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
)
_PATTERNS: Final = frozenset(
    {
        "object_pattern",
        "array_pattern",
        "pair_pattern",
        "assignment_pattern",
        "object_assignment_pattern",
        "rest_pattern",
    }
)
_FUNCTIONS: Final = frozenset(
    {
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "arrow_function",
        "method_definition",
        "class_static_block",
        "program",
    }
)
_BLOCKS: Final = _FUNCTIONS | {
    "statement_block",
    "class_body",
    "switch_body",
    "for_statement",
    "for_in_statement",
    "catch_clause",
}


def check_global_calls(units: str, parsed: ParsedProgram, edits: Edits) -> None:
    """Refuse calls of the global `require`, `eval` and `Function`; a local of that name is nobody's business.

    Raises:
        CompileProblem: such a call.
    """
    if not _GLOBALS.search(units):
        return
    named: list[tuple[int, Node, str]] = []
    local, erased = NamedRanges(), Ranges(edits.blanks)
    nodes = QueryCursor(_NAMES).captures(parsed.root).get("name", [])
    for node in sorted(nodes, key=lambda found: found.start_byte):
        start, end = parsed.span(node)
        if units[start:end] not in _ADVICE or erased.covers(start):
            continue
        scope = _binds(node)
        if scope is not None:
            local.add(units[start:end], scope.byte_range)
        elif _is_called(node):
            named.append((node.start_byte, node, units[start:end]))
    for at, node, name in named:
        if not local.covers(name, at):
            raise unsafe(_ADVICE[name], *parsed.span(node), name)


def _is_called(node: Node) -> bool:
    inner, parent = node, node.parent
    while parent is not None and parent.type in _WRAPPERS and parent.named_child(0) == inner:
        inner, parent = parent, parent.parent
    if parent is None or parent.type not in ("call_expression", "new_expression"):
        return False
    field = "function" if parent.type == "call_expression" else "constructor"
    return parent.child_by_field_name(field) == inner


def _binds(node: Node) -> Node | None:
    """The node in which the name is known if this mention declares it, else None."""
    inner, parent = node, node.parent
    while parent is not None and parent.type in _PATTERNS:
        if parent.type in ("assignment_pattern", "object_assignment_pattern") and parent.named_child(0) != inner:
            return None
        if parent.type == "pair_pattern" and parent.child_by_field_name("value") != inner:
            return None
        inner, parent = parent, parent.parent
    if parent is None:
        return None
    kind = parent.type
    if kind == "variable_declarator":
        if parent.child_by_field_name("name") != inner:
            return None
        owner = parent.parent
        return _enclosing(parent, _FUNCTIONS if owner is not None and owner.type == "variable_declaration" else _BLOCKS)
    if kind in ("function_expression", "class") and parent.child_by_field_name("name") == inner:
        return parent
    if kind in (
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
    ):
        return _enclosing(parent, _BLOCKS) if parent.child_by_field_name("name") == inner else None
    if kind in ("required_parameter", "optional_parameter") and parent.child_by_field_name("pattern") == inner:
        return _enclosing(parent, _FUNCTIONS)
    if kind == "arrow_function" and parent.child_by_field_name("parameter") == inner:
        return parent
    if kind == "catch_clause" and parent.child_by_field_name("parameter") == inner:
        return parent
    if kind == "for_in_statement" and parent.child_by_field_name("left") == inner:
        return parent if parent.child_by_field_name("kind") is not None else None
    return None


def _enclosing(node: Node, kinds: frozenset[str]) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type not in kinds:
        parent = parent.parent
    return parent
