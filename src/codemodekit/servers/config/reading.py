"""Typed access to parsed config data: every complaint names the file, the path of the key and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from codemodekit.servers.config.model import ConfigError

__all__ = ["Node"]

_SHOWN: Final = 40
_PLAIN: Final = re.compile(r"[\w$-]+")


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a config file with the place it stands at."""

    file: str
    path: str
    """`mcpServers.git.args[0]`, or empty for the whole file."""
    value: Any
    key: str = ""
    """The last step of the path, exactly."""

    def error(self, problem: str) -> ConfigError:
        """The one line that says what is wrong here."""
        return ConfigError(f"{self.file}: {self.path}: {problem}" if self.path else f"{self.file}: {problem}")

    def child(self, key: str | int) -> Node:
        return Node(self.file, self.path + self._step(key), self.value[key], str(key))

    def _step(self, key: str | int) -> str:
        if isinstance(key, int):
            return f"[{key}]"
        if not _PLAIN.fullmatch(key):
            return f"[{_short(key)}]"
        return f".{key}" if self.path else key

    def get(self, key: str) -> Node | None:
        """The member `key`; None when it is absent."""
        return self.child(key) if key in self.object() else None

    def object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, Mapping):
            raise self.expected("an object")
        return self.value

    def members(self) -> Iterator[Node]:
        return (self.child(key) for key in self.object())

    def items(self) -> list[Node]:
        if not isinstance(self.value, list):
            raise self.expected("a list")
        return [self.child(index) for index in range(len(self.value))]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.expected("text")
        if "\0" in self.value:
            raise self.error("a NUL character cannot stand here")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.expected("true or false")
        return self.value

    def positive(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.expected("a positive number")
        if not 0 < self.value < 1e9:
            raise self.error("expected a positive number below 1000000000")
        return float(self.value)

    def one_of(self, choices: Sequence[str]) -> str:
        text = self.text()
        if text not in choices:
            known = ", ".join(map(repr, choices))
            raise self.error(f"{_short(text)} is none of {known}{_near(text, choices)}")
        return text

    def only(self, known: Sequence[str]) -> None:
        """Refuse keys that nobody reads: they are misspelt, or meant for something this version cannot do."""
        for key in self.object():
            if key not in known:
                raise self.error(f"there is no key {_short(key)}{_near(key, known) or _list(known)}")

    def expected(self, what: str) -> ConfigError:
        return self.error(f"expected {what}, not {_kind(self.value)}")


def _near(word: str, known: Sequence[str]) -> str:
    lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), lower, n=1, cutoff=0.5)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def _list(known: Sequence[str]) -> str:
    return f"; known here: {', '.join(known)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _kind(value: Any) -> str:
    # the value itself may be a credential in the wrong place
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
