"""The text of a query in, the terms to look for out: noise left out, slips mended, joined and parted words tried.

Knows the vocabulary of the index, not its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Final

from codemodekit.catalog.index import Term
from codemodekit.catalog.spelling import Vocabulary
from codemodekit.catalog.words import light_stem, words

__all__ = ["terms_of"]

_MOST_TERMS: Final = 16
_SHORTEST_PARTED: Final = 6
_NOISE: Final = frozenset(
    word
    for line in (
        "a about all an and any are as at be by can do does for from give has have how i if in into is it its let",
        "me my need of on or please some that the then there this to tool tools use using want was we what when",
        "where which with you your",
    )
    for word in line.split()
)
"""Words that say nothing about a tool."""


def terms_of(query: str, vocabulary: Vocabulary, occurs: Callable[[str], bool]) -> list[Term]:
    """The terms of a query, in its order; one that nothing resembles is left out."""
    asked = list(dict.fromkeys(words(query)))
    telling = [word for word in asked if word not in _NOISE] or asked
    terms = [_term(word, vocabulary, occurs) for word in telling[:_MOST_TERMS]]
    joined = _joined(telling[:_MOST_TERMS], vocabulary)
    found: dict[str, Term] = {}
    for word, term in zip(telling, terms, strict=False):
        choices = tuple(dict.fromkeys((*term.choices, *joined.get(word, ()))))
        if choices or term.prefix or term.guesses:
            found.setdefault(light_stem(word), replace(term, choices=choices))
    return list(found.values())


def _term(word: str, vocabulary: Vocabulary, occurs: Callable[[str], bool]) -> Term:
    parted = vocabulary.parted(word) if len(word) >= _SHORTEST_PARTED else None
    phrase = (" ".join(parted),) if parted else ()
    if word in vocabulary or occurs(word):
        return Term((word, *phrase))
    prefix = word if len(word) >= 3 and vocabulary.has_prefix(word) else None
    letters = word.rstrip("0123456789")
    numbered = (letters,) if letters != word and (letters in vocabulary or occurs(letters)) else ()
    return Term((*numbered, *phrase), prefix, vocabulary.meant(word))


def _joined(asked: list[str], vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    """For `git hub` where only `github` is known: the joined word, counted for either."""
    found: dict[str, tuple[str, ...]] = {}
    for one, other in pairwise(asked):
        if one + other in vocabulary:
            for word in (one, other):
                found[word] = (*found.get(word, ()), one + other)
    return found
