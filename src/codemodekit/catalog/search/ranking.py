"""Tools that match a query in, the same in the order in which they answer it out.

What counts: how much of the query is in a tool, rare words more than common ones, names more than descriptions; how
little else is in the name; whether it does what shall be done; whether it changes something that was only asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codemodekit.catalog.search.actions import ALL, READING, TELLING, actions_of, is_mostly_noun, is_verb
from codemodekit.catalog.search.query import Query, Term
from codemodekit.catalog.search.words import folded, light_stem, spaced, words
from codemodekit.catalog.snapshot import CatalogTool

__all__ = ["Found", "ranked"]

_NAME: Final = 1.0
_SOURCE: Final = 0.8
_DESCRIPTION: Final = 0.7
_PROPERTY: Final = 0.5
_SYNONYM: Final = 0.7
_GUESS: Final = 0.7
_OTHER_ACTION: Final = 0.5
"""It does something that the verb of the query may mean, though not what it likely means."""
_ACTION: Final = 0.25
_PRECISION: Final = 0.3
_LITERAL: Final = 0.1
_OF_NAMED_SOURCE: Final = 0.6
_AGAINST: Final = 0.6
"""It reads where something shall be changed, or changes where something was asked."""
_HEADLESS: Final = 0.8
"""It has nothing of the noun that is wanted."""
_LONGEST_READ: Final = 600
_FAIR_NAME: Final = 10
_FAIR_DESCRIPTION: Final = 80
_FAIR_PROPERTIES: Final = 60
"""More words than these in one field, and each counts less: who writes down every word shall not be found by all."""


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that matches, with the words of its properties."""

    tool: CatalogTool
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Field:
    """The words of a part of a tool."""

    weight: float
    stems: frozenset[str]
    literal: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Name:
    """What the name of a tool says."""

    words: frozenset[str]
    stems: frozenset[str]
    own: frozenset[str]
    """Stems besides those of the source's name."""
    verbs: frozenset[str]
    """Which of them say what it does."""
    actions: frozenset[str]


def ranked(found: Iterable[Found], query: Query, weights: Sequence[float]) -> list[CatalogTool]:
    """In order; ties stay as they came."""
    wanted = _Wanted(query, weights)
    scored = [(*wanted.score(each), place, each.tool) for place, each in enumerate(found)]
    scored.sort(key=lambda entry: entry[:3])
    return [tool for _, _, _, tool in scored]


class _Wanted:
    """A query made ready for comparing many tools with it."""

    def __init__(self, query: Query, weights: Sequence[float]) -> None:
        self._query = query
        self._terms = [_Forms(term, weight) for term, weight in zip(query.terms, weights, strict=True)]
        self._whole = sum(weights) or 1.0
        self._stems = _stems(tuple(query.written)).union(*(forms.all for forms in self._terms))
        self._literal = query.written.union(*(term.guesses for term in query.terms))
        self._names_things = any(not term.is_action for term in query.terms)
        self._things = sum(forms.weight for forms in self._terms if not (forms.is_action and self._names_things)) or 1.0

    def score(self, found: Found) -> tuple[bool, float]:
        """Whether only guesses match, and how little is matched, both to be sorted upwards."""
        query, tool = self._query, found.tool
        name = _name(tool.source, tool.definition.name)
        fields = _fields(found, name)
        agreement = _agreement(query.actions, name.actions)
        covered, things, is_written, lacks_head = 0.0, 0.0, False, False
        for forms in self._terms:
            best, written = forms.best(fields)
            is_written = is_written or (written and not (forms.is_action and self._names_things))
            covered += forms.weight * (max(best, agreement) if forms.is_action else best)
            things += 0.0 if forms.is_action and self._names_things else forms.weight * best
            lacks_head = lacks_head or (forms.is_head and best == 0.0)
        score = covered / self._whole
        # a name that is short and a verb that fits say little about a tool that has little of the rest
        score += (_ACTION * agreement + _PRECISION * self._precision(name, agreement > 0)) * things / self._things
        score += _LITERAL * 2 * len(name.words & self._literal) / (len(name.words) + len(query.written) or 1)
        score += _OF_NAMED_SOURCE * (tool.source in query.sources)
        if query.reads is not None and (reads := _reads(tool, name.actions)) is not None and reads != query.reads:
            score *= _AGAINST
        if lacks_head:
            score *= _HEADLESS
        return not is_written, -score

    def _precision(self, name: _Name, does_it: bool) -> float:
        """How much of the name was asked for; its verb was if it does what shall be done."""
        hit = len(name.own & self._stems)
        if does_it:
            hit += sum(stem not in self._stems for stem in name.verbs)
        return hit / len(name.own) if name.own else 1.0


