"""Finds known values in text, also where they are encoded, escaped, in another case or broken over lines.

The text is looked at through views in which such differences are gone; each character of a view remembers the piece of
text it stands for. Against carelessness, not against malice: whoever knows a value can always write it in a way that
nobody recognises.
"""

from __future__ import annotations

import base64
import html
import json
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
_MOST_READ: Final = 256 * 1024
"""A longer text with an encoded value in it is blanked whole: reading it closely takes microseconds a character."""
_MOST_READINGS: Final = 4
"""The text itself, and escapes within escapes within escapes."""

_BLANKS: Final = b" \t\n\r\v\f\x1c\x1d\x1e\x1f"
_INVISIBLE: Final = {code: None for code in range(0x80, 0x10000) if chr(code).isspace()} | dict.fromkeys(
    map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff")
)
_CODES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|(?:%[0-9a-fA-F]{2})+|\\x[0-9a-fA-F]{2}")
_ESCAPES: Final = re.compile(_CODES.pattern + r"|\\[nrtbf\"'/\\]")
_PLAIN_ESCAPES: Final = (
    *((f"\\{letter}", " ") for letter in "nrtbf"),
    *((f"\\{sign}", sign) for sign in "\"'/\\"),
)
_CONTROLS: Final = frozenset("nrtbf")


class Spotter:
    """Knows some values and finds them."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value)}
        # The longest first: a value that holds another one is replaced as a whole.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._verbatim = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None
        self._long = _ordered(_squeezed(form) for form in forms if len(_squeezed(form)) >= _MIN_BROKEN)
        self._short = _ordered(form.casefold() for form in forms if len(_squeezed(form)) < _MIN_BROKEN)
        self._quick = tuple(map(_bytes, self._long))

    def found_in(self, text: str) -> bool:
        """Whether any of the values is in the text."""
        return self._verbatim is not None and any(map(self._is_in, _readings(text)))

    def blanked(self, text: str) -> str:
        """The text with every one of the values replaced."""
        if self._verbatim is None or not self.found_in(text):
            return text
        text = self._verbatim.sub(MARK, text)  # most come back as they are, and this is quick
        if not self.found_in(text):
            return text
        if len(text) > _MOST_READ:
            return MARK
        pieces, end = [], 0
        for start, stop in _merged(self._spans(text)):
            pieces += [text[end:start], MARK]
            end = stop
        blanked = "".join([*pieces, text[end:]])
        # Reading quickly and reading exactly differ in rare texts; then better too much than too little.
        return MARK if self.found_in(blanked) else blanked

    def _is_in(self, reading: str) -> bool:
        lowered = reading.casefold()
        if any(form in lowered for form in self._short):
            return True
        if not lowered.isascii():
            lowered = lowered.translate(_INVISIBLE)
        squeezed = _bytes(lowered).translate(None, _BLANKS)
        return any(form in squeezed for form in self._quick)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        view = _View(text, [(index, index + 1) for index in range(len(text))])
        for _ in range(_MOST_READINGS):
            if self._is_in(view.text):
                yield from view.squeezed().places_of(self._long)
                yield from view.lowered().places_of(self._short)
            if (decoded := view.decoded()) is None:
                break
            view = decoded


class _View:
    """A text as the spotter reads it, with the place in the original that each of its characters comes from."""

    def __init__(self, text: str, places: list[tuple[int, int]]) -> None:
        self.text = text
        self._places = places

    def squeezed(self) -> _View:
        return self._mapped(_squeezed)

    def lowered(self) -> _View:
        return self._mapped(str.casefold)

    def decoded(self) -> _View | None:
        """The same with its escapes read; None if there is none."""
        texts: list[str] = []
        places: list[tuple[int, int]] = []
        end = 0
        for found in _ESCAPES.finditer(self.text):
            meant = _meaning(found[0])
            texts += [self.text[end : found.start()], meant]
            places += self._places[end : found.start()]
            places += [(self._places[found.start()][0], self._places[found.end() - 1][1])] * len(meant)
            end = found.end()
        return _View("".join([*texts, self.text[end:]]), places + self._places[end:]) if end else None

    def places_of(self, forms: Iterable[str]) -> Iterator[tuple[int, int]]:
        for form in forms:
            at = self.text.find(form)
            while at >= 0:
                yield self._places[at][0], self._places[at + len(form) - 1][1]
                at = self.text.find(form, at + len(form))

    def _mapped(self, change: Callable[[str], str]) -> _View:
        changed = [change(character) for character in self.text]
        places = [place for place, seen in zip(self._places, changed, strict=True) for _ in seen]
        return _View("".join(changed), places)


def _squeezed(text: str) -> str:
    """Without blanks, line ends and invisible characters, in one case."""
    text = "".join(text.casefold().split())
    return text if text.isascii() else text.translate(_INVISIBLE)


def _readings(text: str) -> Iterator[str]:
    """The text, and what it says if its escapes are read, and theirs. Quick rather than exact: `_View` is exact."""
    for _ in range(_MOST_READINGS):
        yield text
        before = text
        if "\\" in text:
            for escape, meaning in _PLAIN_ESCAPES:
                text = text.replace(escape, meaning)
        if "%" in text or "\\u" in text or "\\x" in text:
            text = _CODES.sub(lambda found: _meaning(found[0]), text)
        if text == before:
            break


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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
    yield from (
        value,
        html.escape(value),
        json.dumps(value)[1:-1],
        value.replace(" ", "+"),
        _ESCAPES.sub(lambda f: _meaning(f[0]), value),
    )
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
