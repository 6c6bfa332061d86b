"""Everything a rule looks at: the program's tree, what its names are bound to, the declarations, the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from codemodekit.catalog.snapshot import Catalog
from codemodekit.compilers.typecheck.bindings import Bindings
from codemodekit.compilers.typecheck.compiler import Complaint
from codemodekit.compilers.typecheck.declared import Declarations, DeclaredTool
from codemodekit.compilers.typecheck.mistakes import Mistake, MistakeKind, cut
from codemodekit.compilers.typecheck.syntax import ProgramSyntax
from codemodekit.compilers.typescript.text import SourceText

__all__ = ["Scene"]


@dataclass(frozen=True)
class Scene:
    """One program among the tools it may use."""

    javascript: str
    """What the complaints are about."""
    declared: Declarations
    catalog: Catalog
    sources: Sequence[str]

    @cached_property
    def text(self) -> SourceText:
        return SourceText(self.javascript)

    @cached_property
    def syntax(self) -> ProgramSyntax:
        return ProgramSyntax(self.text.units)

    @cached_property
    def bindings(self) -> Bindings:
        return Bindings(self.syntax)

    def prepare(self) -> None:
        """Do now what takes a while with a long program; may be called in a thread."""
        _ = self.bindings

    def node(self, complaint: Complaint) -> Node | None:
        """What a complaint is about."""
        start, end = self._offset(complaint.start), self._offset(complaint.end)
        return None if start is None or end is None else self.syntax.covering(start, end)

    def called_by(self, call: Node) -> DeclaredTool | None:
        """The tool that a call is certain to call."""
        function = call.child_by_field_name("function")
        address = None if function is None else self.bindings.address(function)
        return None if address is None else self.declared.at(address)

    def mistake(
        self,
        complaint: Complaint,
        kind: MistakeKind,
        message: str,
        *,
        source: str | None = None,
        tool: str | None = None,
    ) -> Mistake:
        return Mistake(
            kind=kind,
            message=message,
            start=complaint.start,
            end=complaint.end,
            code=complaint.code,
            source=None if source is None else cut(source),
            tool=None if tool is None else cut(tool),
        )

    def _offset(self, place: tuple[int, int]) -> int | None:
        return self.text.offset(place[0] + 1, place[1] + 1)
