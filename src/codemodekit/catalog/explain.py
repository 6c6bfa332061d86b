"""Validation errors in, a few sentences a model can act on out: where, what was expected, what was given, did you mean.

Bounded whatever the value and schema hold: nothing large is ever shown. Knows the validator's error values, not the
validator; `schemas` hands them in.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import jsonschema_rs

from codemodekit._json import JsonValue, dumps
from codemodekit.catalog.schema_meter import GUARD, unguarded
from codemodekit.catalog.schema_references import pointer_target
from codemodekit.declarations.comments import preview

__all__ = ["FieldError", "explain", "shape"]

_MOST: Final = 8
_MOST_LOOKED_AT: Final = 100
"""Errors that are put into words, of which one field may have many."""
_LONGEST: Final = 160
_LONGEST_POINTER: Final = 400
_DEEPEST: Final = 4
"""Levels of alternatives inside alternatives that are looked into."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field."""

    pointer: str
    """JSON pointer of the field; empty for the whole value."""
    expected: str
    given: str
    did_you_mean: str | None = None
    """The name or choice that was probably meant."""

    def to_wire(self) -> dict[str, str]:
        wire = {"pointer": self.pointer, "expected": self.expected, "given": self.given}
        return wire if self.did_you_mean is None else {**wire, "didYouMean": self.did_you_mean}


_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    path: _Path
    expected: str
    given: str
    did_you_mean: str | None = None
    absent: bool = False
    """A required property that is not there at all."""
    misspelt: bool = False
    """A required property that is there under a name which is not quite right."""


def explain(
    errors: Sequence[jsonschema_rs.ValidationError],
    schema: JsonValue,
    value: JsonValue,
    incomplete: Container[tuple[str | int, ...]] = (),
) -> tuple[FieldError, ...]:
    """At most eight wrong fields, ordered by place; a misspelt required property counts once.

    Nothing is said about the `incomplete` places, of which the validator saw only a part.
    """
    first = sorted(errors, key=lambda error: _path_order(tuple(error.instance_path)))[:_MOST_LOOKED_AT]
    findings = {finding for error in first for finding in _found(error, schema, value)}
    whole = [found for found in findings if (found.path[:-1] if found.absent else found.path) not in incomplete]
    merged = _merge_misspelt(sorted(whole, key=_order))
    return tuple(
        FieldError(
            _cut(_pointer(found.path), _LONGEST_POINTER),
            _cut(found.expected),
            _cut(found.given),
            None if found.did_you_mean is None else _cut(found.did_you_mean),
        )
        for found in merged[:_MOST]
    )


def _order(found: _Finding) -> tuple[Any, ...]:
    return _path_order(found.path), found.expected


def _path_order(path: _Path) -> list[tuple[bool, int, str]]:
    return [(isinstance(step, str), step if isinstance(step, int) else 0, str(step)) for step in path]


def _merge_misspelt(findings: list[_Finding]) -> list[_Finding]:
    """An unknown `nmae` and a missing `name` are one mistake: told once, as the misspelt required property."""
    required = {(found.path, found.did_you_mean) for found in findings if found.misspelt}
    return [found for found in findings if found.misspelt or (found.path, found.did_you_mean) not in required]


def _found(error: jsonschema_rs.ValidationError, schema: JsonValue, value: JsonValue) -> Iterator[_Finding]:
    path: _Path = tuple(error.instance_path)
    if error.kind.name == "falseSchema" and list(error.schema_path)[-1:] == ["additionalProperties"]:
        # of an object without a single property the validator says only that, and gives the first value it has
        for step in path:
            value = value[step]
        yield from (
            _Finding((*path, name), "no properties here", _given((name,), part))
            for name, part in (sorted(value.items())[:_MOST] if isinstance(value, dict) else ())
        )
    else:
        yield from _findings(error, schema, 0)


def _findings(error: jsonschema_rs.ValidationError, schema: JsonValue, depth: int) -> Iterator[_Finding]:
    path: _Path = tuple(error.instance_path)
    keyword, kind = error.kind.name, error.kind.as_dict()
    given = _given(path, error.instance)
    match keyword:
        case "required":
            yield from _missing(path, str(kind["property"]), error, schema)
        case "additionalProperties" | "unevaluatedProperties":
            yield from _unexpected(path, kind["unexpected"], error, schema)
        case "anyOf" | "oneOf" if kind.get("context") is not None:
            yield from _alternatives(path, error, schema, depth)
        case "enum":
            options = kind["options"]
            yield _Finding(path, f"one of {_choices(options)}", given, _near_choice(error.instance, options))
        case "propertyNames":
            yield from _misnamed(path, kind["error"], error.instance)
        case "contains":
            yield _Finding(path, _contained(_at(schema, error)), given)
        case _:
            yield _Finding(path, _expectation(keyword, kind), given)


# --- properties -------------------------------------------------------------------------------------------------------


