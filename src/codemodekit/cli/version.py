"""The version of this package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["package_version"]


def package_version() -> str:
    """As installed; a checkout on the import path has none."""
    try:
        return version("codemodekit")
    except PackageNotFoundError:
        return "0+checkout"
