"""Two revisions of a catalogue in, what became of each tool out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from codemodekit._json import ABSENT, Absent, JsonValue, canonical
from codemodekit.catalog.revision import CatalogRevision, RecordedSource, RecordedTool

__all__ = ["CatalogDiff", "Change", "ToolChange", "diff_catalogs"]

_MOST_PLACES: Final = 20
_DEEPEST: Final = 200


@dataclass(frozen=True, slots=True)
class Change:
    """One aspect of a tool that is not what it was."""

    aspect: str
    """description, inputSchema, outputSchema, annotations, outputMismatch, hidden or quarantined."""
    before: JsonValue | Absent
    after: JsonValue | Absent
    at: tuple[str, ...] = ()
    """JSON pointers to the places of a schema or of annotations that differ, at most twenty."""

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"aspect": self.aspect}
        if self.before is not ABSENT:
            wire["before"] = self.before
        if self.after is not ABSENT:
            wire["after"] = self.after
        return {**wire, "at": list(self.at)} if self.at else wire


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that is in both revisions and is not the same."""

    source: str
    tool: str
    changes: tuple[Change, ...]

    def to_wire(self) -> dict[str, Any]:
        return {"source": self.source, "tool": self.tool, "changes": [each.to_wire() for each in self.changes]}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogDiff:
    """What lies between two revisions, sorted by source and tool."""

    before: str
    after: str
    sources_added: tuple[str, ...] = ()
    sources_removed: tuple[str, ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    """Source and tool; those of a source that was added are here too."""
    removed: tuple[tuple[str, str], ...] = ()
    changed: tuple[ToolChange, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Sources that had not listed their tools when one of the two was taken."""

    @property
    def equal(self) -> bool:
        """Whether everything was compared and nothing differs."""
        return not (
            self.sources_added
            or self.sources_removed
            or self.added
            or self.removed
            or self.changed
            or self.not_compared
        )

    def to_wire(self) -> dict[str, Any]:
        return {
            "equal": self.equal,
            "before": self.before,
            "after": self.after,
            "sourcesAdded": list(self.sources_added),
            "sourcesRemoved": list(self.sources_removed),
            "added": [{"source": source, "tool": tool} for source, tool in self.added],
            "removed": [{"source": source, "tool": tool} for source, tool in self.removed],
            "changed": [each.to_wire() for each in self.changed],
            "notCompared": list(self.not_compared),
        }


def diff_catalogs(before: CatalogRevision, after: CatalogRevision) -> CatalogDiff:
    """What was added, removed and changed, and in a changed tool what: a tool that has another name is another tool."""
    unknown = tuple(sorted({*before.missing, *after.missing}))
    old = {name: tools for name, tools in before.sources.items() if name not in unknown}
    new = {name: tools for name, tools in after.sources.items() if name not in unknown}
    return CatalogDiff(
        before=before.revision,
        after=after.revision,
        sources_added=tuple(sorted(new.keys() - old.keys())),
        sources_removed=tuple(sorted(old.keys() - new.keys())),
        added=tuple(sorted(_names(new) - _names(old))),
        removed=tuple(sorted(_names(old) - _names(new))),
        changed=tuple(_changed(old, new)),
        not_compared=unknown,
    )


def _names(sources: Mapping[str, RecordedSource]) -> set[tuple[str, str]]:
    return {(source, tool) for source, tools in sources.items() for tool in tools}


def _changed(old: Mapping[str, RecordedSource], new: Mapping[str, RecordedSource]) -> Iterator[ToolChange]:
    for source, tool in sorted(_names(old) & _names(new)):
        changes = tuple(_changes(old[source][tool], new[source][tool]))
        if changes:
            yield ToolChange(source, tool, changes)


def _changes(old: RecordedTool, new: RecordedTool) -> Iterator[Change]:
    for aspect in sorted(old.keys() | new.keys()):
        before, after = old.get(aspect, ABSENT), new.get(aspect, ABSENT)
        places = tuple(islice(_places(before, after), _MOST_PLACES))
        if places:
            is_tree = isinstance(before, Mapping) and isinstance(after, Mapping)
            yield Change(aspect, before, after, places if is_tree else ())


def _places(before: Any, after: Any, at: str = "", depth: int = 0) -> Iterator[str]:
    """JSON pointers to where two values part, outermost first; values are the same when their canonical forms are."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and depth < _DEEPEST:
        for key in sorted(before.keys() | after.keys()):
            step = key.replace("~", "~0").replace("/", "~1")
            yield from _places(before.get(key, ABSENT), after.get(key, ABSENT), f"{at}/{step}", depth + 1)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and depth < _DEEPEST:
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _places(one, other, f"{at}/{index}", depth + 1)
    elif before is ABSENT or after is ABSENT or canonical(before) != canonical(after):
        yield at
