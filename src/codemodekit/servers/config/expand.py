"""`${NAME}` and `${NAME:-default}` in strings of a config, from an environment that is handed in.

A missing variable is an exception of its own, because it costs one source and not the whole config. Its message has
the name of the variable and never any value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Expander", "ExpansionError"]

_REFERENCE: Final = re.compile(r"\$\{([^{}]*)\}")
_NAME: Final = re.compile(r"(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


class ExpansionError(Exception):
    """A reference that has no value; the message names it."""


@dataclass(slots=True)
class Expander:
    """Expands strings and remembers which values of the environment went into them."""

    environment: Mapping[str, str]
    used: list[str] = field(default_factory=list, repr=False)
    """Values taken from the environment so far: secrets, as far as anyone can tell."""

    def expand(self, text: str) -> str:
        """The text with its references replaced; an empty variable counts as missing, as in a shell's `:-`.

        Raises:
            ExpansionError: a variable without value and default, or a reference that is none.
        """
        return _REFERENCE.sub(self._value, text)

    def _value(self, reference: re.Match[str]) -> str:
        parts = _NAME.fullmatch(reference[1])
        if parts is None:
            # other clients write ${input:token} or ${workspaceFolder}, which only an editor can answer
            raise ExpansionError(
                f"{reference[0]!r} is not understood; write '${{NAME}}' or '${{NAME:-default}}' "
                "for a variable of the environment"
            )
        value = self.environment.get(parts["name"], "")
        if value:
            self.used.append(value)
            return value
        if parts["default"] is None:
            raise ExpansionError(f"the environment variable {parts['name']!r} is not set")
        return parts["default"]
