"""Names and queries in, words out: `listPullRequests`, `list_pull_requests` and `list-pull-requests` read alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

__all__ = ["compact", "folded", "light_stem", "spaced", "terms", "words"]

_ASCII_PART: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_RUN: Final = re.compile(r"[^\W_]+")
_NUMBERED: Final = re.compile(r"([a-z]{3,})(\d+)")
_IDEOGRAPH: Final = re.compile(
    r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def words(text: str) -> list[str]:
    """The words of a name or query in lower case, in order: camel case is parted, digits stay with their letters."""
    return [word for run in _RUN.findall(folded(text)) for word in _parts(run)]


def _parts(run: str) -> Iterator[str]:
    if run.isascii():
        if run.islower():
            yield run
        else:
            for part in _ASCII_PART.findall(run):
                yield part.lower()
        return
    for piece in spaced(run).split():
        yield piece.casefold()


def folded(text: str) -> str:
    """The text without accents and other marks, its letters in the common form of Unicode: `é` however it is typed."""
    if text.isascii():
        return text
    bare = (letter for letter in unicodedata.normalize("NFKD", text) if unicodedata.category(letter) != "Mn")
    return unicodedata.normalize("NFC", "".join(bare))


def spaced(text: str) -> str:
    """The text with every letter of a script without spaces a word of its own."""
    return text if text.isascii() or not _IDEOGRAPH.search(text) else _IDEOGRAPH.sub(r" \g<0> ", text)


def terms(name: str) -> list[str]:
    """All words under which a name can be found: its words, numbered words without their number, the whole in one."""
    found = words(name)
    loose = [part for word in found if (match := _NUMBERED.fullmatch(word)) for part in match.groups()]
    whole = "".join(found)
    return [*found, *loose, *([whole] if len(found) > 1 and len(whole) <= 64 else ())]


def compact(text: str) -> str:
    """Letters and digits only, in one case: equal for all ways to write one name."""
    return "".join(_RUN.findall(folded(text))).casefold()


@lru_cache(maxsize=65_536)
def light_stem(word: str) -> str:
    """The word without the endings of plural and participle; only for comparing words with each other."""
    for ending, least, instead in (("ies", 5, "y"), ("sses", 6, "ss"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e")):
        if word.endswith(ending) and len(word) >= least:
            return _undoubled(word[: -len(ending)] + instead).removesuffix("e")
    stripped = word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
    return stripped.removesuffix("e") if len(stripped) > 3 else stripped


def _undoubled(stem: str) -> str:
    """`shipp` of `shipped` is `ship`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeiouls" else stem
