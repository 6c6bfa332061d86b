"""The text of a query in, what it asks for out: noise left out, slips mended, joined and parted words tried, verbs
understood, sources recognised.

Knows the vocabulary of the index, not its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol

from codemodekit.catalog.search.actions import (
    ALL,
    PHRASES,
    READING,
    actions_of,
    asks_only,
    is_mostly_noun,
    synonyms_of,
    verb_of,
)
from codemodekit.catalog.search.spelling import Vocabulary
from codemodekit.catalog.search.words import light_stem, words

__all__ = ["Query", "Term", "Words", "query_of"]

_MOST_TERMS: Final = 16
_SHORTEST_PARTED: Final = 6
_SHORTEST_GLUED: Final = 10
_LONGEST_PHRASE: Final = max(map(len, PHRASES))
_MOST_WORDS_OF_A_SOURCE: Final = 6
_NOISE: Final = frozenset(
    word
    for line in (
        "a about all already also an and any anybody anyone anything are as at be been but by can could did do does",
        "everybody everyone everything for from give had has have he her here his how i if in into is it its just let",
        "may me might more must my need needs no not of on one or our please shall she should so some somebody someone",
        "something such tell than that the their them then there these they this those to too tool tools us use using",
        "very want wants was we were what when where which who whom whose will with would yet you your",
    )
    for word in line.split()
)
"""Words that say nothing about a tool."""

_QUESTIONS: Final = frozenset(("what", "which", "who", "whose", "when", "where"))
"""Who begins so wants to know something, whatever verbs follow."""
_HOLLOW: Final = frozenset(("detail", "details", "field", "fields", "info", "information", "overview"))
"""Nouns that only say that something is wanted of the next one."""
_PREPOSITIONS: Final = frozenset(("about", "at", "by", "for", "from", "in", "of", "on", "that", "to", "which", "with"))


class Words(Protocol):
    """What is asked of the index about words."""

    def vocabulary(self) -> Vocabulary: ...

    def occurs(self, word: str) -> bool: ...

    def sources_named(self, key: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query with everything that counts as it."""

    choices: tuple[str, ...]
    """Words or phrases (words parted by blanks), best first."""
    prefix: str | None = None
    """Words that begin so count as well."""
    guesses: tuple[str, ...] = ()
    """Words that nobody wrote, but may have meant."""
    synonyms: tuple[str, ...] = ()
    """Other verbs for the same action."""
    is_action: bool = False
    """Whether it is what shall be done; the other terms say to what."""
    is_head: bool = False
    """Whether it is the noun that the others tell more about."""

    def expression(self) -> str:
        """In the language of FTS5: any form of it."""
        return _any_of((*self.choices, *self.guesses, *self.synonyms), self.prefix)

    def meant(self) -> str:
        """The same without synonyms."""
        return _any_of((*self.choices, *self.guesses), self.prefix)


def _any_of(choices: Sequence[str], prefix: str | None) -> str:
    quoted = [f'"{choice}"' for choice in choices]
    if prefix is not None:
        quoted.append(f'"{prefix}" *')
    return f"({' OR '.join(quoted)})"


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for."""

    terms: tuple[Term, ...]
    actions: tuple[str, ...] = ()
    """What shall be done, most likely first; none if it does not say."""
    reads: bool | None = None
    """Whether it wants to know something (True) or to change something (False); None if it does not say."""
    sources: frozenset[str] = frozenset()
    """Sources that it names."""
    written: frozenset[str] = frozenset()
    """All its words, also those that say nothing."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word of the query, or several that say one verb."""

    word: str
    phrase: tuple[str, ...] = ()
    slip: str | None = None
    """What was written where a verb was meant."""


def query_of(text: str, known: Words) -> Query:
    """What a query asks for; words that nothing resembles are left out."""
    asked = list(dict.fromkeys(part for word in words(text) for part in _unglued(word, known)))
    named, rest = _without_sources(asked, known)
    units = list(_units(rest))
    telling = [unit for unit in units if unit.phrase or unit.word not in _NOISE] or units
    telling = _mended(telling[:_MOST_TERMS], known)
    action = _action(telling, asked)
    head = _head(telling, action, asked)
    actions = _likely(action, head, asked)
    return Query(
        terms=tuple(_terms(telling, action, head, known)),
        actions=actions,
        reads=_reads(actions),
        sources=named,
        written=frozenset(asked),
    )


def _unglued(word: str, known: Words) -> Sequence[str]:
    """The words that a long unknown one is made of, if it is made of known ones; else itself."""
    vocabulary = known.vocabulary()
    if len(word) < _SHORTEST_GLUED or word in vocabulary:
        return (word,)
    return vocabulary.parts(word) or (word,)


# --- sources ----------------------------------------------------------------------------------------------------------


def _without_sources(asked: list[str], known: Words) -> tuple[frozenset[str], list[str]]:
    """The sources that are named, and the words without a name of several words: those may mean anything."""
    for length in range(min(len(asked), _MOST_WORDS_OF_A_SOURCE), 0, -1):
        for start in range(len(asked) - length + 1):
            if found := known.sources_named("".join(asked[start : start + length])):
                rest = [*asked[:start], *asked[start + length :]]
                return frozenset(found), rest if length > 1 and rest else asked
    return frozenset(), asked


# --- actions ----------------------------------------------------------------------------------------------------------


