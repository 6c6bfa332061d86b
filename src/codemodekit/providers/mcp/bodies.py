"""What a server sent as the body of an HTTP answer, unpacked without swelling.

A kilobyte of compressed data may stand for a megabyte; the HTTP client unpacks each piece whole before anyone can look
at its size.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Final

import httpx2

from codemodekit.providers.mcp import lines
from codemodekit.providers.mcp.messages import too_large_words

__all__ = ["ACCEPTED_ENCODINGS", "TooLong", "whole_body", "without_encoding"]

ACCEPTED_ENCODINGS: Final = "gzip, deflate"

_PIECE: Final = 64 * 1024
_EITHER: Final = 32 | zlib.MAX_WBITS
"""The headers of both gzip and zlib are understood."""


class TooLong(httpx2.TransportError):
    """An answer beyond MAX_MESSAGE_BYTES."""


async def without_encoding(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The body in pieces of bounded size.

    Raises:
        httpx2.TransportError: the connection broke, or the body cannot be unpacked.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        async for chunk in response.aiter_raw():
            yield chunk
    elif encoding in ("gzip", "x-gzip", "deflate"):
        async for chunk in _unpacked(response.aiter_raw()):
            yield chunk
    else:
        raise httpx2.RemoteProtocolError("the server's answer is compressed in a way that was not asked for")


async def whole_body(response: httpx2.Response) -> bytes:
    """The body, which ends the answer.

    Raises:
        TooLong: it is longer than a message may be.
        httpx2.TransportError: the connection broke, or the body cannot be unpacked.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in without_encoding(response):
            size += len(chunk)
            if size > lines.MAX_MESSAGE_BYTES:
                raise TooLong(too_large_words())
            chunks.append(chunk)
    finally:
        await response.aclose()
    return b"".join(chunks)


async def _unpacked(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    unpacker = zlib.decompressobj(_EITHER)
    async for chunk in chunks:
        rest, more = chunk, True
        while more and not unpacker.eof:
            try:
                piece = unpacker.decompress(rest, _PIECE)
            except zlib.error as error:
                raise httpx2.RemoteProtocolError("the server's answer cannot be decompressed") from error
            rest = unpacker.unconsumed_tail
            more = bool(rest) or len(piece) == _PIECE
            if piece:
                yield piece
    if not unpacker.eof:
        raise httpx2.RemoteProtocolError("the server's answer cannot be decompressed: it is cut off")
