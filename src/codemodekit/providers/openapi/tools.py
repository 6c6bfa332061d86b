"""Operations into the tools a catalogue lists: name, description, schemas over one table, hints from the method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from codemodekit._json import JsonObject
from codemodekit.contracts import ToolAnnotations, ToolDefinition
from codemodekit.providers.openapi.operation import Operation
from codemodekit.shared_definitions import SharedDefinitions

__all__ = ["define", "is_wanted"]

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
_IDEMPOTENT: Final = _READS | {"PUT", "DELETE"}
"""RFC 9110 §9.2.1 and §9.2.2; QUERY is a read by its own definition."""


def is_wanted(name: str, include: Iterable[str], exclude: Iterable[str]) -> bool:
    """Whether a tool of this name is offered: some glob of `include` matches, and none of `exclude`."""
    return any(fnmatchcase(name, glob) for glob in include) and not any(fnmatchcase(name, glob) for glob in exclude)


def define(operation: Operation, table: SharedDefinitions, output_mismatch: Literal["error", "warn"]) -> ToolDefinition:
    """The tool of an operation."""
    return ToolDefinition(
        name=operation.name,
        description=_described(operation),
        input_schema=_input(operation, table),
        output_schema=_with_table(operation.answer, table),
        annotations=ToolAnnotations(
            title=operation.title or None,
            read_only=operation.method in _READS,
            destructive=None if operation.method in _READS else operation.method == "DELETE",
            idempotent=operation.method in _IDEMPOTENT,
            open_world=True,
        ),
        output_mismatch=output_mismatch,
        sideband={"method": operation.method, "path": operation.path},
    )


def _described(operation: Operation) -> str:
    mark = "Deprecated. " if operation.deprecated else ""
    said = f"{mark}{operation.description}".strip()
    route = f"{operation.method} {operation.path}"
    return f"{said}\n\n{route}" if said else route


def _input(operation: Operation, table: SharedDefinitions) -> JsonObject:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in operation.parameters:
        properties[parameter.argument] = _with_description(parameter.schema, parameter.description)
        if parameter.required:
            required.append(parameter.argument)
    body = operation.body
    if body is not None:
        properties[body.argument] = _with_description(body.schema, body.description)
        if body.required:
            required.append(body.argument)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return _with_table(schema, table) or schema


def _with_description(schema: JsonObject | bool, description: str) -> JsonObject | bool:
    if not description:
        return schema
    return {**(schema if isinstance(schema, Mapping) else {}), "description": description} if schema else schema


def _with_table(schema: JsonObject | bool | None, table: SharedDefinitions) -> JsonObject | None:
    """The schema with the table it refers into, if it does."""
    if not isinstance(schema, Mapping):
        return {} if schema is True else None
    return {**schema, "$defs": table} if table.named_in(schema) else schema
