"""How a program writes the call of a tool, from the names of source and tool, which are kept exactly.

Spelling belongs to the declarations; here is only what to do about names that no path reaches.
"""

from __future__ import annotations

from typing import Final

from codemodekit.declarations.names import RESERVED_MEMBERS, call_expression, path_of, quote

__all__ = ["callable_of"]

_ESCAPE: Final = "$call"


def callable_of(source: str, tool: str) -> str:
    """`tools.git.log`, `tools["my-src"].do_it`, `tools.crm.contacts.find`, or `tools.$call("then", "x", args)`."""
    if source == _ESCAPE or not RESERVED_MEMBERS.isdisjoint((source, *path_of(tool))):
        return f"tools.{_ESCAPE}({quote(source)}, {quote(tool)}, args)"
    return call_expression(source, tool)
