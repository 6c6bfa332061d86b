"""JSON of a package as plain data, with each object remembering a key that stands in it twice."""

from __future__ import annotations

import json
from typing import Any

from codemodekit.providers.agent_plugin.faults import Fault, shown

__all__ = ["Members", "members", "parse", "string", "text", "texts"]


class Members(dict[str, Any]):
    """A JSON object. JSON does not say which of two members of one name counts, so nobody can rely on either."""

    twice: frozenset[str] = frozenset()
    """Names that stand in it more than once."""


def parse(data: bytes) -> Any:
    """The value of a document.

    Raises:
        Fault: it is not JSON.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_members, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Fault(f"is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise Fault(f"is not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Fault("is nested too deeply") from None
    except ValueError:  # a number too long to convert, NaN
        raise Fault("is not JSON: a number cannot be read") from None


def members(what: str, value: Any) -> Members:
    """The members of an object.

    Raises:
        Fault: it is none, or a name stands in it twice.
    """
    if not isinstance(value, Members):
        raise Fault(f"{what} must be an object")
    if value.twice:
        raise Fault(f"{what} has {shown(min(value.twice))} twice")
    return value


def string(what: str, value: Any) -> None:
    """Refuse what is no text; any text will do.

    Raises:
        Fault: it is none.
    """
    if not isinstance(value, str):
        raise Fault(f"{what} must be text")


def text(what: str, value: Any) -> str:
    """Text that can be handed to a system.

    Raises:
        Fault: it is no text, or has characters that cannot be.
    """
    if not isinstance(value, str):
        raise Fault(f"{what} must be text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Fault(f"{what} has a character that cannot stand there")
    return value


def texts(what: str, value: Any) -> tuple[str, ...]:
    """A list of such texts.

    Raises:
        Fault: it is none.
    """
    if not isinstance(value, list):
        raise Fault(f"{what} must be a list")
    return tuple(text(f"{what}[{index}]", item) for index, item in enumerate(value))


def _members(pairs: list[tuple[str, Any]]) -> Members:
    found = Members()
    twice = set()
    for name, value in pairs:
        if name in found:
            twice.add(name)
        found[name] = value
    found.twice = frozenset(twice)
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)
