"""Python objects that a config names as `module:attribute`, whatever their modules do when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from codemodekit.errors import SourceLost

__all__ = ["imported"]


def imported(module: str, attribute: str, *, folders: Sequence[Path] = ()) -> Any:
    """The object, looked for on the import path and then in `folders`. Runs the module's code: may take its time.

    Raises:
        SourceLost: it cannot be imported, or there is none; the message says which.
    """
    found = _module(module, folders)
    try:
        return reduce(getattr, attribute.split("."), found)
    except AttributeError:
        raise SourceLost(f"module {module!r} has no attribute {attribute!r}") from None


def _module(name: str, folders: Sequence[Path]) -> Any:
    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        return import_module(name)
    except ImportError as error:
        raise SourceLost(f"cannot import {name!r}: {error}") from error
    except SyntaxError as error:
        raise SourceLost(f"importing {name!r} failed: {error}") from error
    except BaseException as error:  # whatever the module does when it is imported: leave, interrupt, cancel
        raise SourceLost(f"importing {name!r} failed with {type(error).__name__}") from error
