"""Errors the grammar does not know and the engine reports without a place: private names that no class declares.

Other early errors (a name declared twice, `break` outside of a loop) are left to the engine, which refuses the program
before any of it runs and says where.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typescript.parsing import LANGUAGE, ParsedProgram
from codemodekit.compilers.typescript.problems import CompileProblem
from codemodekit.compilers.typescript.ranges import NamedRanges

__all__ = ["check_private_names"]

_PRIVATE: Final = Query(
    LANGUAGE,
    """
    (public_field_definition name: (private_property_identifier) @declared)
    (method_definition name: (private_property_identifier) @declared)
    (private_property_identifier) @used
    """,
)


def check_private_names(units: str, parsed: ParsedProgram) -> None:
    """Refuse a private name that no class around it declares.

    Raises:
        CompileProblem: such a name.
    """
    if "#" not in units:
        return
    found = QueryCursor(_PRIVATE).captures(parsed.root)
    if "used" not in found:
        return
    declared = NamedRanges()
    for node in found.get("declared", []):
        member = node.parent
        body = member.parent if member is not None else None
        if body is not None:
            declared.add(_name(units, parsed, node), body.byte_range)
    for node in sorted(found["used"], key=lambda used: used.start_byte):
        name = _name(units, parsed, node)
        if not declared.covers(name, node.start_byte):
            start, end = parsed.span(node)
            raise CompileProblem(
                f"the private name `{name}` is declared by no class around this place; "
                "declare it there, or use a property without `#`",
                start,
                end,
                compiler_code="private-name",
            )


def _name(units: str, parsed: ParsedProgram, node: Node) -> str:
    return units[slice(*parsed.span(node))]
