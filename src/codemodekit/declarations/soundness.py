"""Makes named types ones that the TypeScript compiler can resolve.

Three things that JSON Schema allows stop it: an alias that is its own member (`type A = A | string`), a long chain of
aliases, and an intersection of unions whose product is too large. They are widened here, once all types of a document
are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from codemodekit.declarations.shapes import (
    UNKNOWN,
    ArrayOf,
    Intersection,
    Key,
    Keyword,
    Member,
    ObjectOf,
    Reference,
    Shape,
    TupleOf,
    Union,
    intersection,
    union,
)

__all__ = ["make_sound", "mentioned"]

_LONGEST_CHAIN: Final = 100
_WIDEST_PRODUCT: Final = 1_000


def make_sound(root: Shape, named: Mapping[Key, Shape]) -> tuple[Shape, dict[Key, Shape]]:
    """The same types, widened where the compiler would refuse them."""
    aliases = {key: shape for key, shape in named.items() if not isinstance(shape, ObjectOf)}
    circular = _circular(aliases)
    cut = {
        key: _replace_bare(shape, lambda one: UNKNOWN if one.key in circular else one) if key in circular else shape
        for key, shape in named.items()
    }
    cut |= _shortened({key: cut[key] for key in aliases})
    widths = _widths({key: cut[key] for key in aliases})
    return _narrowed(root, widths), {key: _narrowed(shape, widths) for key, shape in cut.items()}


def _bare(shape: Shape) -> Iterator[Key]:
    """The named types that `shape` is made of at the top, where the compiler must resolve them at once."""
    match shape:
        case Reference(key):
            yield key
        case Union(members) | Intersection(members):
            for one in members:
                yield from _bare(one)
        case _:
            return


def _replace_bare(shape: Shape, change: Callable[[Reference], Shape]) -> Shape:
    match shape:
        case Reference():
            return change(shape)
        case Union(members):
            return union(_replace_bare(one, change) for one in members)
        case Intersection(members):
            return intersection(_replace_bare(one, change) for one in members)
        case _:
            return shape


def _circular(aliases: Mapping[Key, Shape]) -> set[Key]:
    """Aliases on a circle: what is left after peeling off those that nothing leads into, or that lead nowhere."""
    outgoing = {key: {to for to in _bare(shape) if to in aliases} for key, shape in aliases.items()}
    incoming: dict[Key, set[Key]] = {key: set() for key in aliases}
    for key, targets in outgoing.items():
        for to in targets:
            incoming[to].add(key)
    return _peel(_peel(set(aliases), outgoing, incoming), incoming, outgoing)


def _peel(keys: set[Key], links: Mapping[Key, set[Key]], back: Mapping[Key, set[Key]]) -> set[Key]:
    left = set(keys)
    count = {key: len(links[key] & left) for key in left}
    ready = [key for key in left if not count[key]]
    while ready:
        key = ready.pop()
        left.discard(key)
        for other in back[key] & left:
            count[other] -= 1
            if not count[other]:
                ready.append(other)
    return left


def _inner_first(aliases: Mapping[Key, Shape]) -> Iterator[Key]:
    """The aliases, each after those it is made of; there are no circles any more."""
    done: set[Key] = set()
    for start in aliases:
        path = [start]
        while path:
            missing = [key for key in _bare(aliases[path[-1]]) if key in aliases and key not in done]
            if missing:
                path.append(missing[0])
            elif (key := path.pop()) not in done:
                done.add(key)
                yield key


def _shortened(aliases: Mapping[Key, Shape]) -> dict[Key, Shape]:
    """The aliases with every chain ended after _LONGEST_CHAIN of them."""
    heights: dict[Key, int] = {}
    shapes: dict[Key, Shape] = {}
    for key in _inner_first(aliases):
        height = 1 + max((heights.get(to, 0) for to in _bare(aliases[key])), default=0)
        if height <= _LONGEST_CHAIN:
            heights[key], shapes[key] = height, aliases[key]
        else:
            heights[key], shapes[key] = 1, UNKNOWN
    return shapes


def _widths(aliases: Mapping[Key, Shape]) -> dict[Key, int]:
    """How many members the union has that each alias comes down to."""
    widths: dict[Key, int] = {}
    for key in _inner_first(aliases):
        widths[key] = _width(aliases[key], widths)
    return widths


def _width(shape: Shape, widths: Mapping[Key, int]) -> int:
    match shape:
        case Keyword("boolean"):
            return 2
        case Reference(key):
            return widths.get(key, 1)
        case Union(members):
            return min(sum(_width(one, widths) for one in members), 1_000_000)
        case Intersection():
            product = 1
            for one in _fitting(shape, widths):
                product *= _width(one, widths)
            return product
        case _:
            return 1


def _fitting(shape: Intersection, widths: Mapping[Key, int]) -> list[Shape]:
    """The members of an intersection without the widest, as far as the product of all is too large."""
    kept: set[int] = set()
    product = 1
    for position in sorted(range(len(shape.members)), key=lambda at: (_width(shape.members[at], widths), at)):
        product *= _width(shape.members[position], widths)
        if product > _WIDEST_PRODUCT and kept:
            break
        kept.add(position)
    return [one for position, one in enumerate(shape.members) if position in kept]


def _narrowed(shape: Shape, widths: Mapping[Key, int]) -> Shape:
    match shape:
        case Intersection():
            return intersection(_narrowed(one, widths) for one in _fitting(shape, widths))
        case Union(members):
            return union(_narrowed(one, widths) for one in members)
        case ArrayOf(item):
            return ArrayOf(_narrowed(item, widths))
        case TupleOf(items, required, rest):
            narrowed = tuple(_narrowed(one, widths) for one in items)
            return TupleOf(narrowed, required, None if rest is None else _narrowed(rest, widths))
        case ObjectOf(members, index, note, index_key):
            kept = tuple(Member(one.name, _narrowed(one.shape, widths), one.required, one.doc) for one in members)
            return ObjectOf(kept, None if index is None else _narrowed(index, widths), note, index_key)
        case _:
            return shape


def mentioned(shape: Shape) -> Iterator[Key]:
    """Every named type in `shape`, in the order of the text."""
    match shape:
        case Reference(key):
            yield key
        case Union(members) | Intersection(members):
            for one in members:
                yield from mentioned(one)
        case ArrayOf(item):
            yield from mentioned(item)
        case TupleOf(items, _, rest):
            for one in (*items, *(() if rest is None else (rest,))):
                yield from mentioned(one)
        case ObjectOf(members, index):
            for each in members:
                yield from mentioned(each.shape)
            if index is not None:
                yield from mentioned(index)
        case _:
            return
