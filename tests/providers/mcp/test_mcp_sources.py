"""What a configuration may say, and what never leaves a source."""

from __future__ import annotations

import base64
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest

from codemodekit.errors import ConfigurationError
from codemodekit.providers.mcp.redaction import MAX_CHARS, Redactor
from codemodekit.providers.mcp.sources import McpToolProvider, mcp

SECRET = "s3cr&t/Wort?"


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize(
    "build",
    [
        lambda: mcp.stdio("", "x"),
        lambda: mcp.stdio("a", " "),
        lambda: mcp.stdio("a", "x", "--flag"),
        lambda: mcp.stdio("a", "x", [1]),  # type: ignore[list-item]
        lambda: mcp.stdio("a", "x", env={"A=B": "c"}),
        lambda: mcp.stdio("a", "x", env={"A": 1}),  # type: ignore[dict-item]
        lambda: mcp.stdio("a", "x", mode="2024-11-05"),  # type: ignore[arg-type]
        lambda: mcp.stdio("a", "x", output_mismatch="ignore"),  # type: ignore[arg-type]
        lambda: mcp.stdio("a", "x", connect_timeout_s=0),
        lambda: mcp.stdio("a", "x", connect_timeout_s=float("nan")),
        lambda: mcp.stdio("a", "x", secrets="one"),
        lambda: mcp.stdio("a", "x\0y"),
        lambda: mcp.http("a", "ftp://host/x"),
        lambda: mcp.http("a", "https:///x"),
        lambda: mcp.http("a", "http://[::1"),
        lambda: mcp.http("a", "http://user:pw@host/"),
        lambda: mcp.http("a", "http://host:99999/"),
        lambda: mcp.http("a", "http://host/a b"),
        lambda: mcp.sse("a", "http://host/", headers={"A b": "c"}),
        lambda: mcp.sse("a", "http://host/", headers={"A": "b\r\nC: d"}),
        lambda: mcp.http("a", "http://host/", timeout_s=True),
    ],
)
def test_settings_that_cannot_work_are_refused(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()


@pytest.mark.proves("error.secrets")
def test_a_refusal_does_not_quote_a_secret() -> None:
    with pytest.raises(ConfigurationError) as caught:
        mcp.http("a", "http://host/", headers={"Authorization": "Bearer hush\n"})
    assert "hush" not in str(caught.value)


@pytest.mark.proves("cli.help")
def test_configuring_sources_does_not_load_the_sdk() -> None:
    script = (
        "import sys; from codemodekit.providers.mcp.sources import mcp; mcp.stdio('a', 'b'); mcp.http('c', 'http://d');"
        "sys.exit([name for name in ('mcp', 'mcp_types', 'httpx2', 'pydantic') if name in sys.modules] or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.proves("error.secrets")
def test_a_provider_shows_no_credentials() -> None:
    shown = repr(mcp.stdio("a", "cmd", ["--key", SECRET], env={"KEY": SECRET}, secrets=[SECRET]))
    assert "cmd" in shown
    assert SECRET not in shown


@pytest.mark.proves("error.secrets")
@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        SECRET.replace("/", "\\/").replace("\\/", "/"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.urlsafe_b64encode(f"u:{SECRET}:x".encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_form(form: str) -> None:
    cleaned = Redactor([SECRET]).clean(f"before {form} after")
    assert "[redacted]" in cleaned
    assert form not in cleaned
    assert (cleaned[:7], cleaned[-6:]) == ("before ", " after")


@pytest.mark.proves("error.secrets")
@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer abcDEF123456", "Authorization: Bearer [redacted]"),
        ('{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"Basic [redacted]"}'),
        ("X-Api-Key: 12345, next", "X-Api-Key: [redacted], next"),
        ("Cookie: a=b", "Cookie: [redacted]"),
        ("GET https://u:p@host/x?access_token=abc&n=1", "GET https://[redacted]@host/x?access_token=[redacted]&n=1"),
        ("basic functionality needs a bearer token", "basic functionality needs a bearer token"),
    ],
)
def test_authorization_material_is_taken_out_without_being_configured(text: str, cleaned: str) -> None:
    assert Redactor().clean(text) == cleaned


@pytest.mark.proves("error.secrets")
def test_what_a_provider_redacts_comes_from_its_environment_headers_and_secrets() -> None:
    by_env = mcp.stdio("a", "b", env={"TOKEN": "env-token-1", "DEBUG": "true"}, secrets=["other"])
    by_header = mcp.http("a", "http://h/", headers={"Authorization": "Token header-token-1"})
    assert by_env.redact("env-token-1 other true") == "[redacted] [redacted] true"
    assert by_header.redact("got header-token-1") == "got [redacted]"


@pytest.mark.proves("error.upstream-text")
def test_text_is_bounded_and_hostile_text_costs_little() -> None:
    redactor = Redactor([SECRET])
    for hostile in ("a" * 10**6, "://" * 30_000, "bearer " * 20_000, "?token=" * 20_000, "authorization" * 9_000):
        assert len(redactor.clean(hostile)) <= MAX_CHARS


@pytest.mark.proves("mcp.transports")
def test_factories_make_providers_of_the_given_name() -> None:
    made = [mcp.stdio("A.b", "c"), mcp.http("A.b", "https://h/x"), mcp.sse("A.b", "http://h/x")]
    assert [type(provider) for provider in made] == [McpToolProvider] * 3
    assert {provider.name for provider in made} == {"A.b"}
