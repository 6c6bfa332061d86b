"""The text of an OpenAPI document into a value: JSON or YAML, bounded, with references that lead nowhere else.

Nothing is ever fetched for a reference; one that leaves the document has no target. Knows nothing of operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from codemodekit._json import JsonValue, loads
from codemodekit.errors import ConfigurationError
from codemodekit.providers.openapi.yaml_text import read_yaml

__all__ = ["MAX_DOCUMENT_BYTES", "BrokenReference", "Document", "parse_document"]

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
"""Longest text that is read; the largest public documents have 50 MB."""

_MOST_HOPS: Final = 50


class BrokenReference(Exception):
    """A `$ref` that cannot be followed; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document."""

    root: Mapping[str, Any]
    version: str
    """`2.0`, `3.0` or `3.1`, also for later ones of the same line."""

    def follow(self, value: JsonValue) -> Mapping[str, Any]:
        """The object itself, or what its `$ref` leads to through any number of others.

        Raises:
            BrokenReference: it leaves the document, leads nowhere or around, or what it leads to is no object.
        """
        for _ in range(_MOST_HOPS):
            if not isinstance(value, Mapping):
                raise BrokenReference(f"expected an object, found {type(value).__name__}")
            reference = value.get("$ref")
            if reference is None:
                return value
            value = self.target(reference)
        raise BrokenReference(f"$ref {_shown(reference)} leads around in a circle")

    def target(self, reference: JsonValue) -> JsonValue:
        """What a reference points at.

        Raises:
            BrokenReference: it leaves the document or leads nowhere.
        """
        node: JsonValue = self.root
        for token in pointer_tokens(reference):
            if isinstance(node, Mapping) and token in node:
                node = node[token]
            elif isinstance(node, list) and token.isdecimal() and int(token[:9]) < len(node):
                node = node[int(token[:9])]
            else:
                raise BrokenReference(f"$ref {_shown(reference)} leads nowhere")
        return node


def pointer_tokens(reference: JsonValue) -> list[str]:
    """The steps of a reference into the document (RFC 6901, in the fragment of a URI).

    Raises:
        BrokenReference: it leaves the document.
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise BrokenReference(f"$ref {_shown(reference)} leaves the document; nothing is fetched for a reference")
    return [unquote(token).replace("~1", "/").replace("~0", "~") for token in reference.split("/")[1:]]


def parse_document(text: bytes, origin: str) -> Document:
    """Read a document; `origin` names it in messages.

    Raises:
        ConfigurationError: it is neither JSON nor YAML, too large, or no OpenAPI document of a version that is known.
    """
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ConfigurationError(f"{origin}: larger than {MAX_DOCUMENT_BYTES} bytes")
    try:
        root = _parsed(text.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise ConfigurationError(f"{origin}: nested too deeply") from error
    except ValueError as error:
        raise ConfigurationError(f"{origin}: neither JSON nor YAML ({' '.join(str(error).split())[:300]})") from error
    return document_of(root, origin)


def document_of(root: JsonValue, origin: str) -> Document:
    """A document that has been parsed already.

    Raises:
        ConfigurationError: it is no OpenAPI document of a version that is known.
    """
    if not isinstance(root, Mapping):
        raise ConfigurationError(f"{origin}: an OpenAPI document is an object, not {type(root).__name__}")
    return Document(root, _version(root, origin))


def _version(root: Mapping[str, Any], origin: str) -> str:
    said = root.get("openapi", root.get("swagger"))
    text = str(said)
    if "swagger" in root and text.startswith("2"):
        return "2.0"
    if "openapi" in root and text.startswith("3."):
        return "3.0" if text.startswith("3.0") else "3.1"
    if said is None:
        raise ConfigurationError(f"{origin}: no OpenAPI document: it has neither 'openapi' nor 'swagger'")
    raise ConfigurationError(f"{origin}: version {text[:40]!r} is not supported; 2.0, 3.0 and 3.1 are")


def _parsed(text: bytes) -> JsonValue:
    if text.lstrip()[:1] in (b"{", b"["):
        try:
            return loads(text)
        except ValueError as error:
            json_fault = error
        try:
            return read_yaml(text)  # its flow style looks like JSON
        except ValueError:
            raise json_fault from None
    return read_yaml(text)


def _shown(reference: JsonValue) -> str:
    return ascii(reference if isinstance(reference, str) and len(reference) <= 200 else str(reference)[:200])
