"""A query in, the tools that deserve a close look out, from strict to loose.

Ranking costs some microseconds a row, and most words of a query are in thousands of tools of a large catalogue: so the
rarest words are asked for together first, and all others only for pages that nobody sees before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Final

from codemodekit.catalog.search.index import Hit, SearchIndex
from codemodekit.catalog.search.query import Query, Term

__all__ = ["Candidates", "candidates_of"]

_ENOUGH: Final = 48
"""A step is the last one when there are so many."""
_A_STEP: Final = 120
_MOST_PAIRED: Final = 5
_HEAD: Final = 0.8


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a query matches."""

    total: int
    """Tools that match it in any way."""
    close: tuple[Hit, ...]
    """The ones to be ranked; independent of how many are wanted."""
    weights: tuple[float, ...]
    """How much each term of the query says: the rarer the more."""
    anyone: str
    """The expression that all of them match."""


def candidates_of(query: Query, index: SearchIndex, sources: Sequence[str]) -> Candidates:
    """The tools of these sources that match the query."""
    counts = [index.count(term.expression()) for term in query.terms]
    size = index.size
    weights = _weights(query.terms, [log(1 + (size - count + 0.5) / (count + 0.5)) for count in counts])
    anyone = " OR ".join(_wide(query))
    found: dict[Hit, None] = {}
    for place in _places(query, sources):
        for step in _steps(query.terms, weights):
            if len(found) >= _ENOUGH and place is sources:
                break
            found.update(dict.fromkeys(index.best(step, place, _A_STEP)))
    return Candidates(index.count(anyone, sources), tuple(found), weights, anyone)


def _weights(terms: Sequence[Term], rarities: Sequence[float]) -> tuple[float, ...]:
    """What each term says: the rarer the more, and the noun that is wanted hardly less than what tells about it."""
    most = max(rarities, default=0.0)
    return tuple(
        max(rarity, _HEAD * most) if term.is_head else rarity for term, rarity in zip(terms, rarities, strict=True)
    )


def _wide(query: Query) -> Iterator[str]:
    """Each term; of what shall be done only the word itself, unless it is all that was asked."""
    things = [term for term in query.terms if not term.is_action]
    for term in query.terms:
        if not things:
            yield term.expression()
        elif not term.is_action or term.choices:
            yield term.meant()


def _places(query: Query, sources: Sequence[str]) -> Iterator[Sequence[str]]:
    named = [source for source in sources if source in query.sources]
    if named and len(named) < len(sources):
        yield named
    yield sources


def _steps(terms: Sequence[Term], weights: Sequence[float]) -> Iterator[str]:
    """Expressions from strict to loose: all terms, without the commonest, two of the rarest, one in names, one."""
    order = sorted(range(len(terms)), key=lambda place: (-weights[place], place))
    rare = [terms[place] for place in order]
    if len(rare) > 1:
        yield f"name : ({' AND '.join(term.expression() for term in rare)})"
    for count in range(len(rare), 1, -1):
        yield " AND ".join(term.expression() for term in rare[:count])
    if len(rare) > 2:
        yield " OR ".join(
            f"({one.expression()} AND {other.expression()})" for one, other in combinations(rare[:_MOST_PAIRED], 2)
        )
    for term in rare:
        if len(rare) == 1 or not term.is_action:
            yield f"name : {term.expression()}"
    for term in rare:
        if len(rare) == 1 or not term.is_action:
            yield term.expression()
