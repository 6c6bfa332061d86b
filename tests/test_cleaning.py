"""What is taken out of a text by its shape alone, and what is left as it is."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from codemodekit.cleaning import MESSAGE_CHARACTERS, clean

pytestmark = pytest.mark.proves("error.secrets")

HERE = Path(__file__)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("open /home/ada/notes.txt: no such file", "open [path]/notes.txt: no such file"),
        ("cannot read '/etc/app/key.pem'", "cannot read '[path]/key.pem'"),
        ("in /usr/lib/python3.12/site-packages/x/y.py:12", "in [path]/y.py:12"),
        ("[Errno 2] No such file: /root/.config/x/", "[Errno 2] No such file: [path]/x"),
        ("file:///home/ada/a.txt is missing", "file://[path]/a.txt is missing"),
        (r"C:\Users\ada\secret plans\a.txt", r"[path]/secret plans\a.txt"),
        (r'{"path":"C:\\Users\\ada\\a.txt"}', '{"path":"[path]/a.txt"}'),
        ("D:/data/x/model.bin failed", "[path]/model.bin failed"),
        (f"under {Path.home() / 'x' / 'y.db'}", "under [path]/y.db"),
        (f"under {tempfile.gettempdir()}/abc123", "under [path]/abc123"),
        (f"config is {Path.cwd()}/codemode.json", "config is [path]/codemode.json"),
        (f"in {Path.cwd()}.", f"in [path]/{Path.cwd().name}."),
    ],
)
def test_paths_of_this_host_are_shortened_to_their_last_part(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "see https://example.com/usr/docs/home/index.html#top",
        "http://127.0.0.1:8080/tmp/x?path=a/home/b",
        "http://[::1]/var/x",
        "GET /app/users returned 404; POST /work/items is allowed",
        "no such branch: feature/home/page",
        "use and/or, 1/2, n/a, w/o, text/html, ./run.sh, ../var/x, ~/notes",
        "the route /orders/{id} takes an id",
        "git@github.com:org/tmp/repo.git",
        "expected a: b, got C: d",
        "ratio 3:4, at 10:30",
        "the token: unexpected end of input",
        "basic functionality, bearer of bad news, digest authentication failed",
        "a key of 5 characters; secret garden; password must have 8 characters",
        "invalid 'cookie' name",
        "call at 5 pm\n    at home",
        "mail ada@example.com",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer abcDEF123456", "Authorization: Bearer [redacted]"),
        ("Cookie: a=b; session=c", "Cookie: [redacted]"),
        ("x-api-key=abcdef&n=1", "x-api-key=[redacted]&n=1"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "[redacted]", "n": 1}'),
        ('{"password":"hunter2","n":1}', '{"password":"[redacted]","n":1}'),
        ("token=abcdef and client_secret = 'xyz1'", "token=[redacted] and client_secret = '[redacted]'"),
        ("token: abc123def", "token: [redacted]"),
        ("postgres://ada:pw@db/x and https://tok@h", "postgres://[redacted]@db/x and https://[redacted]@h"),
        ("/cb?code=1&access_token=abc#f", "/cb?code=1&access_token=[redacted]#f"),
        ("got eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", "got [redacted]"),
        ("ghp_abcdefghij0123456789 and sk-proj-abcdefghij0123456789", "[redacted] and [redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nok", "[redacted]\nok"),
    ],
)
def test_what_looks_like_a_credential_is_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_frames_of_tracebacks_are_taken_out_and_what_they_led_to_stays() -> None:
    python = (
        "tool failed\nTraceback (most recent call last):\n"
        '  File "/srv/app/server.py", line 3, in call\n    raise ValueError(\n        "x"\n    )\n'
        '  File "/srv/app/db.py", line 9, in find\n    ^^^^^^\nValueError: no row 7'
    )
    node = "Error: no row 7\n    at find (/srv/app/db.js:9:3)\n    at async file:///srv/app/x.mjs:1:2\nafter"
    assert clean(python) == "tool failed\nValueError: no row 7"
    assert clean(node) == "Error: no row 7\nafter"


def test_a_text_is_bounded_and_hostile_text_costs_little() -> None:
    hostile = ["a" * 10**6, "/home/" * 10**5, "://" * 10**5, 'File "' * 10**5, "    at /" * 10**5, "C:\\" * 10**5]
    hostile += ["bearer " * 10**5, "token=" * 10**5, "-----BEGIN PRIVATE KEY-----" * 10**4, "eyJ" * 10**5]
    for text in hostile:
        assert len(clean(text)) <= MESSAGE_CHARACTERS