def _missing(path: _Path, name: str, error: jsonschema_rs.ValidationError, schema: JsonValue) -> Iterator[_Finding]:
    place = _at(schema, error)
    known = _properties(place, schema)
    given = error.instance if isinstance(error.instance, dict) else {}
    unknown = sorted(key for key in given if key not in known)
    near = _same_but_case(name, unknown) or get_close_matches(name, unknown, n=1, cutoff=0.7)
    described = _described(place, name) + _asked_by(place, name, given)
    if near:
        expected = f"the required property {_cut(name, 40)!r}{described}"
        yield _Finding((*path, near[0]), expected, _given((near[0],), given[near[0]]), name, misspelt=True)
    else:
        yield _Finding((*path, name), f"required{described}", "nothing", absent=True)


def _unexpected(
    path: _Path, names: Iterable[str], error: jsonschema_rs.ValidationError, schema: JsonValue
) -> Iterator[_Finding]:
    known = sorted(_properties(_at(schema, error), schema))
    given = error.instance if isinstance(error.instance, dict) else {}
    expected = f"no such property; known: {_listed(known)}" if known else "no properties here"
    for name in sorted(names)[: _MOST * 2]:
        near = _same_but_case(name, known) or get_close_matches(name, known, n=1, cutoff=0.6)
        yield _Finding((*path, name), expected, _given((name,), given.get(name)), near[0] if near else None)


def _misnamed(path: _Path, error: jsonschema_rs.ValidationError, holder: JsonValue) -> Iterator[_Finding]:
    """A property whose name the schema does not allow."""
    name, kind = str(error.instance), error.kind.as_dict()
    if error.kind.name == "enum":
        expected, near = f"one of {_choices(kind['options'])}", _near_choice(name, kind["options"])
    else:
        expected, near = _expectation(error.kind.name, kind), None
    given = holder.get(name) if isinstance(holder, dict) else None
    yield _Finding((*path, name), f"another property name: {expected}", _given((name,), given), near)


def _same_but_case(name: str, known: Sequence[str]) -> list[str]:
    plain = name.casefold().replace("_", "").replace("-", "")
    return [other for other in known if other.casefold().replace("_", "").replace("-", "") == plain]


def _at(schema: JsonValue, error: jsonschema_rs.ValidationError) -> JsonValue:
    """The subschema that holds the failing keyword; None where it is not in this document."""
    node = schema
    for step in error.schema_path[:-1]:
        try:
            node = node[step]
        except (LookupError, TypeError):
            return None
    return node


def _properties(place: JsonValue, root: JsonValue) -> set[str]:
    """Property names a subschema knows, also through alternatives and references in it."""
    names: set[str] = set()
    pending, seen = [place], 0
    while pending and seen < 200:
        node = unguarded(pending.pop())
        seen += 1
        if not isinstance(node, dict):
            continue
        if isinstance(reference := node.get("$ref"), str):
            pending.append(pointer_target(root, reference))
        if isinstance(node.get("properties"), dict):
            names.update(node["properties"])
        for keyword in ("allOf", "anyOf", "oneOf"):
            if isinstance(node.get(keyword), list):
                pending.extend(node[keyword])
    return names


def _described(place: JsonValue, name: str) -> str:
    properties = place.get("properties") if isinstance(place, dict) else None
    member = properties.get(name) if isinstance(properties, dict) else None
    kind = member.get("type") if isinstance(member, dict) else None
    if isinstance(kind, str):
        return f" ({kind})"
    return f" ({' or '.join(map(str, kind))})" if isinstance(kind, list) else ""


def _asked_by(place: JsonValue, name: str, given: Iterable[str]) -> str:
    """The property that asks for another, where it is not the schema itself that does."""
    if not isinstance(place, dict):
        return ""
    for keyword in ("dependentRequired", "dependencies"):
        asked = place.get(keyword)
        if isinstance(asked, dict):
            by = sorted(one for one in given if isinstance(asked.get(one), list) and name in asked[one])
            if by:
                return f" beside {_cut(by[0], 40)!r}"
    return ""


# --- alternatives -----------------------------------------------------------------------------------------------------


def _alternatives(
    path: _Path, error: jsonschema_rs.ValidationError, schema: JsonValue, depth: int
) -> Iterator[_Finding]:
    branches = [list(branch) for branch in error.kind.as_dict()["context"]]
    if error.kind.name == "oneOf" and any(not branch for branch in branches):
        yield _Finding(path, "exactly one of the alternatives (several fit)", _given(path, error.instance))
        return
    wrong_type = [branch for branch in branches if _misses_type(branch, path)]
    fitting = [branch for branch in branches if branch and branch not in wrong_type]
    if not fitting or depth >= _DEEPEST:
        types = sorted({kind for branch in wrong_type for kind in _types(branch, path)})
        expected = " or ".join(types) if types else "one of the alternatives"
        yield _Finding(path, expected, _given(path, error.instance))
        return
    best = min(enumerate(fitting), key=lambda item: (_tag_misses(item[1], path), len(item[1]), item[0]))[1]
    for inner in best:
        yield from _findings(inner, schema, depth + 1)


