"""From the compiler's complaints about a program to the mistakes about tools among them.

Every rule answers one question: can the program have meant this, with the tools there are? Only a no is a mistake. What
a rule does not know for certain is left to the notes, and to the validation that every call passes at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from codemodekit.compilers.typecheck.arguments import ArgumentRules
from codemodekit.compilers.typecheck.compiler import Complaint
from codemodekit.compilers.typecheck.mistakes import Mistake
from codemodekit.compilers.typecheck.reading import ReadingRules
from codemodekit.compilers.typecheck.scene import Scene

__all__ = ["mistakes_in"]

_MOST: Final = 8


def mistakes_in(scene: Scene, complaints: Sequence[Complaint]) -> list[Mistake]:
    """The mistakes, in the order of the program, at most eight."""
    reading, arguments = ReadingRules(scene, complaints), ArgumentRules(scene)
    found: list[Mistake] = []
    for complaint in complaints:
        node = scene.node(complaint)
        if node is None:
            continue
        mistake = reading.mistake(complaint, node) or arguments.mistake(complaint, node)
        if mistake is not None:
            found.append(mistake)
        if len(found) == _MOST:
            break
    return found
