"""How a program writes the call of a tool, from the names of source and tool, which are kept exactly.

Knows the surface of `tools` inside a program (a path, brackets, `$call`), not what exists.
"""

from __future__ import annotations

import re
from typing import Final

from codemodekit._json import dumps

__all__ = ["callable_of"]

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_HIDDEN: Final = "then"
"""Absent at every level, so that awaiting a part of `tools` does not call it."""
_ESCAPE: Final = "$call"


def callable_of(source: str, tool: str) -> str:
    """`tools.git.log`, `tools["my-src"].do_it`, `tools.crm.contacts.find`, or `tools.$call("then", "x", args)`."""
    if source in (_HIDDEN, _ESCAPE) or tool == _HIDDEN:
        return f"tools.{_ESCAPE}({dumps(source)}, {dumps(tool)}, args)"
    return f"tools{_member(source)}{_path(tool)}"


def _path(tool: str) -> str:
    segments = tool.split(".")
    if all(_IDENTIFIER.fullmatch(segment) and segment != _HIDDEN for segment in segments):
        return "." + tool
    return f"[{dumps(tool)}]"


def _member(name: str) -> str:
    return f".{name}" if _IDENTIFIER.fullmatch(name) else f"[{dumps(name)}]"
