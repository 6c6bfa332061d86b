"""Loads a file of docs_src or examples as a module, without the import path having to know the folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

__all__ = ["load_source"]


def load_source(path: Path) -> Any:
    """The module of a file; a fresh one each time."""
    name = f"documented_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    spec.loader.exec_module(module)
    return module