def _misses_type(branch: Sequence[jsonschema_rs.ValidationError], path: _Path) -> bool:
    return any(tuple(inner.instance_path) == path and inner.kind.name == "type" for inner in branch)


def _types(branch: Sequence[jsonschema_rs.ValidationError], path: _Path) -> Iterator[str]:
    for inner in branch:
        if tuple(inner.instance_path) == path and inner.kind.name == "type":
            yield from map(str, inner.kind.as_dict()["types"])


def _tag_misses(branch: Sequence[jsonschema_rs.ValidationError], path: _Path) -> int:
    """Wrong constants one level down: the usual way to tell alternatives apart."""
    return sum(inner.kind.name in ("const", "enum") and len(inner.instance_path) <= len(path) + 1 for inner in branch)


# --- words ------------------------------------------------------------------------------------------------------------

_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
}


def _expectation(keyword: str, kind: dict[str, Any]) -> str:
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(_json(kind["limit"]))
    match keyword:
        case "type":
            return " or ".join(map(str, kind["types"]))
        case "const":
            return f"exactly {_json(kind['expected_value'])}"
        case "pattern" if "pattern" in kind:
            return f"text that matches /{kind['pattern']}/"
        case "pattern":
            return "text whose pattern can be matched within bounds"
        case "multipleOf":
            return f"a multiple of {_json(kind['multiple_of'])}"
        case "uniqueItems":
            return "items that are all different"
        case "additionalItems":
            return f"at most {kind['limit']} items"
        case "unevaluatedItems":
            return "no items but those the schema describes"
        case "falseSchema":
            return "nothing here"
        case "not":
            return f"something that does not fit {_described_schema(kind['schema'])}"
        case "contentEncoding":
            return f"text in {kind['content_encoding']}"
        case "contentMediaType":
            return f"text of the media type {kind['content_media_type']}"
        case _:
            return f"a value that satisfies {keyword!r}"


def _contained(place: JsonValue) -> str:
    """What a list has to hold."""
    place = place if isinstance(place, dict) else {}
    least, most = place.get("minContains", 1), place.get("maxContains")
    count = f"at least {_json(least)}" if most is None else f"{_json(least)} to {_json(most)}"
    return f"an array that holds {count} of {_described_schema(place.get('contains'))}"


def _described_schema(schema: JsonValue) -> str:
    text = preview(unguarded(schema), 60)
    return "what the schema describes" if GUARD in text else text


_SECRET: Final = re.compile(
    r"pass(word|wd|phrase|code)|secret|token|api[-_]?key|authorization|credential|private", re.I
)


def _given(path: _Path, value: JsonValue) -> str:
    """What was given; of a text under a name that promises a secret only how long it is."""
    if isinstance(value, str) and any(isinstance(step, str) and _SECRET.search(step) for step in path[-2:]):
        return f"string of {len(value)} characters"
    return shape(value)


def shape(value: JsonValue) -> str:
    """What a value is, in a few words: `"ab…" (string)`, `array of 3`, `object with a, b`."""
    match value:
        case None | bool():
            return _json(value)
        case str():
            return f"string {_json(value if len(value) <= 40 else value[:39] + '…')}"
        case int() | float():
            text = str(value) if isinstance(value, float) or abs(value) < 10**30 else "a very large integer"
            return f"number {text}"
        case list():
            return f"array of {len(value)}"
        case dict():
            return f"object with {_listed(sorted(value))}" if value else "object with nothing in it"
        case _:
            return type(value).__name__


def _choices(options: Sequence[JsonValue]) -> str:
    return _bounded_list([_json(option) for option in options])


def _near_choice(given: JsonValue, options: Sequence[JsonValue]) -> str | None:
    if not isinstance(given, str) or len(given) > 200:
        return None
    texts = [option for option in options if isinstance(option, str)]
    folded = [text for text in texts if text.casefold() == given.casefold()]
    near = folded or get_close_matches(given, texts, n=1, cutoff=0.6)
    return near[0] if near else None


def _listed(names: Sequence[str]) -> str:
    return _bounded_list([_cut(name, 40) for name in names])


def _bounded_list(parts: Sequence[str]) -> str:
    shown: list[str] = []
    for part in parts:
        if shown and sum(map(len, shown)) + len(part) > 100:
            return f"{', '.join(shown)} and {len(parts) - len(shown)} more"
        shown.append(part)
    return ", ".join(shown)


def _json(value: JsonValue) -> str:
    return _cut(dumps(value), 60)


def _cut(text: str, length: int = _LONGEST) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _pointer(path: _Path) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
