"""Where a document comes from: a file, an address that is asked once, or a value that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from codemodekit.errors import SourceLost
from codemodekit.providers.openapi.document import MAX_DOCUMENT_BYTES, Document, document_of, parse_document

__all__ = ["fetch_document", "read_document"]


def read_document(spec: str | Path | Mapping[str, Any]) -> Document:
    """A document from a file or a value; to be called in a thread.

    Raises:
        ConfigurationError: it cannot be understood.
        SourceLost: the file cannot be read.
    """
    if isinstance(spec, Mapping):
        return document_of(spec, "the document")
    path = Path(spec)
    try:
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise SourceLost(f"{path.name}: larger than {MAX_DOCUMENT_BYTES} bytes")
        text = path.read_bytes()
    except OSError as error:
        raise SourceLost(f"{path.name}: {error.strerror or type(error).__name__}") from error
    return parse_document(text, path.name)


async def fetch_document(client: httpx2.AsyncClient, address: str) -> tuple[Document, str]:
    """The document at an address, and the address it was found at after redirects.

    Raises:
        ConfigurationError: it cannot be understood.
        SourceLost: it cannot be had.
    """
    chunks: list[bytes] = []
    size = 0
    accepted = {"Accept": "application/json, application/yaml;q=0.9, */*;q=0.1"}
    try:
        async with client.stream("GET", address, headers=accepted, follow_redirects=True) as response:
            if response.status_code != 200:
                raise SourceLost(f"the document cannot be had: HTTP {response.status_code}")
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_DOCUMENT_BYTES:
                    raise SourceLost(f"the document is larger than {MAX_DOCUMENT_BYTES} bytes")
                chunks.append(chunk)
            found = str(response.url)
    except httpx2.HTTPError as error:
        raise SourceLost(f"the document cannot be had: {type(error).__name__}") from error
    return parse_document(b"".join(chunks), "the document"), found
