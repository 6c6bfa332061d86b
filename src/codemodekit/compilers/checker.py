"""What a type checker of programs is asked, and what it answers.

`code_mode` asks before a program runs; `typecheck` is the implementation. A checker only ever keeps a program from
running for a mistake about tools, and a program it could not check runs all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codemodekit.catalog.snapshot import Catalog
from codemodekit.contracts import Program
from codemodekit.diagnostics import Diagnostic

__all__ = ["TypeCheck", "TypeChecker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCheck:
    """The outcome of one check."""

    checked: bool
    """Whether the program's use of tools was looked at; if not, a note says why."""
    error: Diagnostic | None = None
    """A mistake about tools: the program must not run."""
    notes: tuple[str, ...] = ()
    """What the model should know besides; nothing of it stands in the program's way."""


class TypeChecker(Protocol):
    """Checks programs against the tools of a catalogue, without running anything of them."""

    async def start(self) -> None:
        """Get ready in the background, and return at once. Twice is fine."""
        ...

    async def check(self, program: Program, catalog: Catalog, sources: Sequence[str]) -> TypeCheck:
        """Check one program. `sources` are the configured ones; those that `catalog` lacks have not listed yet.

        Never raises for anything the program or a schema holds, and answers within a bound.
        """
        ...

    async def aclose(self) -> None:
        """End everything that was started. Twice is fine."""
        ...
