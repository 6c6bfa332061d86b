"""How tests of commands run one, and what a complaint looks like."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Run", "complaint"]

Run = Callable[..., tuple[int, str, str]]
"""A command line's words in; exit code, standard output and standard error out."""


def complaint(result: tuple[int, str, str], *words: str) -> None:
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
