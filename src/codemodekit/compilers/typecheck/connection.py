"""JSON-RPC over two pipes, framed as language servers frame it: requests find their answers, everything else is noise.

Knows nothing of TypeScript or of processes. What the far end asks is answered with nothing, which it takes for "as you
please".
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

__all__ = ["CompilerLost", "Connection"]

_LONGEST_MESSAGE: Final = 1024 * 1024
"""Only a text made for it draws so many complaints; reading more would hold up the event loop."""
_LONGEST_HEADER: Final = 4096


class CompilerLost(Exception):
    """The far end is gone, or says what nobody can read."""


class Connection:
    """One language server's standard input and output."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._last_id = 0
        self._unsent: list[bytes] = []
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._lost: CompilerLost | None = None
        self._listening = asyncio.get_running_loop().create_task(self._listen(), name="type checker")

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    async def request(self, method: str, params: Any) -> Any:
        """The result of a request.

        Raises:
            CompilerLost: there will be none.
        """
        if self._lost is not None:
            raise self._lost
        self._last_id = number = self._last_id + 1
        self._waiting[number] = answer = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, "method": method, "params": params})
            return await answer
        finally:
            self._waiting.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # also when sending failed first: an exception nobody fetches is reported

    def notify(self, method: str, params: Any) -> None:
        """Tell something that has no answer, together with the next request: each message alone would wake the far
        end."""
        self._unsent.append(_framed({"method": method, "params": params}))

    async def close(self) -> None:
        """Stop listening and let go of the pipes."""
        self._end("it was closed")
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._writer.close()

    async def _send(self, message: dict[str, Any]) -> None:
        data = b"".join([*self._unsent, _framed(message)])
        self._unsent.clear()
        try:
            self._writer.write(data)
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise self._end("its input is closed") from error

    async def _listen(self) -> None:
        try:
            while True:
                await self._take(await self._message())
        except asyncio.IncompleteReadError:
            self._end("it ended")
        except (CompilerLost, OSError, ValueError, RecursionError, asyncio.LimitOverrunError) as error:
            self._end(f"it cannot be understood ({type(error).__name__})")

    async def _message(self) -> Any:
        size = 0
        while line := (await self._reader.readuntil(b"\r\n")).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not 0 < size <= _LONGEST_MESSAGE:
            raise CompilerLost(f"a message of {size} bytes")
        return json.loads(await self._reader.readexactly(size))

    async def _take(self, message: Any) -> None:
        if not isinstance(message, dict):
            raise CompilerLost("a message that is no object")
        if "method" in message:
            if "id" in message:
                await self._send({"id": message["id"], "result": _nothing(message)})
            return
        answer = self._waiting.get(message.get("id", 0))
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CompilerLost(str(message["error"])[:200]))
        else:
            answer.set_result(message.get("result"))

    def _end(self, why: str) -> CompilerLost:
        lost = self._lost = self._lost or CompilerLost(why)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(CompilerLost(str(lost)))
        return lost


def _framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _nothing(message: dict[str, Any]) -> Any:
    """One nothing for each thing that is asked."""
    params = message.get("params")
    items = params.get("items") if isinstance(params, dict) else None
    return [None] * len(items) if isinstance(items, list) else None
