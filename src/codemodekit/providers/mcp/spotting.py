"""Finds known values in text, also where they are encoded, escaped, in another case or broken over lines.

The text is looked at through views in which such differences are gone; each character of a view remembers the piece of
text it stands for. Against carelessness, not against malice: whoever knows a value can always write it in a way that
nobody recognises.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from codemodekit.cleaning import MARK

__all__ = ["Spotter"]

_MIN_BROKEN: Final = 8
"""A shorter value is not looked for across blanks, where words that merely meet would spell it."""
_MIN_LINE: Final = 16
"""Lines of a secret of several lines, such as a key, that are secrets by themselves."""
_MIN_BASE64: Final = 4

_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_ESCAPES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|(?:%[0-9a-fA-F]{2})+|\\x[0-9a-fA-F]{2}|\\[nrtbf\"'/\\]")
_CONTROLS: Final = frozenset("nrtbf")


class Spotter:
    """Knows some values and finds them."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value)}
        # The longest first: a value that holds another one is replaced as a whole.
        self._long = _ordered(_squeezed(form) for form in forms if len(_squeezed(form)) >= _MIN_BROKEN)
        self._short = _ordered(form.lower() for form in forms if len(_squeezed(form)) < _MIN_BROKEN)

    def found_in(self, text: str) -> bool:
        """Whether any of the values is in the text."""
        return any(self._in_view(decoded) for decoded in _decodings(text))

    def blanked(self, text: str) -> str:
        """The text with every one of the values replaced."""
        spans = [span for decoded in _decodings(text) if self._in_view(decoded) for span in self._spans(text, decoded)]
        if not spans:
            return text
        pieces, end = [], 0
        for start, stop in _merged(spans):
            pieces += [text[end:start], MARK]
            end = stop
        return "".join([*pieces, text[end:]])

    def _in_view(self, decoded: str) -> bool:
        squeezed = _squeezed(decoded) if self._long else ""
        lowered = decoded.lower() if self._short else ""
        return any(form in squeezed for form in self._long) or any(form in lowered for form in self._short)

    def _spans(self, text: str, decoded: str) -> Iterator[tuple[int, int]]:
        for forms, squeeze in ((self._long, True), (self._short, False)):
            if forms:
                view = _View(text, decode=decoded is not text, squeeze=squeeze)
                for form in forms:
                    yield from view.places_of(form)


class _View:
    """A text as the spotter sees it, with the place in the text that each of its characters comes from."""

    def __init__(self, text: str, *, decode: bool, squeeze: bool) -> None:
        self._places: list[tuple[int, int]] = []
        characters: list[str] = []
        for start, stop, meant in _pieces(text) if decode else ((i, i + 1, c) for i, c in enumerate(text)):
            seen = _squeezed(meant) if squeeze else meant.lower()
            characters.append(seen)
            self._places += [(start, stop)] * len(seen)
        self._text = "".join(characters)

    def places_of(self, form: str) -> Iterator[tuple[int, int]]:
        at = self._text.find(form)
        while at >= 0:
            yield self._places[at][0], self._places[at + len(form) - 1][1]
            at = self._text.find(form, at + len(form))


def _squeezed(text: str) -> str:
    """Without blanks, line ends and invisible characters, in one case."""
    text = "".join(text.lower().split())
    return text if text.isascii() else text.translate(_INVISIBLE)


def _decodings(text: str) -> tuple[str, ...]:
    """The text, and what it says if its escapes are read."""
    if "%" not in text and "\\" not in text:
        return (text,)
    return (text, _ESCAPES.sub(lambda found: _meaning(found[0]), text))


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """The text cut into characters and escapes, each with its place and its meaning."""
    end = 0
    for found in _ESCAPES.finditer(text):
        yield from ((i, i + 1, text[i]) for i in range(end, found.start()))
        yield found.start(), found.end(), _meaning(found[0])
        end = found.end()
    yield from ((i, i + 1, text[i]) for i in range(end, len(text)))


def _meaning(escape: str) -> str:
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[1] == "u":
        units = bytes.fromhex(escape.replace("\\u", ""))
        return units.decode("utf-16-be", "replace")
    if escape[1] == "x":
        return chr(int(escape[2:], 16))
    return " " if escape[1] in _CONTROLS else escape[1]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _ordered(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(forms), key=lambda form: (-len(form), form)))


# --- the forms a value comes back in ----------------------------------------------------------------------------------


def _forms(value: str) -> Iterator[str]:
    value = value.strip()
    yield from (value, html.escape(value), value.replace(" ", "+"), _ESCAPES.sub(lambda f: _meaning(f[0]), value))
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line for line in lines if len(line.strip()) >= _MIN_LINE and not line.startswith("-----"))
    # Text that UTF-8 cannot carry has no hexadecimal or base64 form.
    raw = value.encode(errors="replace")
    yield raw.hex()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield from _inside_base64(raw, encode)


def _inside_base64(raw: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """What of the value is the same wherever it stands inside of a longer encoded text, as in `user:secret`."""
    for lead in range(3):
        text = encode(bytes(lead) + raw).decode("ascii")
        start = (lead * 8 + 5) // 6
        end = (lead + len(raw)) * 8 // 6
        if end - start >= _MIN_BASE64:
            yield text[start:end]
