"""Compilers: one folder a language, each an implementation of `contracts.CodeCompiler`."""
