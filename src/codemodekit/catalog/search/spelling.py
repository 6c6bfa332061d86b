"""A word nobody uses in, the words that were probably meant out: prefixes, parts of longer words, small slips.

Knows a vocabulary, not what it is for. Deterministic: equal vocabularies give equal answers, whatever their order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

__all__ = ["Vocabulary", "distance"]

_MOST: Final = 4
_LONGEST: Final = 24
_MOST_KEPT: Final = 1_000


class Vocabulary:
    """All words of names, as they are looked through for a misspelt one.

    Args:
        known: the words of each source, sorted.
    """

    def __init__(self, known: Iterable[Sequence[str]]) -> None:
        self._sorted = tuple(known)
        self._known = frozenset(chain.from_iterable(self._sorted))
        self._meant: dict[str, tuple[str, ...]] = {}

    # made when the first unknown word is asked for: most queries are spelled well
    @cached_property
    def _ordered(self) -> list[str]:
        # runs that are sorted already are merged, which takes a third of the time
        every = sorted(chain.from_iterable(self._sorted))
        return [word for word in dict.fromkeys(every) if len(word) <= _LONGEST and not word.isdecimal()]

    @cached_property
    def _by_length(self) -> dict[int, list[tuple[int, str]]]:
        """Words by length, with their letters as bits: one slip changes at most two of them, which is quick to see."""
        found: dict[int, list[tuple[int, str]]] = {}
        for word in self._ordered:
            found.setdefault(len(word), []).append((_bits(word), word))
        return found

    def __contains__(self, word: str) -> bool:
        return word in self._known

    def meant(self, word: str) -> tuple[str, ...]:
        """Words that `word` may stand for, best first; none if nothing is near."""
        if word not in self._meant:
            if len(self._meant) >= _MOST_KEPT:
                self._meant.clear()
            self._meant[word] = self._looked_through(word)
        return self._meant[word]

    def _looked_through(self, word: str) -> tuple[str, ...]:
        if not 3 <= len(word) <= _LONGEST:
            return ()
        found = dict.fromkeys(self._slips(word))
        if len(word) >= 5:
            found.update(dict.fromkeys(self._holding(word)))
        return tuple(found)

    def parted(self, word: str) -> tuple[str, str] | None:
        """The two known words that `word` is made of; the second may be a plural."""
        for place in range(len(word) - 2, 1, -1):
            rest = word[place:]
            if word[:place] in self._known and (rest in self._known or rest.removesuffix("s") in self._known):
                return word[:place], rest
        return None

    def parts(self, word: str) -> tuple[str, ...]:
        """The fewest known words that `word` is made of, longest first where there is a choice; none if it is not."""
        best: list[tuple[str, ...] | None] = [(), *[None] * len(word)]
        for end in range(2, len(word) + 1):
            for start in range(max(0, end - _LONGEST), end - 1):
                before = best[start]
                if before is not None and word[start:end] in self._known:
                    made = (*before, word[start:end])
                    kept = best[end]
                    if kept is None or len(made) < len(kept):
                        best[end] = made
        found = best[-1] or ()
        return found if sum(map(len, found)) >= 3 * len(found) else ()

    def has_prefix(self, word: str) -> bool:
        """Whether a known word begins so."""
        place = bisect_left(self._ordered, word)
        return place < len(self._ordered) and self._ordered[place].startswith(word)

    def _slips(self, word: str) -> list[str]:
        allowed = 1 if len(word) < 6 else 2
        mask = _bits(word)
        near = [
            (distance(word, other, allowed), other[:1] != word[:1], other)
            for length in range(len(word) - allowed, len(word) + allowed + 1)
            for bits, other in self._by_length.get(length, ())
            if (mask ^ bits).bit_count() <= 2 * allowed
        ]
        near = sorted(entry for entry in near if entry[0] <= allowed)
        return [other for slips, _, other in near if slips == near[0][0]][:_MOST]

    def _holding(self, word: str) -> list[str]:
        holding = sorted((len(known), known) for known in self._ordered if word in known)
        return [known for _, known in holding[:_MOST]]


@lru_cache(maxsize=131_072)
def _bits(word: str) -> int:
    mask = 0
    for letter in set(word):
        mask |= 1 << (ord(letter) & 31)
    return mask


def distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words; `most + 1` if there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        following = [i]
        for j, right in enumerate(other, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) > most:
            return most + 1
        before, row = row, following
    return row[-1]
