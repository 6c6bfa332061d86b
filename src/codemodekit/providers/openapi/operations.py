"""A document's operations: each as a value, or skipped with the reason.

After the Path Item, Operation, Parameter, Request Body, Response and Server Objects of OpenAPI 3.0.4 and 3.1.1. A fault
in one operation costs that operation. Nothing is sent from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

from codemodekit._json import JsonObject, JsonValue
from codemodekit.providers.openapi.bodies import read_body
from codemodekit.providers.openapi.document import BrokenReference, Document
from codemodekit.providers.openapi.media import is_json, media_type_of
from codemodekit.providers.openapi.operation import Operation, Parameter, Skipped, member
from codemodekit.providers.openapi.schemas import SchemaTable
from codemodekit.providers.openapi.styles import DEFAULT_STYLES, PLACES, Place, Style

__all__ = ["Reading", "read_operations"]

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_STYLES_OF: Final[Mapping[str, frozenset[str]]] = {
    "path": frozenset({"simple", "label", "matrix"}),
    "query": frozenset({"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"}),
    "header": frozenset({"simple"}),
    "cookie": frozenset({"form", "cookie"}),
}
_NOT_PARAMETERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that a parameter has no say in."""

_SLOT: Final = re.compile(r"\{([^{}]+)\}")
"""Where a parameter goes in a path, and a variable in the address of a server."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a document gives."""

    operations: tuple[Operation, ...]
    skipped: tuple[Skipped, ...]
    table: SchemaTable
    notes: tuple[str, ...]
    server: str | None
    """The address of the API as a whole, if it is known."""


def read_operations(
    document: Document, *, origin: str | None, base_url: str | None, variables: Mapping[str, str]
) -> Reading:
    """Read a document that is laid out as 3.x.

    `origin` is the address it came from, which relative servers are relative to; `base_url` takes the place of every
    server; `variables` are values for variables of servers.
    """
    servers = _Servers(document, origin, base_url, variables)
    reader = _Reader(document, servers)
    reader.read()
    server = servers.root()
    return Reading(tuple(reader.operations), tuple(reader.skipped), reader.table, tuple(reader.notes), server)


class _Unusable(Exception):
    """The operation cannot become a tool; the message says why."""


