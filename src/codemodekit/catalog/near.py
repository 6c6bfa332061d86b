"""Names that resemble a name which does not exist. Deterministic, and quick for many thousands of names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import pairwise
from typing import Final

__all__ = ["near_names"]

_LONGEST: Final = 200
_CANDIDATES: Final = 40
_CUTOFF: Final = 0.5


def near_names(name: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """At most `most` of the known names, nearest first; ties in alphabetical order."""
    wanted = _folded(name[:_LONGEST])
    pairs = _pairs(wanted)
    # difflib alone takes 10 µs and more a name; shared letter pairs pick the few that deserve it
    candidates = nlargest(_CANDIDATES, sorted(set(known)), key=lambda other: _overlap(pairs, _folded(other)))
    scored = [(-_ratio(wanted, _folded(other)), other) for other in candidates]
    return tuple(other for score, other in sorted(scored)[:most] if -score >= _CUTOFF)


def _folded(name: str) -> str:
    return name[:_LONGEST].casefold().replace("_", "").replace("-", "").replace(".", "")


def _pairs(text: str) -> frozenset[str]:
    return frozenset(map("".join, pairwise(text))) or frozenset((text,))


def _overlap(pairs: frozenset[str], other: str) -> float:
    theirs = _pairs(other)
    return 2 * len(pairs & theirs) / (len(pairs) + len(theirs))


def _ratio(wanted: str, other: str) -> float:
    ratio = SequenceMatcher(None, wanted, other, autojunk=False).ratio()
    # `list_issues` for `issues`: a whole name inside the other is near whatever their lengths
    return max(ratio, 0.75) if len(wanted) > 2 and wanted in other else ratio