def _units(asked: Sequence[str]) -> Iterator[_Unit]:
    place = 0
    while place < len(asked):
        for length in range(_LONGEST_PHRASE, 1, -1):
            part = tuple(asked[place : place + length])
            if verb := PHRASES.get(part):
                yield _Unit(verb, part)
                place += len(part)
                break
        else:
            yield _Unit(asked[place])
            place += 1


def _action(units: Sequence[_Unit], asked: Sequence[str]) -> _Unit | None:
    """The word that says what shall be done: the one after `to`, else the first plain verb, or a form of one."""
    verbs = [unit for unit in units if actions_of(unit.word)]
    if not _QUESTIONS.isdisjoint(asked[:1]):
        verbs = [unit for unit in verbs if not READING.isdisjoint(actions_of(unit.word))]
    plain = [unit for unit in verbs if unit.word == verb_of(unit.word)]
    wished = [unit for unit in plain if ("to", unit.word) in pairwise(asked)]
    clear = [unit for unit in plain if not is_mostly_noun(unit.word) or unit is units[0]]
    ing = [unit for unit in verbs if unit not in plain and unit.word.endswith("ing")]
    formed = [unit for unit in verbs if unit not in plain and unit.word.endswith("ed")]
    last = [unit for unit in plain if unit is units[-1] and not asks_only(frozenset(asked))]
    return next(iter((*wished, *clear, *ing, *formed, *last)), None)


def _head(units: Sequence[_Unit], action: _Unit | None, asked: Sequence[str]) -> _Unit | None:
    """The noun that says what is wanted: `comments` of `comments of the invoice` and of `invoice comments`."""
    nouns = [unit for unit in units if unit is not action and not unit.phrase]
    places = {word: place for place, word in enumerate(asked)}
    for one, other in pairwise(nouns):
        between = asked[places.get(one.word, 0) + 1 : places.get(other.word, 0)]
        if not _PREPOSITIONS.isdisjoint(between) and one.word not in _HOLLOW:
            return one
    return nouns[-1] if nouns else None


def _likely(action: _Unit | None, head: _Unit | None, asked: Sequence[str]) -> tuple[str, ...]:
    """What shall be done, the likelier first: who asks for several of a thing wants a list."""
    if {"give", "access"} <= set(asked):
        return ("share",)
    actions = actions_of(action.word) if action else ("get", "list") if asks_only(frozenset(asked)) else ()
    if "get" not in actions or "list" not in actions:
        return actions
    several = not ALL.isdisjoint(asked) or (head is not None and head.word[-1] == "s" and head.word[-2:] != "ss")
    first, second = ("list", "get") if several else ("get", "list")
    return (first, second, *(action for action in actions if action not in (first, second)))


def _reads(actions: tuple[str, ...]) -> bool | None:
    if not actions:
        return None
    reading = sum(action in READING for action in actions)
    return True if reading == len(actions) else False if reading == 0 else None


def _mended(units: Sequence[_Unit], known: Words) -> list[_Unit]:
    """The same with a misspelt verb in the first place mended, lest a noun behind it be taken for the verb."""
    if not units or units[0].phrase or actions_of(units[0].word) or known.occurs(units[0].word):
        return list(units)
    first = units[0].word
    verbs = [word for word in known.vocabulary().meant(first) if actions_of(word)]
    return [_Unit(verbs[0], slip=first) if len(verbs) == 1 else units[0], *units[1:]]


# --- terms ------------------------------------------------------------------------------------------------------------


def _terms(telling: Sequence[_Unit], action: _Unit | None, head: _Unit | None, known: Words) -> Iterator[Term]:
    vocabulary = known.vocabulary()
    joined = _joined([unit.word for unit in telling], vocabulary)
    found: dict[str, Term] = {}
    for unit in telling:
        term = _term(unit, known, vocabulary)
        choices = tuple(dict.fromkeys((*term.choices, *joined.get(unit.word, ()))))
        synonyms = synonyms_of(unit.word) if unit is action else ()
        if choices or term.prefix or term.guesses or synonyms:
            made = replace(term, choices=choices, synonyms=synonyms, is_action=unit is action, is_head=unit is head)
            found.setdefault(light_stem(unit.word), made)
    yield from found.values()


def _term(unit: _Unit, known: Words, vocabulary: Vocabulary) -> Term:
    word = unit.slip or unit.word
    if unit.phrase:
        return Term((word, " ".join(unit.phrase)))
    parted = vocabulary.parted(word) if len(word) >= _SHORTEST_PARTED else None
    phrase = (" ".join(parted),) if parted else ()
    if word in vocabulary or known.occurs(word):
        return Term((word, *phrase))
    if actions_of(word) or asks_only(frozenset((word,))):
        return Term((*phrase,))  # a word of the language, however it is used: no slip
    prefix = word if len(word) >= 3 and vocabulary.has_prefix(word) else None
    letters = word.rstrip("0123456789")
    numbered = (letters,) if letters != word and (letters in vocabulary or known.occurs(letters)) else ()
    return Term((*numbered, *phrase), prefix, vocabulary.meant(word))


def _joined(asked: list[str], vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    """For `git hub` where only `github` is known: the joined word, counted for either."""
    found: dict[str, tuple[str, ...]] = {}
    for one, other in pairwise(asked):
        if one + other in vocabulary:
            for word in (one, other):
                found[word] = (*found.get(word, ()), one + other)
    return found
