"""Habits of models, mended where the meaning is plain, and noted.

Works on the text before it is parsed (code fences) and on the top level of the tree (a program that only defines a
function). Never returns a last expression: what a program does not return is discarded, and a note says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codemodekit.compilers.typescript.edits import Edits
from codemodekit.compilers.typescript.parsing import ParsedProgram
from codemodekit.compilers.typescript.problems import CompileProblem
from codemodekit.compilers.typescript.syntax import is_type_only

__all__ = ["FENCE_NOTE", "LoneFunction", "call_lone_function", "discarded_value", "fence_at", "unfence"]

FENCE_NOTE: Final = "The program was taken out of a code fence; the text around it was ignored. Send the code alone."

_FENCE: Final = re.compile(r"^[ \t]*(?P<mark>```+)[ \t]*(?P<language>[\w+#.-]*)[^\n`]*$", re.MULTILINE)


def fence_at(units: str) -> int | None:
    """Where the first code fence begins. In a program such a line can only be part of a comment."""
    match = _FENCE.search(units)
    return match.start("mark") if match is not None else None


def unfence(units: str) -> str | None:
    """The text with everything outside of its one code fence blanked; None if it has no fence.

    Raises:
        CompileProblem: more than one fence; which one is meant is not for us to say.
    """
    blocks = _blocks(units)
    if not blocks:
        return None
    if len(blocks) > 1:
        raise CompileProblem(
            f"the text holds {len(blocks)} code blocks; send one program, without fences",
            blocks[1][0],
            compiler_code="fence",
        )
    start, end = blocks[0]
    edits = Edits()
    edits.blank(0, start)
    edits.blank(end, len(units))
    return edits.apply(units)[0]


def _blocks(units: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(units):
        if opened is None:
            opened = match
        elif match["mark"].startswith(opened["mark"]) and not match["language"]:
            blocks.append((opened.end(), match.start()))
            opened = None
    if opened is not None:
        blocks.append((opened.end(), len(units)))
    return blocks


# --- the top level ----------------------------------------------------------------------------------------------------

_FUNCTION_VALUES: Final = frozenset({"arrow_function", "function_expression"})
_OFFERED: Final = {"tools": "tools", "context": "context", "ctx": "context", "console": "console"}


@dataclass(frozen=True, slots=True)
class _Candidate:
    statement: Node
    function: Node
    what: str


@dataclass(frozen=True, slots=True)
class LoneFunction:
    """What was done about a program that is nothing but one function."""

    note: str
    exported_at: int | None = None
    """The `export` that was taken away, so that it is not refused."""


def call_lone_function(units: str, parsed: ParsedProgram, edits: Edits) -> LoneFunction | None:
    """If the program is nothing but one function, have it called.

    A function whose parameters are named after the globals, or take them apart, is given those.
    """
    lone = _lone_function(parsed.root)
    if lone is None:
        return None
    arguments = _arguments(units, parsed, lone.function)
    if arguments is None:
        return LoneFunction(
            f"The program is nothing but {lone.what} with parameters nobody passes, so it was not called. "
            "Write the body at the top level and `return` the result."
        )
    start, end = parsed.span(lone.function)
    exported = parsed.span(lone.statement)[0] if lone.statement.type == "export_statement" else None
    if exported is not None:
        edits.blank(exported, start)
    name = lone.function.child_by_field_name("name")
    if lone.function.type == "function_declaration" and name is not None:
        edits.insert(end, f";return await {units[slice(*parsed.span(name))]}({arguments});")
    else:
        if lone.statement.type == "expression_statement":  # the function may stand in parentheses
            start, end = parsed.span(lone.statement.named_children[0])
        edits.insert(start, "return await (")
        edits.insert(end, f")({arguments})")
    return LoneFunction(
        f"The program is nothing but {lone.what}, so it was called and its result returned. "
        "Write the body at the top level and `return` the result.",
        exported,
    )


def _lone_function(root: Node) -> _Candidate | None:
    running = [child for child in root.named_children if not is_type_only(child)]
    if len(running) != 1:
        return None
    statement = running[0]
    if statement.type == "function_declaration":
        return _Candidate(statement, statement, "one function declaration")
    if statement.type == "expression_statement":
        function = _unwrapped(statement.named_children[0])
        return _Candidate(statement, function, "one function") if function.type in _FUNCTION_VALUES else None
    if statement.type == "export_statement" and any(child.type == "default" for child in statement.children):
        value = statement.child_by_field_name("value") or statement.child_by_field_name("declaration")
        if value is not None and value.type in _FUNCTION_VALUES | {"function_declaration"}:
            return _Candidate(statement, value, "an exported function")
    return None


def _unwrapped(node: Node) -> Node:
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def _arguments(units: str, parsed: ParsedProgram, function: Node) -> str | None:
    """What to call the function with; None if it wants something that does not exist."""
    single = function.child_by_field_name("parameter")
    parameters = function.child_by_field_name("parameters")
    if single is not None:
        return _OFFERED.get(units[slice(*parsed.span(single))])
    given: list[str] = []
    for parameter in parameters.named_children if parameters is not None else []:
        if parameter.type == "comment":
            continue
        pattern = parameter.child_by_field_name("pattern")
        if parameter.type == "optional_parameter" or parameter.child_by_field_name("value") is not None:
            break
        if pattern is None or pattern.type == "this" or pattern.type == "rest_pattern":
            continue
        if pattern.type == "object_pattern":
            given.append("{ tools, context, console }")
        elif (offered := _OFFERED.get(units[slice(*parsed.span(pattern))])) is not None:
            given.append(offered)
        else:
            return None
    return ", ".join(given)


_EFFECTS: Final = frozenset({"assignment_expression", "augmented_assignment_expression", "update_expression"})
_EFFECT_METHODS: Final = re.compile(r"(?:console\s*\.\s*\w+|.*\.\s*forEach)\Z", re.DOTALL)


def discarded_value(units: str, parsed: ParsedProgram) -> str | None:
    """A note if the last statement computes a value that is lost; the caller knows that nothing is returned.

    Plain effects are left alone: assignments, `++`, `delete`, `void`, calls of the console and of `forEach`. Any other
    call is noted, also of a tool: its result is what a program is usually run for.
    """
    statements = [child for child in parsed.root.named_children if not is_type_only(child)]
    if not statements or statements[-1].type != "expression_statement" or statements[-1].named_child_count == 0:
        return None
    expression = statements[-1].named_child(0)
    inner = _unwrapped(expression)
    if inner.type == "await_expression" and inner.named_child_count:
        inner = inner.named_children[0]
    if inner.type in _EFFECTS or (inner.type == "unary_expression" and inner.child(0).type in ("delete", "void")):
        return None
    if inner.type == "call_expression" and (function := inner.child_by_field_name("function")) is not None:
        start, end = parsed.span(function)
        if _EFFECT_METHODS.match(units, max(start, end - 200), end):
            return None
    start, end = parsed.span(expression)
    shown = " ".join(units[start:end][:60].split())
    line = units.count("\n", 0, start) + 1
    return (
        f"The value of the last expression (line {line}: `{shown}`) was discarded: a program gives back only what it "
        "returns. Write `return` in front of it to get the value."
    )
