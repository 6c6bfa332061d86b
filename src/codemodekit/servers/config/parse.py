"""Bytes of a config file to plain data: JSON or TOML, chosen by the file's suffix."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

from codemodekit.servers.config.model import ConfigError

__all__ = ["MAX_BYTES", "parse_file"]

MAX_BYTES: Final = 4 * 1024 * 1024


def parse_file(path: Path) -> Any:
    """The data of one file.

    Raises:
        ConfigError: it cannot be read, or is not JSON or TOML; with line and column where they are known.
    """
    text = _read(path)
    language = "TOML" if path.suffix.lower() == ".toml" else "JSON"
    try:
        return tomllib.loads(text) if language == "TOML" else _json(text)
    except json.JSONDecodeError as error:
        hint = "; comments are not JSON" if error.doc[error.pos : error.pos + 2] in ("//", "/*") else ""
        raise ConfigError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}{hint}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    except _DuplicateKey as error:
        raise ConfigError(f"{path}: the key {error.key!r} stands twice in one object") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except ValueError as error:  # a number too long to convert, NaN
        raise ConfigError(f"{path}: not {language}: {error}") from None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None
    except ValueError:
        raise ConfigError(f"{str(path)!r} is not the name of a file") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes, which no config is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from None


class _DuplicateKey(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # the usual "last one wins" would let a pasted second server of the same name vanish without a word
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise _DuplicateKey(key)
        members[key] = value
    return members


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
