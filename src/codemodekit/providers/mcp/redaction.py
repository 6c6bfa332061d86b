"""Text from a server, made fit to leave this room: no configured secret in it, no authorization material, bounded.

Knows the secret values of one source and the shapes in which they tend to come back. Knows nothing of the protocol.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

__all__ = ["Redactor"]

MARK: Final = "[redacted]"
MAX_CHARS: Final = 4_000
"""Longest text that is handed out."""
MIN_SECRET_CHARS: Final = 4
"""Anything shorter is no secret worth its name, and replacing it would tear words apart."""

_SCANNED_CHARS: Final = 64_000
"""Text beyond is dropped before scanning; far enough behind MAX_CHARS that no half of a secret survives the cut."""

_SHAPES: Final = (
    # A capital, a digit or padding tells a token from a word, as in "basic functionality".
    (
        re.compile(r"(?i)\b(bearer|basic|digest|negotiate)(\s+)(?=[\w.~+/=-]*(?-i:[A-Z0-9=]))[\w.~+/=-]{6,}"),
        rf"\1\2{MARK}",
    ),
    (
        re.compile(
            r"""(?i)\b((?:proxy-)?authorization|x-api-key|api-key|(?:set-)?cookie)(["']?\s*[:=]\s*["']?)"""
            r"""(?!\s*(?:bearer|basic|digest|negotiate)\b)[^\s"',;][^\r\n"',;]*"""
        ),
        rf"\1\2{MARK}",
    ),
    (re.compile(r"(://)[^\s/@:?#]{0,256}:[^\s/@?#]{1,512}@"), rf"\1{MARK}@"),
    (
        re.compile(
            r"(?i)([?&;](?:access_|auth_|id_|refresh_)?(?:token|api_?key|key|secret|password|sig|signature)=)[^&\s\"'#]+"
        ),
        rf"\1{MARK}",
    ),
)


class Redactor:
    """Replaces what must not be shown.

    Example:
        >>> Redactor(["hunter2!"]).clean("login with hunter2! failed")
        'login with [redacted] failed'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        # The longest first: a secret that holds another one is replaced as a whole.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._forms = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __repr__(self) -> str:
        return "Redactor(...)"

    def clean(self, text: str) -> str:
        """The text without secrets and authorization material, at most MAX_CHARS long."""
        text = text[:_SCANNED_CHARS]
        if self._forms is not None:
            text = self._forms.sub(MARK, text)
        for shape, replacement in _SHAPES:
            text = shape.sub(replacement, text)
        text = text.strip()
        return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _forms(secret: str) -> Iterator[str]:
    """The secret and how it looks inside of JSON, URLs and base64."""
    secret = secret.strip()
    if len(secret) < MIN_SECRET_CHARS:
        return
    yield secret
    yield json.dumps(secret)[1:-1]
    # Text that UTF-8 cannot carry has no URL or base64 form.
    raw = secret.encode(errors="replace")
    yield from (quote(raw), quote(raw, safe=""), quote_plus(raw))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield from _inside_base64(raw, encode)


def _inside_base64(raw: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """What of the secret is the same wherever it stands inside of a longer encoded text, as in `user:secret`."""
    for lead in range(3):
        text = encode(bytes(lead) + raw).decode("ascii")
        start = (lead * 8 + 5) // 6
        end = (lead + len(raw)) * 8 // 6
        if end - start >= MIN_SECRET_CHARS:
            yield text[start:end]
