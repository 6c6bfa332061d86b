"""A reason to refuse a program, raised where it is found and turned into a Diagnostic in one place.

Stays inside this package: `TypeScriptCompiler.compile` never raises.
"""

from __future__ import annotations

import re

from codemodekit.compilers.typescript.text import SourceText
from codemodekit.diagnostics import Diagnostic, DiagnosticCode, code_frame

__all__ = ["CompileProblem", "unsafe", "unsupported"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class CompileProblem(Exception):
    """The program is refused; offsets are UTF-16 units of its text."""

    def __init__(
        self,
        message: str,
        start: int | None,
        end: int | None = None,
        *,
        code: DiagnosticCode = DiagnosticCode.COMPILE_ERROR,
        compiler_code: str = "syntax",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.code = code
        self.compiler_code = compiler_code

    def diagnostic(self, text: SourceText) -> Diagnostic:
        if self.start is None:
            return Diagnostic(code=self.code, message=self.message, compiler_code=self.compiler_code)
        location = text.location(self.start, self.end)
        return Diagnostic(
            code=self.code,
            message=self.message,
            location=location,
            # The frame is shown as text: half a surrogate pair would spoil it on the way.
            frame=code_frame(_SURROGATE.sub("�", text.source), location),
            compiler_code=self.compiler_code,
        )


def unsafe(message: str, start: int, end: int, compiler_code: str) -> CompileProblem:
    """Syntax that would lead out of the program."""
    return CompileProblem(message, start, end, code=DiagnosticCode.UNSAFE_SYNTAX, compiler_code=compiler_code)


def unsupported(message: str, start: int, end: int, compiler_code: str) -> CompileProblem:
    """Syntax that is TypeScript but cannot be carried out here."""
    return CompileProblem(message, start, end, compiler_code=compiler_code)
