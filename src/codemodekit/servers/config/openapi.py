"""The entries under `openapi`: a document, where its API is reached, credentials, and which operations are offered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from codemodekit.servers.config.expand import Expander, ExpansionError
from codemodekit.servers.config.model import OpenApiSource, Source, UnavailableSource
from codemodekit.servers.config.reading import Node
from codemodekit.servers.config.sources import is_http, output_mismatch, private_values, string_map, valid_headers

__all__ = ["AUTH_KEYS", "OPENAPI_KEYS", "read_openapi_source"]

OPENAPI_KEYS: Final = (
    "spec", "baseUrl", "variables", "auth", "headers", "include", "exclude", "outputMismatch", "disabled",
)  # fmt: skip

AUTH_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "bearer": ("token",),
    "basic": ("username", "password"),
    "apiKey": ("value", "name", "in"),
    "oauth2": ("clientId", "clientSecret", "tokenUrl", "scopes", "audience", "clientIn"),
}
"""What each `type` of credential is made of; all but those of _OPTIONAL are needed."""

_OPTIONAL: Final = frozenset({"name", "in", "tokenUrl", "scopes", "audience", "clientIn"})


def read_openapi_source(node: Node, *, environment: Mapping[str, str], folder: Path) -> Source | None:
    """One entry of `openapi`; None for a disabled one. A text alone is the document.

    Raises:
        ConfigError: the entry cannot be understood.
    """
    expander = Expander(environment)
    try:
        if isinstance(node.value, str):
            return OpenApiSource(name=node.key, spec=_spec(node, expander, folder))
        disabled = node.get("disabled")
        if disabled is not None and disabled.flag():
            return None
        node.only(OPENAPI_KEYS)
        return _read(node, expander, folder)
    except ExpansionError as error:
        return UnavailableSource(name=node.key, reason=str(error))


def _read(node: Node, expander: Expander, folder: Path) -> OpenApiSource:
    spec = node.get("spec")
    if spec is None:
        raise node.error("needs 'spec': the OpenAPI document, a file or an address")
    base_url = node.get("baseUrl")
    if base_url is not None and not is_http(expander.expand(base_url.text())):
        raise base_url.error("expected an address that starts with http:// or https://")
    headers = string_map(node, "headers", expander)
    valid_headers(node, headers)
    return OpenApiSource(
        name=node.key,
        spec=_spec(spec, expander, folder),
        base_url=None if base_url is None else expander.expand(base_url.text()),
        variables=string_map(node, "variables", expander),
        auth=_auth(node.get("auth"), expander),
        headers=headers,
        include=_globs(node, "include") or ("*",),
        exclude=_globs(node, "exclude"),
        output_mismatch=output_mismatch(node),
        secrets=private_values(expander.used),
    )


def _spec(node: Node, expander: Expander, folder: Path) -> str:
    text = expander.expand(node.text())
    if not text.strip():
        raise node.error("is empty")
    scheme = urlsplit(text).scheme if "://" in text else ""
    if scheme in ("http", "https"):
        if not is_http(text):
            raise node.error("expected an address that names a host")
        return text
    if scheme:
        raise node.error("a document is a file, or an address that starts with http:// or https://")
    return str(folder / Path(text).expanduser())


def _globs(node: Node, key: str) -> tuple[str, ...]:
    member = node.get(key)
    return () if member is None else tuple(item.text() for item in member.items())


def _auth(node: Node | None, expander: Expander) -> Mapping[str, Any] | None:
    """One credential, or one for each security scheme of the document."""
    if node is None:
        return None
    kind = node.object().get("type")
    if isinstance(kind, str) or not node.object():
        return _credential(node, expander)
    return {"schemes": {member.key: _credential(member, expander) for member in node.members()}}


def _credential(node: Node, expander: Expander) -> dict[str, Any]:
    kind = node.get("type")
    if kind is None:
        raise node.error(f"needs 'type': one of {', '.join(map(repr, AUTH_KEYS))}")
    name = kind.one_of(tuple(AUTH_KEYS))
    keys = AUTH_KEYS[name]
    node.only(("type", *keys))
    credential: dict[str, Any] = {"type": name}
    for key in keys:
        member = node.get(key)
        if member is None:
            if key not in _OPTIONAL:
                raise node.error(f"needs {key!r}")
            continue
        if key == "scopes":
            credential[key] = tuple(expander.expand(item.text()) for item in member.items())
        elif key == "in":
            credential[key] = member.one_of(("header", "query", "cookie"))
        elif key == "clientIn":
            credential[key] = member.one_of(("header", "body"))
        else:
            credential[key] = expander.expand(member.text())
    return credential
