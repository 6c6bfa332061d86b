"""What people see: text on standard output, or one JSON value; progress on standard error while somebody watches."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

from rich.console import Console, Group
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

__all__ = ["console", "for_people", "highlighted", "print_json", "stray_prints_to_stderr", "table", "waiting"]


_UNFOLDED: Final = 1000
_WIDEST_WHOLE: Final = 0.6


def console() -> Console:
    """Standard output: colour on a terminal only, nothing folded elsewhere, and text of tools never read as markup."""
    width = None if sys.stdout.isatty() else _UNFOLDED
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=width is not None, width=width)


def print_json(value: Any) -> None:
    """One JSON value, indented on a terminal; ASCII, so that any terminal and pipe can carry it."""
    sys.stdout.write(json.dumps(value, indent=2 if sys.stdout.isatty() else None) + "\n")


def highlighted(code: str, language: str, *, lines: tuple[int, int] | None = None, mark: int | None = None) -> Syntax:
    """Code in colour; with `lines` only these, numbered, the line `mark` set off."""
    return Syntax(
        code,
        language,
        theme="ansi_dark",  # names no colour for most of the text, so it can be read on a light terminal too
        background_color="default",
        line_numbers=lines is not None,
        line_range=lines,
        highlight_lines=None if mark is None else {mark},
        word_wrap=True,
    )


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    whole: str | None = None,
    most: int | None = None,
) -> Group:
    """A table of text; cells keep brackets and control characters out of the terminal's hands.

    Cells of the column `whole` are for copying: where they leave room for the rest, they stay on one line. Of more rows
    than `most` the first are shown, and how many are not.
    """
    left_out = 0 if most is None else max(len(rows) - most, 0)
    rows = rows[: len(rows) - left_out]
    made = Table(header_style="bold", box=None, pad_edge=False)
    for place, column in enumerate(columns):
        longest = max((len(str(row[place])) for row in rows), default=0)
        kept = column == whole and longest <= console().width * _WIDEST_WHOLE
        made.add_column(column, overflow="fold", no_wrap=kept)
    for row in rows:
        made.add_row(*(Text(_visible(str(cell))) for cell in row))
    more = [Text(f"… and {left_out:,} more; --json lists all")] if left_out else []
    return Group(Text(title, style="bold"), made, *more)  # a title of the table's own is folded to the table's width


def for_people(text: str) -> str:
    """Text of tools and programs, for a terminal without the control characters it would obey; elsewhere as it is."""
    return _visible(text) if sys.stdout.isatty() else text


def _visible(text: str) -> str:
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)


@contextmanager
def stray_prints_to_stderr() -> Iterator[None]:
    """While code of others runs in this process: what it prints is not our answer, nor what its children print."""
    with redirect_stdout(sys.stderr):
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Says on standard error that something takes a moment, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(what):
        yield
