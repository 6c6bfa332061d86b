"""The last words of a child process, which say more about its end than its exit code."""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["Tail"]


class Tail:
    """The last lines a child wrote beside the protocol, bounded."""

    _LINES: Final = 50
    _LINE_CHARS: Final = 500

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=self._LINES)
        self._open = ""

    def add(self, data: bytes) -> None:
        """Any piece of output, cut anywhere."""
        *lines, self._open = (self._open + data.decode("utf-8", "replace")).split("\n")
        for line in lines[-self._LINES :]:
            self._keep(line)
        self._open = self._open[: self._LINE_CHARS]

    def noise(self, line: bytes) -> None:
        """A line of stdout that is no message."""
        if line.strip():
            self._keep("stdout: " + line[: self._LINE_CHARS].decode("utf-8", "replace"))

    def text(self) -> str:
        """The lines that were kept, oldest first."""
        return "\n".join([*self._lines, *([self._open] if self._open.strip() else [])])

    def _keep(self, line: str) -> None:
        if line.strip():
            self._lines.append(line.rstrip()[: self._LINE_CHARS])
