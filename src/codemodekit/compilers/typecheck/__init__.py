"""The optional type checker: the native TypeScript compiler, kept warm, looks at programs before they run."""

from codemodekit.compilers.typecheck.checker import TypeScriptChecker

__all__ = ["TypeScriptChecker"]
