"""From configured names to TypeScript spelling: members, string literals, type names, the expression that calls a tool.

Names themselves are never changed; what is not an identifier is quoted. Knows nothing of schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "RESERVED_MEMBERS",
    "TypeNames",
    "call_expression",
    "member",
    "path_of",
    "quote",
    "tool_type_name",
    "type_name",
]

RESERVED_MEMBERS: Final = frozenset({"then", "toJSON"})
"""Members the `tools` proxy never shows, so that awaiting or printing it by mistake cannot call a tool."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")

_KEYWORDS: Final = frozenset(
    keyword
    for line in (
        "break case catch class const continue debugger default delete do else enum export extends false finally for",
        "function if import in instanceof new null return super switch this throw true try typeof var void while with",
        "implements interface let package private protected public static yield await async get set readonly abstract",
        "declare accessor constructor __proto__",
    )
    for keyword in line.split()
)

_LONGEST_PATH: Final = 12

_LONGEST_TYPE_NAME: Final = 80

_TAKEN_BY_THE_LIBRARIES: Final = frozenset({"MIDIInput", "MIDIOutput"})
"""The only global types of TypeScript's own libraries that end as ours do."""


def quote(text: str) -> str:
    """A double-quoted string literal on one line, whatever `text` holds."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return "".join(
        character if character.isprintable() else json.dumps(character)[1:-1]
        for character in json.dumps(text, ensure_ascii=False)
    )


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.match(name) is not None


def member(name: str) -> str:
    """`name` as a member of an interface; keywords are quoted because `new(…)` and some others mean something else."""
    return name if _is_identifier(name) and name not in _KEYWORDS else quote(name)


def path_of(tool: str) -> tuple[str, ...]:
    """The members that lead from a source to a tool: the parts of a dotted name if each can be written after a dot."""
    parts = tuple(tool.split(".", _LONGEST_PATH))
    if len(parts) <= _LONGEST_PATH and all(_is_identifier(part) and part not in RESERVED_MEMBERS for part in parts):
        return parts
    return (tool,)


def call_expression(source: str, tool: str) -> str:
    """What a program writes before the parenthesised argument: `tools.github.search`, `tools["my-api"]["get item"]`."""
    return "tools" + "".join(_access(part) for part in (source, *path_of(tool)))


def _access(name: str) -> str:
    return f".{name}" if _is_identifier(name) else f"[{quote(name)}]"


def type_name(*parts: str) -> str:
    """A readable type name made of `parts`: `("github", "search_issues", "Input")` gives `GithubSearchIssuesInput`."""
    words = (word for part in parts for word in _words(part))
    name = "".join(word[0].upper() + word[1:] for word in words)
    if len(name) > _LONGEST_TYPE_NAME:
        name = name[: _LONGEST_TYPE_NAME // 2] + name[-_LONGEST_TYPE_NAME // 2 :]
    return f"T{name}" if not name or name[0].isdigit() else name


def tool_type_name(source: str, tool: str, role: str) -> str:
    """The name of a tool's own type; a tool that repeats its source, as in `git.git_log`, does not say it twice."""
    head, name = type_name(source), type_name(tool)
    repeats = name.startswith(head) and len(name) > len(head) and not name[len(head)].islower()
    return type_name(tool, role) if repeats else type_name(source, tool, role)


def _words(text: str) -> Iterable[str]:
    return re.findall(r"[A-Za-z0-9]+", text) or ["X"]


class TypeNames:
    """Hands out type names, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken, *_TAKEN_BY_THE_LIBRARIES}
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or `wanted` with the first free number."""
        name = wanted
        while name in self._taken:
            self._last[wanted] = self._last.get(wanted, 1) + 1
            name = f"{wanted}_{self._last[wanted]}"
        self._taken.add(name)
        return name
