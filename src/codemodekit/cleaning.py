"""Text of upstreams and exceptions made fit to be shown: bounded, without what looks like a credential or a host path.

Knows only shapes. Each source takes its own configured secrets out before its text gets here; what is kept for the
host is kept elsewhere.
"""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["MARK", "MESSAGE_CHARACTERS", "clean", "without_credentials", "without_host_paths"]

MARK: Final = "[redacted]"
"""Stands where something was taken out."""

MESSAGE_CHARACTERS: Final = 4096
"""Longest text of an upstream that is shown."""


def clean(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """The text, at most `most` characters, without credentials, frames of tracebacks and paths of this host."""
    text = text[: 2 * most].replace("\x00", "")
    text = without_host_paths(without_credentials(text))
    return text if len(text) <= most else text[: most - 1] + "…"


# --- credentials ------------------------------------------------------------------------------------------------------

_SCHEMES: Final = "bearer|basic|digest|negotiate"
_CREDENTIALS: Final = (
    # A capital, a digit or padding tells a token from a word, as in "basic functionality".
    (re.compile(rf"(?i)\b({_SCHEMES})(\s+)(?=[\w.~+/=-]*(?-i:[A-Z0-9=]))[\w.~+/=-]{{6,}}"), rf"\1\2{MARK}"),
    (re.compile(r"(?i)\b((?:set-)?cookie)([\"']?\s*[:=]\s*[\"']?)[^\s\"'][^\r\n\"]*"), rf"\1\2{MARK}"),
    (
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|(?:x-)?api[-_]?key)([\"']?\s*[:=]\s*[\"']?)"
            rf"(?!\s*(?:{_SCHEMES})\b)[^\s\"',;&][^\r\n\"',;&]*"
        ),
        rf"\1\2{MARK}",
    ),
    (re.compile(r"(://)[^\s/@?#]{1,512}@"), rf"\1{MARK}@"),
    (
        re.compile(
            r"(?i)([?&;](?:access_|auth_|id_|refresh_)?(?:token|api_?key|key|secret|password|sig|signature)=)[^&\s\"'#]+"
        ),
        rf"\1{MARK}",
    ),
    (
        re.compile(
            r"(?i)\b((?:(?:access|auth|refresh|id)_)?token|(?:client_)?secret|password|passwd|pwd)"
            r"(\s*=\s*[\"']?|[\"']\s*:\s*[\"']|\s*:\s*(?=[^\s\"',;&]*\d))[^\s\"',;&#]{4,}"
        ),
        rf"\1\2{MARK}",
    ),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), MARK),
    (
        re.compile(
            r"\b(?:(?:sk|rk|pk)[-_](?:[a-z]{2,8}[-_])*[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
            r"|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16})\b"
        ),
        MARK,
    ),
    (
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]{0,40}-----)?"),
        MARK,
    ),
)


def without_credentials(text: str) -> str:
    """The text without authorization material, which is known by its shape."""
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text


# --- paths of this host -----------------------------------------------------------------------------------------------

_FRAMES: Final = (
    re.compile(r"(?m)^[ \t]*Traceback \(most recent call last\):[ \t]*\r?\n?"),
    re.compile(r"(?m)^[ \t]*File \"[^\"\n]*\", line \d+(?:, in [^\n]*)?\n?(?:[ \t]{4,}[^\n]*(?:\n|$))*"),
    re.compile(r"(?m)^[ \t]+at [^\n]*?(?:file://|node:|/|[A-Za-z]:\\)[^\n]*:\d+:\d+\)?[ \t]*(?:\n|$)"),
)
_PART: Final = r"[^\s'\"<>|:;,()\[\]{}`*?]"
_ROOTS: Final = (
    "home|root|Users|usr|opt|var|tmp|srv|mnt|media|etc|private|proc|run|nix|snap|Library|Applications|Volumes"
    "|app|workspace|workspaces|work"
)
_METHOD: Final = r"(?<!GET )(?<!PUT )(?<!POST )(?<!HEAD )(?<!PATCH )(?<!DELETE )(?<!OPTIONS )"
_PATHS: Final = re.compile(
    rf"(?:(?<=file://)|(?<![\w./\]@~-]){_METHOD})/(?:{_ROOTS})/{_PART}*"
    rf"|(?<![\w/])[A-Za-z]:(?:\\{{1,2}}|/)(?:[^\s'\"<>|:;,()\[\]/\\]+(?:\\{{1,2}}|/))+[^\s'\"<>|:;,()\[\]]*"
)


def without_host_paths(text: str) -> str:
    """The text without frames of tracebacks, and with paths of this host shortened to their last part.

    Addresses, and routes behind an HTTP method, are left as they are.
    """
    for frame in _FRAMES:
        text = frame.sub("", text)
    for pattern in (_own_folders(_working_folder()), _PATHS):
        if pattern is not None:
            text = pattern.sub(_last_part, text)
    return text


@cache
def _own_folders(working_folder: str) -> re.Pattern[str] | None:
    """Paths below this process's own folders, wherever they are."""
    own = {working_folder, str(Path.home()), tempfile.gettempdir()}
    long = sorted((folder for folder in own if len(folder.strip("/\\")) > 1), key=len, reverse=True)
    if not long:
        return None
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, long))})(?![\w-])(?:[/\\]{_PART}*)?")


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return ""


def _last_part(found: re.Match[str]) -> str:
    last: str = re.split(r"[/\\]", found[0].rstrip("/\\."))[-1]
    return f"[path]/{last}"
