"""JSON text and values, the one form in which data crosses every border of the system.

Knows nothing of tools or programs. Everything above reads and writes JSON through these few functions, so that the
rules (no NaN, no infinity, UTF-8 with escaped lone surrogates, one canonical form) hold in one place.
"""

from __future__ import annotations

import enum
import hashlib
import json
import json.encoder
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = [
    "ABSENT",
    "MAX_DEPTH",
    "Absent",
    "JsonObject",
    "JsonValue",
    "canonical",
    "digest",
    "dumps",
    "encode",
    "encode_ascii",
    "is_deeper",
    "loads",
    "plain",
    "rounded_integer",
    "scan",
]

JsonValue = Any
"""None, bool, int, float, str, a list of JSON values or a dict from str to JSON values."""

JsonObject = Mapping[str, Any]
"""A JSON object."""

MAX_DEPTH: Final = 200
"""Deepest nesting of a value that may cross a border; below the recursion bound of every parser it meets."""


class Absent(enum.Enum):
    """The type of ABSENT: "there is no value here", which JSON's null cannot say."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent.ABSENT


def _writer(*, ascii_only: bool, sort_keys: bool = False) -> Callable[[JsonValue], str]:
    """A writer of compact JSON. Made once: json.dumps makes its C encoder anew for every value, which for the small
    values that calls are made of is most of the work."""
    plain = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
    make = json.encoder.c_make_encoder  # type: ignore[attr-defined] # None where Python has no C encoder
    if make is None:
        return plain.encode
    quote = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    chunks = make(None, plain.default, quote, None, ":", ",", sort_keys, False, False)
    join = "".join
    return lambda value: join(chunks(value, 0))


_text = _writer(ascii_only=False)
_ascii = _writer(ascii_only=True)
_sorted = _writer(ascii_only=True, sort_keys=True)


def dumps(value: JsonValue) -> str:
    """Compact JSON text.

    Raises:
        TypeError: a value that JSON has no form for.
        ValueError: NaN or infinity.
        RecursionError: a cycle, or nesting far beyond MAX_DEPTH.
    """
    return _text(value)


def encode(value: JsonValue) -> bytes:
    """Compact JSON as UTF-8; a lone surrogate, which UTF-8 cannot carry, is written as its escape. Raises as dumps."""
    try:
        return _text(value).encode()
    except UnicodeEncodeError:
        return _ascii(value).encode("ascii")


def encode_ascii(value: JsonValue) -> bytes:
    """Compact JSON on one line of ASCII, whatever the value holds. Raises as dumps."""
    return _ascii(value).encode("ascii")


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in _INFINITIES:
        raise ValueError(f"{text[:40]} is beyond all numbers")
    return value


_INFINITIES: Final = (float("inf"), float("-inf"))

_decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
_decode = _decoder.decode
scan: Callable[[str, int], tuple[JsonValue, int]] = _decoder.scan_once  # type: ignore[attr-defined] # it has one
"""Parse the JSON value at an index of a text: the value and the index behind it. Raises StopIteration where there is
none, else as `loads`; for texts of our own making, which have no space between values."""


def loads(text: str | bytes) -> JsonValue:
    """Parse JSON text (RFC 8259: no NaN, no infinity, also not by an exponent). Of equal keys the last counts.

    Raises:
        ValueError: not JSON, or not UTF-8.
        RecursionError: nested too deeply for the parser.
    """
    return _decode(text if isinstance(text, str) else text.decode())


def canonical(value: JsonValue) -> bytes:
    """The same bytes for equal values, whatever the order of their keys. Raises as dumps."""
    return _sorted(value).encode("ascii")


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical form, 64 hexadecimal digits. Raises as dumps."""
    return hashlib.sha256(canonical(value)).hexdigest()


def plain(value: Any) -> JsonValue:
    """A copy made of dict, list and scalars only, as JSON would carry it. Raises as dumps."""
    return loads(dumps(value))


_MANY_DIGITS: Final = re.compile(rb"[0-9]{16}")


def rounded_integer(value: JsonValue, encoded: bytes) -> tuple[str, int] | None:
    """The first integer of a value that a double, which JavaScript's numbers are, cannot hold: its JSON pointer and
    itself. `encoded` is the value as JSON: where it has no long number, nothing has to be looked through."""
    return _rounded(value, "") if _MANY_DIGITS.search(encoded) else None


def _rounded(value: JsonValue, pointer: str) -> tuple[str, int] | None:
    if isinstance(value, int):
        return None if _fits_a_double(value) else (pointer, value)
    if isinstance(value, Mapping):
        parts: Any = ((str(key).replace("~", "~0").replace("/", "~1"), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return None
    return next((found for key, item in parts if (found := _rounded(item, f"{pointer}/{key}"))), None)


def _fits_a_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def is_deeper(value: JsonValue, most: int) -> bool:
    """Whether lists and objects stand in one another deeper than so many levels."""
    level = [value] if isinstance(value, list | tuple | dict) else []
    for _ in range(most):
        if not level:
            return False
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | tuple | dict)
        ]
    return bool(level)