class _Reader:
    def __init__(self, document: Document, servers: _Servers) -> None:
        self._document = document
        self._servers = servers
        self.table = SchemaTable(document)
        self.operations: list[Operation] = []
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self._names: set[str] = set()
        self._shared_security = _security(document.root.get("security"))

    def read(self) -> None:
        unread: dict[str, int] = {}
        for path, item in member(self._document.root, "paths").items():
            if not str(path).startswith("x-"):
                self._path(str(path), item, unread)
        if webhooks := member(self._document.root, "webhooks"):
            unread["webhooks"] = len(webhooks)
        self.notes += [
            f"{count} {what} are not offered: they are calls the API makes" for what, count in unread.items()
        ]

    def _path(self, path: str, item: JsonValue, unread: dict[str, int]) -> None:
        try:
            item = self._document.follow(item)
        except BrokenReference as fault:
            self.skipped.append(Skipped(path, str(fault)))
            return
        for method in METHODS:
            operation = item.get(method)
            if operation is None:
                continue
            if isinstance(operation, Mapping) and operation.get("callbacks"):
                unread["callbacks"] = unread.get("callbacks", 0) + len(member(operation, "callbacks"))
            name = self._name(method, path, operation)
            try:
                self.operations.append(self._operation(name, method, path, item, operation))
            except (BrokenReference, _Unusable) as fault:
                self.skipped.append(Skipped(name, str(fault)))

    def _name(self, method: str, path: str, operation: JsonValue) -> str:
        said = operation.get("operationId") if isinstance(operation, Mapping) else None
        name = said.strip() if isinstance(said, str) else ""
        if name and name in self._names:
            self.notes.append(f"operationId {name!r} is there more than once; the later one is named by its path")
        if not name or name in self._names:
            name = f"{method}_{re.sub(r'[^A-Za-z0-9]+', '_', path).strip('_')}".rstrip("_")
        unique, number = name, 2
        while unique in self._names:
            unique, number = f"{name}_{number}", number + 1
        self._names.add(unique)
        return unique

    def _operation(self, name: str, method: str, path: str, item: Mapping[str, Any], operation: JsonValue) -> Operation:
        if not isinstance(operation, Mapping):
            raise _Unusable(f"the operation is no object but {type(operation).__name__}")
        parameters = list(self._parameters(path, item, operation))
        taken = {parameter.argument for parameter in parameters}
        body = read_body(self._document, self.table, operation.get("requestBody"), taken)
        accept, answer = self._answers(operation)
        summary = _text(operation.get("summary")) or _text(item.get("summary"))
        described = _text(operation.get("description")) or _text(item.get("description"))
        security = _security(operation["security"]) if "security" in operation else self._shared_security
        return Operation(
            name=name,
            method=method.upper(),
            path=path,
            server=self._servers.of(item, operation),
            parameters=tuple(parameters),
            body=body,
            accept=accept,
            answer=answer,
            security=security,
            title=summary,
            description="\n\n".join(dict.fromkeys(part for part in (summary, described) if part)),
            deprecated=operation.get("deprecated") is True,
        )

    # -- parameters ----------------------------------------------------------------------------------------------------

    def _parameters(self, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[Parameter]:
        declared: dict[tuple[str, str], Mapping[str, Any]] = {}
        for holder in (item, operation):  # the operation's own come later and win
            for each in holder.get("parameters") or ():
                parameter = self._document.follow(each)
                name, place = parameter.get("name"), parameter.get("in")
                if not isinstance(name, str) or place not in PLACES:
                    raise _Unusable(f"a parameter has no name or an unknown place ({place!r})")
                if place != "header" or name.lower() not in _NOT_PARAMETERS:
                    declared[name, place] = parameter
        slots = set(_SLOT.findall(path))
        missing = slots - {name for name, place in declared if place == "path"}
        if missing:
            raise _Unusable(f"the path has {sorted(missing)[0]!r}, which is no parameter")
        counts: dict[str, int] = {}
        for name, _ in declared:
            counts[name] = counts.get(name, 0) + 1
        for (name, place), parameter in declared.items():
            if place == "path" and name not in slots:
                continue  # there is nowhere to put it
            argument = f"{name}_{place}" if counts[name] > 1 and place != "path" else name
            yield self._parameter(argument, name, cast("Place", place), parameter)

    def _parameter(self, argument: str, name: str, place: Place, parameter: Mapping[str, Any]) -> Parameter:
        content = member(parameter, "content")
        schema: JsonValue = parameter.get("schema", {})
        as_json = False
        if content:
            media_type = next(iter(content))
            schema, as_json = member(content, media_type).get("schema", {}), is_json(media_type)
        style = parameter.get("style", DEFAULT_STYLES[place])
        if style not in _STYLES_OF[place]:
            raise _Unusable(f"parameter {name!r} has the style {style!r}, which {place} does not know")
        explode = parameter.get("explode")
        return Parameter(
            argument=argument,
            place=place,
            style=Style(
                name=name,
                style=style,
                explode=explode if isinstance(explode, bool) else style in ("form", "cookie", "deepObject"),
                allow_reserved=parameter.get("allowReserved") is True,
                json=as_json,
            ),
            required=place == "path" or parameter.get("required") is True,
            schema=self.table.convert(schema, "request"),
            description=_text(parameter.get("description")),
        )

    # -- answers -------------------------------------------------------------------------------------------------------

    def _answers(self, operation: Mapping[str, Any]) -> tuple[str | None, JsonObject | bool | None]:
        """What to accept, and the schema of an answer that succeeded; no schema where some answer is not JSON."""
        accepted: dict[str, None] = {}
        schemas: list[JsonObject | bool] = []
        described = empty = True
        for response in self._successes(operation):
            content = {
                media_type_of(kind): member(member(response, "content"), kind) for kind in member(response, "content")
            }
            accepted |= dict.fromkeys(content)
            json_kinds = [kind for kind in content if is_json(kind)]
            if not content:
                schemas.append({"type": "null"})
                continue
            empty = False
            described = described and len(json_kinds) == len(content) and "schema" in content[json_kinds[0]]
            if json_kinds and "schema" in content[json_kinds[0]]:
                schemas.append(self.table.convert(content[json_kinds[0]]["schema"], "answer"))
        order = sorted(accepted, key=lambda kind: not is_json(kind))
        accept = ", ".join([*order, "*/*;q=0.1"]) if order else None
        unique = [each for index, each in enumerate(schemas) if each not in schemas[:index]]
        if empty or not described or not unique:
            return accept, None
        return accept, unique[0] if len(unique) == 1 else {"anyOf": unique}

    def _successes(self, operation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for status, response in member(operation, "responses").items():
            if re.fullmatch(r"2(?:\d\d|XX)", str(status).upper()):
                yield self._document.follow(response)


class _Servers:
    """Where operations are sent."""

    def __init__(
        self, document: Document, origin: str | None, base_url: str | None, variables: Mapping[str, str]
    ) -> None:
        self._document = document
        self._origin = origin
        self._base_url = base_url.rstrip("/") if base_url else None
        self._variables = variables

    def of(self, item: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
        """The address for an operation.

        Raises:
            _Unusable: none is known, or it is none of HTTP.
        """
        if self._base_url is not None:
            return self._base_url
        for holder in (operation, item, self._document.root):
            servers = holder.get("servers")
            if isinstance(servers, list) and servers and isinstance(servers[0], Mapping):
                return self._address(servers[0])
        return self._address({"url": "/"})

    def root(self) -> str | None:
        """The address for what names none of its own; None if there is none to be known."""
        try:
            return self.of({}, {})
        except _Unusable:
            return None

    def _address(self, server: Mapping[str, Any]) -> str:
        url = str(server.get("url") or "/")
        declared = member(server, "variables")
        for name in _SLOT.findall(url):
            value = self._variables.get(name, member(declared, name).get("default"))
            if value is None:
                raise _Unusable(f"its server has a variable {name!r} without a value; set 'baseUrl'")
            url = url.replace(f"{{{name}}}", str(value))
        absolute = urljoin(self._origin, url) if self._origin else url
        try:
            parts = urlsplit(absolute)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise _Unusable("it names no absolute address of a server; set 'baseUrl'")
        return absolute.partition("?")[0].partition("#")[0].rstrip("/")


def _security(requirements: JsonValue) -> tuple[tuple[str, ...], ...] | None:
    if not isinstance(requirements, list):
        return None
    return tuple(tuple(map(str, each)) for each in requirements if isinstance(each, Mapping))


def _text(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""
