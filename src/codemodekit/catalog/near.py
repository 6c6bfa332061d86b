"""Names that resemble a name which does not exist. Deterministic, and quick for many thousands of names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nsmallest
from itertools import pairwise
from typing import Final

__all__ = ["near_names"]

_LONGEST: Final = 200
_CANDIDATES: Final = 40
_CUTOFF: Final = 0.5
_BITS: Final = 256


def near_names(name: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """At most `most` of the known names, nearest first; ties in alphabetical order."""
    wanted = _folded(name[:_LONGEST])
    pairs = _pairs(name)
    # difflib alone takes 10 µs and more a name; shared letter pairs pick the few that deserve it
    apart = nsmallest(_CANDIDATES, ((-_alike(pairs, _pairs(other)), other) for other in set(known)))
    scored = [(-_ratio(wanted, _folded(other)), other) for _, other in apart]
    return tuple(other for score, other in sorted(scored)[:most] if -score >= _CUTOFF)


def _folded(name: str) -> str:
    return name[:_LONGEST].casefold().replace("_", "").replace("-", "").replace(".", "")


@lru_cache(maxsize=65_536)
def _pairs(name: str) -> int:
    """The letter pairs of a name as bits; one bit may stand for several, which is good enough to choose."""
    bits = 0
    for one, other in pairwise(_folded(name).encode("utf-8", "replace")):
        bits |= 1 << ((one * 31 + other) % _BITS)
    return bits


def _alike(one: int, other: int) -> float:
    return 2 * (one & other).bit_count() / ((one.bit_count() + other.bit_count()) or 1)


def _ratio(wanted: str, other: str) -> float:
    ratio = SequenceMatcher(None, wanted, other, autojunk=False).ratio()
    # `list_issues` for `issues`: a whole name inside the other is near whatever their lengths
    return max(ratio, 0.75) if len(wanted) > 2 and wanted in other else ratio
