"""A catalogue at one moment as a plain value: what can be saved, read back in another process, and compared.

It holds what a program or a policy can see of each tool and nothing else: no sideband, no connection, no config. Equal
content has an equal revision, whatever the order of sources and whichever process made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from codemodekit._json import JsonObject, JsonValue, digest
from codemodekit.catalog.snapshot import Catalog, SourceCatalog, mark_of, revision_of
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.errors import ConfigurationError

__all__ = ["CatalogRevision", "RecordedSource", "RecordedTool"]

_FORMAT: Final = 1
_HINTS: Final = {
    "title": "title",
    "readOnly": "read_only",
    "destructive": "destructive",
    "idempotent": "idempotent",
    "openWorld": "open_world",
}

RecordedTool: TypeAlias = Mapping[str, JsonValue]
"""What can be seen of a tool: `description`, `inputSchema`, `annotations`, and where there is one `outputSchema` and
`outputMismatch`; of one that cannot be called only `hidden` (true) or `quarantined` (why)."""

RecordedSource: TypeAlias = Mapping[str, RecordedTool]
"""The tools of a source, by name."""


@dataclass(frozen=True, slots=True)
class CatalogRevision:
    """Everything that was listed at one moment.

    Example:
        >>> CatalogRevision.of(Catalog()).to_wire()["sources"]
        {}
    """

    sources: Mapping[str, RecordedSource] = field(default_factory=lambda: MappingProxyType({}))
    missing: tuple[str, ...] = ()
    """Configured sources that had not listed their tools: nothing can be said about them."""

    @property
    def revision(self) -> str:
        """The hash of the content, as `search_tools` gives it; `missing` has no part in it."""
        return revision_of({name: _revision(name, tools) for name, tools in self.sources.items()})

    @classmethod
    def of(cls, catalog: Catalog, configured: Sequence[str] = ()) -> CatalogRevision:
        """The catalogue as it is; `configured` are the sources it ought to hold."""
        sources = {name: _recorded(found) for name, found in sorted(catalog.sources.items())}
        return cls(MappingProxyType(sources), tuple(sorted(set(configured) - set(sources))))

    def to_wire(self) -> dict[str, Any]:
        """The JSON form that `from_wire` reads; the same for the same content."""
        wire: dict[str, Any] = {
            "catalogFormat": _FORMAT,
            "catalogRevision": self.revision,
            "sources": {name: dict(tools) for name, tools in self.sources.items()},
        }
        return {**wire, "missing": list(self.missing)} if self.missing else wire

    @classmethod
    def from_wire(cls, wire: JsonValue) -> CatalogRevision:
        """A catalogue that was saved.

        Raises:
            ConfigurationError: it is none, or has been changed since.
        """
        if not isinstance(wire, Mapping) or wire.get("catalogFormat") != _FORMAT:
            raise ConfigurationError(
                f"not a saved catalogue of format {_FORMAT}; 'codemodekit catalog save' writes one"
            )
        sources = {name: _read_source(name, tools) for name, tools in sorted(_object("sources", wire).items())}
        missing = wire.get("missing", [])
        if not isinstance(missing, list) or not all(isinstance(name, str) for name in missing):
            raise ConfigurationError("'missing' must be a list of names")
        read = cls(MappingProxyType(sources), tuple(sorted(missing)))
        if read.revision != wire.get("catalogRevision"):
            raise ConfigurationError(
                f"its content has the revision {read.revision!r} and not {wire.get('catalogRevision')!r}, which it "
                "names: it was changed after it was saved"
            )
        return read


def _recorded(source: SourceCatalog) -> RecordedSource:
    tools: dict[str, RecordedTool] = {name: _tool(tool.definition) for name, tool in source.tools.items()}
    tools |= {name: {"hidden": True} for name in source.hidden}
    tools |= {name: {"quarantined": why} for name, why in source.quarantined.items()}
    return MappingProxyType(dict(sorted(tools.items())))


def _tool(definition: ToolDefinition) -> RecordedTool:
    said = {wire: getattr(definition.annotations, name) for wire, name in _HINTS.items()}
    tool: dict[str, JsonValue] = {
        "description": definition.description,
        "inputSchema": definition.input_schema,
        "annotations": {name: value for name, value in said.items() if value is not None},
    }
    if definition.output_schema is not None:
        tool["outputSchema"] = definition.output_schema
    if definition.output_mismatch != "error":
        tool["outputMismatch"] = definition.output_mismatch
    return tool


def _revision(name: str, tools: RecordedSource) -> str:
    return revision_of([name, {tool: _mark(recorded) for tool, recorded in tools.items()}])


def _mark(tool: RecordedTool) -> JsonValue:
    if "quarantined" in tool:
        return {"quarantined": tool["quarantined"]}
    if "hidden" in tool:
        return "hidden"
    output = tool.get("outputSchema")
    return mark_of(
        tool["description"],
        digest(tool["inputSchema"]),
        None if output is None else digest(output),
        ToolAnnotations(**{_HINTS[name]: value for name, value in tool["annotations"].items()}),
        cast(Literal["error", "warn"], tool.get("outputMismatch", "error")),
    )


# --- what was saved, read back ----------------------------------------------------------------------------------------


def _read_source(name: str, tools: JsonValue) -> RecordedSource:
    if not isinstance(tools, Mapping):
        raise ConfigurationError(f"source {name!r} must be an object of tools")
    return MappingProxyType({tool: _read_tool(f"{name}.{tool}", tools[tool]) for tool in sorted(tools)})


def _read_tool(where: str, tool: JsonValue) -> RecordedTool:
    if not isinstance(tool, Mapping):
        raise ConfigurationError(f"{where} must be an object")
    if tool.keys() in ({"hidden"}, {"quarantined"}):
        return tool
    hints = _object("annotations", tool, where)
    is_sound = isinstance(tool.get("description"), str) and isinstance(tool.get("inputSchema"), Mapping | bool)
    if not is_sound or not hints.keys() <= _HINTS.keys():
        raise ConfigurationError(f"{where} is not what 'codemodekit catalog save' writes")
    return tool


def _object(key: str, holder: Mapping[str, Any], where: str = "it") -> JsonObject:
    value = holder.get(key)
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where} has no object {key!r}")
    return value
