"""Objects that are written out in the text of a type: which names they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["objects_in"]

_TOKEN: Final = re.compile(
    r'[{}]|(?<!\[)(?:(?P<word>\b[A-Za-z_$][\w$]*)|(?P<quoted>"(?:[^"\\]|\\.)*"))(?P<member>\??:)?'
)


def objects_in(text: str) -> Iterator[tuple[str, ...]]:
    """The names of each object in the text, inner ones before the one around them."""
    around: list[list[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            around.append([])
        elif token[0] == "}":
            if around:
                yield tuple(around.pop())
        elif token["member"] and around:
            around[-1].append(token["word"] or token["quoted"][1:-1])
