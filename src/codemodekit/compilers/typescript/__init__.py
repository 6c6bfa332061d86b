"""TypeScript programs: their types erased in place, what cannot run refused with its place, habits of models mended."""

from codemodekit.compilers.typescript.compiler import TypeScriptCompiler

__all__ = ["TypeScriptCompiler"]