class _Forms:
    """A term with the stems of its forms."""

    def __init__(self, term: Term, weight: float) -> None:
        self.weight = weight
        self.is_action = term.is_action
        self.is_head = term.is_head
        self._choices = [frozenset(map(light_stem, choice.split())) for choice in term.choices]
        self._guesses = frozenset(map(light_stem, term.guesses))
        self._synonyms = frozenset(map(light_stem, term.synonyms))
        self._prefix = term.prefix
        self.all = self._guesses.union(self._synonyms, *self._choices)

    def best(self, fields: Sequence[_Field]) -> tuple[float, bool]:
        """How well the best form matches the best field, and whether one that was written matches."""
        best, is_written = 0.0, False
        for field in fields:
            if self._is_in(field):
                is_written = True
                best = max(best, field.weight)
            elif self._guesses and not self._guesses.isdisjoint(field.stems):
                best = max(best, _GUESS * field.weight)
            elif self._synonyms and not self._synonyms.isdisjoint(field.stems):
                best = max(best, _SYNONYM * field.weight)
        return best, is_written

    def _is_in(self, field: _Field) -> bool:
        for stems in self._choices:
            if stems <= field.stems:
                return True
        return self._prefix is not None and any(word.startswith(self._prefix) for word in field.literal)


def _agreement(wanted: Sequence[str], done: frozenset[str]) -> float:
    if not wanted or done.isdisjoint(wanted):
        return 0.0
    return _NAME if wanted[0] in done else _OTHER_ACTION


def _reads(tool: CatalogTool, actions: frozenset[str]) -> bool | None:
    """Whether a tool only reads: by its own word, else by its verb; None if unknown or in doubt."""
    by_verb = None if not actions else True if actions <= READING else False if actions.isdisjoint(READING) else None
    annotated = tool.definition.annotations.read_only
    if annotated is None or by_verb is None:
        return by_verb if annotated is None else annotated
    return annotated if annotated == by_verb else None


# --- words of a tool --------------------------------------------------------------------------------------------------


def _fields(found: Found, name: _Name) -> tuple[_Field, ...]:
    description = _description_stems(found.tool.definition.description[:_LONGEST_READ])
    properties = _stems(found.properties)
    return (
        _Field(_NAME * _fairness(len(name.stems), _FAIR_NAME), name.stems, name.words),
        _Field(_SOURCE, _source_stems(found.tool.source)),
        _Field(_DESCRIPTION * _fairness(len(description), _FAIR_DESCRIPTION), description),
        _Field(_PROPERTY * _fairness(len(properties), _FAIR_PROPERTIES), properties),
    )


def _fairness(count: int, fair: int) -> float:
    return min(1.0, fair / count) if count else 1.0


@lru_cache(maxsize=16_384)
def _name(source: str, name: str) -> _Name:
    found = words(name)
    stems = frozenset(map(light_stem, found))
    of_source = _source_stems(source)
    own = [word for word in found if light_stem(word) not in of_source] or found
    verb = _verb(own)
    return _Name(
        words=frozenset(found),
        stems=stems | {light_stem("".join(found))},
        own=frozenset(map(light_stem, own)),
        verbs=frozenset((light_stem(verb),) if verb else ()),
        actions=frozenset(_actions(verb, own) if verb else ()),
    )


def _verb(found: Sequence[str]) -> str | None:
    """The word that says what a tool does: its first clear verb, else a doubtful one at the beginning or end."""
    clear = (word for word in found if is_verb(word) and not is_mostly_noun(word))
    doubtful = (word for word in (*found[:1], *found[-1:]) if is_verb(word))
    return next(clear, None) or next(doubtful, None) or (found[-1] if found[-1:] and found[-1] in TELLING else None)


def _actions(verb: str, found: Sequence[str]) -> tuple[str, ...]:
    """What the verb means; who gets several things lists them."""
    if verb in TELLING and not is_verb(verb):
        return ("get", "list")
    several = not ALL.isdisjoint(found) or found[-1].endswith("s")
    return (*actions_of(verb), *(("list",) if verb in ("get", "fetch", "read", "retrieve") and several else ()))


@lru_cache(maxsize=4_096)
def _source_stems(source: str) -> frozenset[str]:
    return frozenset(map(light_stem, words(source)))


@lru_cache(maxsize=8_192)
def _description_stems(text: str) -> frozenset[str]:
    return frozenset(map(light_stem, words(spaced(folded(text)))))


@lru_cache(maxsize=8_192)
def _stems(choices: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(light_stem, choices))
