"""Makes the edits of engine_edits.txt in the engine's source, which says there why. Usage: engine_edits.py quickjs.c

A source in which what is to be replaced does not occur exactly once is another version, and is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

EDITS = Path(__file__).with_name("engine_edits.txt")


def edits(text: str) -> Iterator[tuple[str, str, str]]:
    """What each edit belongs to, the lines as they are, and as they are to be."""
    for edit in text.split("\n@@ ")[1:]:
        title, _, lines = edit.partition("\n")
        given, _, wanted = lines.partition("\n=>\n")
        yield title, f"{given}\n", wanted.removesuffix("\n") + "\n"


def edited(source: str, text: str) -> str:
    """The engine's source with all edits made.

    Raises:
        ValueError: it is not the version the edits are made for.
    """
    for title, given, wanted in edits(text):
        if source.count(given) != 1:
            raise ValueError(f"an edit of engine_edits.txt ({title}) does not fit this version of the engine")
        source = source.replace(given, wanted)
    return source


def main() -> None:
    engine = Path(sys.argv[1])
    try:
        text = edited(engine.read_text(encoding="utf-8"), EDITS.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SystemExit(str(error)) from None
    engine.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
