"""Which tools a program may mean, by the words in its text: what a check costs does not grow with the catalogue.

Too many are harmless and too few are not, so nothing is understood here: a tool is mentioned if all words of its name
stand anywhere in the program, be it in a comment.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from codemodekit.catalog.snapshot import SourceCatalog
from codemodekit.declarations.names import path_of

__all__ = ["Mentions", "words"]

_WORD: Final = re.compile(r"[\w$]+")
_KEPT: Final = 64

_Index: TypeAlias = dict[str, list[tuple[str, frozenset[str]]]]
"""From the first word of a name to the names, each with all of its words."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(_WORD.findall(text))


class Mentions:
    """Looks up names of tools by their first word; what a source listed is read once."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], _Index] = OrderedDict()

    def knows(self, source: SourceCatalog) -> bool:
        """Whether what the source listed has been read."""
        return (source.name, source.revision) in self._known

    def sources(self, names: Iterable[str], said: frozenset[str]) -> list[str]:
        """Those of the sources that are mentioned."""
        return [name for name in names if said.issuperset(_WORD.findall(name))]

    def tools(self, source: SourceCatalog, said: frozenset[str]) -> list[str]:
        """Names of callable and quarantined tools of the source that are mentioned, in order."""
        return sorted(name for name, rest in self._candidates(source, said) if rest <= said)

    def groups(self, source: SourceCatalog, said: frozenset[str]) -> set[tuple[str, ...]]:
        """What dotted names of the source begin with, as far as it is mentioned: a wrong name may follow."""
        groups = {path_of(name)[:-1] for name, _ in self._candidates(source, said) if "." in name}
        return {path for path in groups if path and said.issuperset(path)}

    def _candidates(self, source: SourceCatalog, said: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
        index = self._index(source)
        for first in (*(index.keys() & said), ""):
            yield from index.get(first, ())

    def _index(self, source: SourceCatalog) -> _Index:
        key = (source.name, source.revision)
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = _by_first_word([*source.tools, *source.quarantined])
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return index


def _by_first_word(names: Sequence[str]) -> _Index:
    index: _Index = {}
    for name in names:
        found = _WORD.findall(name)
        index.setdefault(found[0] if found else "", []).append((name, frozenset(found)))
    return index
