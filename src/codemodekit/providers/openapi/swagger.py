"""A Swagger 2.0 document in the layout of OpenAPI 3.0: parameters with schemas, bodies and answers by media type.

Schemas stay as they are, and so do the places they are found at: references go on to lead where they led. After the
Swagger 2.0 specification; what it leaves out (no `consumes`, say) becomes what its readers take for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from codemodekit.providers.openapi.document import BrokenReference, Document

__all__ = ["upgraded"]

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")

_STYLES: Final[Mapping[str, tuple[str | None, bool]]] = {
    "csv": (None, False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
"""Style (None: the default of the place) and `explode` of each `collectionFormat`."""

_OUTSIDE_OF_SCHEMA: Final = ("name", "in", "required", "description", "collectionFormat", "allowEmptyValue")
_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"

_FLOWS: Final = {"application": "clientCredentials", "accessCode": "authorizationCode"}


def upgraded(document: Document) -> Document:
    """The same document, laid out as 3.0; one of a later version is given back as it is."""
    if document.version != "2.0":
        return document
    root = dict(document.root)
    root["servers"] = list(_servers(root))
    root["components"] = {"securitySchemes": _security_schemes(_mapping(root.get("securityDefinitions")))}
    upgrade = _Upgrade(document)
    root["paths"] = {path: upgrade.path_item(item) for path, item in _mapping(root.get("paths")).items()}
    return replace(document, root=root)


def _servers(root: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    host, base = root.get("host"), str(root.get("basePath") or "")
    if not isinstance(host, str) or not host:
        yield {"url": base or "/"}
        return
    schemes = [scheme for scheme in _list(root.get("schemes")) if scheme in ("https", "http")]
    # relative to the document's own scheme where none is said
    for scheme in sorted(schemes, reverse=True) or [""]:
        yield {"url": f"{scheme}://{host}{base}" if scheme else f"//{host}{base}"}


def _security_schemes(definitions: Mapping[str, Any]) -> dict[str, Any]:
    schemes: dict[str, Any] = {}
    for name, scheme in definitions.items():
        if not isinstance(scheme, Mapping):
            continue
        if scheme.get("type") == "basic":
            schemes[name] = {"type": "http", "scheme": "basic"}
        elif scheme.get("type") == "oauth2":
            flow = str(scheme.get("flow"))
            said = {key: scheme[key] for key in ("authorizationUrl", "tokenUrl", "scopes") if key in scheme}
            schemes[name] = {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): said}}
        else:
            schemes[name] = dict(scheme)
    return schemes


class _Upgrade:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._consumes = _list(document.root.get("consumes"))
        self._produces = _list(document.root.get("produces"))

    def path_item(self, item: Any) -> Any:
        if not isinstance(item, Mapping):
            return item
        shared = self._resolved(item.get("parameters"))
        new = {key: value for key, value in item.items() if key not in METHODS and key != "parameters"}
        for method in METHODS:
            if isinstance(item.get(method), Mapping):
                new[method] = self._operation(item[method], shared)
        return new

    def _operation(self, operation: Mapping[str, Any], shared: list[Any]) -> dict[str, Any]:
        own = self._resolved(operation.get("parameters"))
        given = {(each.get("name"), each.get("in")) for each in own if isinstance(each, Mapping)}
        parameters = own + [
            each for each in shared if isinstance(each, Mapping) and (each.get("name"), each.get("in")) not in given
        ]
        new = {key: value for key, value in operation.items() if key not in ("parameters", "responses", "schemes")}
        new["parameters"] = [self._parameter(each) for each in parameters if _place(each) not in ("body", "formData")]
        body = self._body(operation, parameters)
        if body is not None:
            new["requestBody"] = body
        produces = _list(operation.get("produces")) or self._produces or ["application/json"]
        responses = _mapping(operation.get("responses"))
        new["responses"] = {status: self._response(each, produces) for status, each in responses.items()}
        return new

    def _resolved(self, parameters: Any) -> list[Any]:
        resolved: list[Any] = []
        for each in _list(parameters):
            try:
                resolved.append(self._document.follow(each))
            except BrokenReference:
                resolved.append(each)  # whoever reads the operation says it
        return resolved

    def _parameter(self, parameter: Any) -> Any:
        if not isinstance(parameter, Mapping) or "$ref" in parameter:
            return parameter
        new = {key: parameter[key] for key in ("name", "in", "required", "description") if key in parameter}
        new["schema"] = _schema(parameter)
        style, explode = _STYLES.get(str(parameter.get("collectionFormat", "csv")), (None, False))
        if parameter.get("type") == "array":
            new |= {"explode": explode} | ({"style": style} if style else {})
        return new

    def _body(self, operation: Mapping[str, Any], parameters: list[Any]) -> dict[str, Any] | None:
        consumes = _list(operation.get("consumes")) or self._consumes
        for each in parameters:
            if _place(each) == "body":
                media = {"schema": each.get("schema", {})}
                content = {kind: media for kind in consumes or ["application/json"] if isinstance(kind, str)}
                return {key: each[key] for key in ("required", "description") if key in each} | {"content": content}
        fields = [each for each in parameters if _place(each) == "formData"]
        return _form(fields, consumes) if fields else None

    def _response(self, response: Any, produces: list[Any]) -> Any:
        try:
            response = self._document.follow(response)
        except BrokenReference:
            return response
        new = {key: value for key, value in response.items() if key in ("description", "headers")}
        if "schema" in response:
            media = {"schema": response["schema"]}
            new["content"] = {kind: media for kind in produces if isinstance(kind, str)}
        return new


def _form(fields: list[Any], consumes: list[Any]) -> dict[str, Any]:
    has_file = any(field.get("type") == "file" for field in fields)
    kind = _MULTIPART if has_file or (_MULTIPART in consumes and _FORM not in consumes) else _FORM
    encoding = {}
    for field in fields:
        if field.get("type") == "array":
            style, explode = _STYLES.get(str(field.get("collectionFormat", "csv")), (None, False))
            encoding[str(field.get("name"))] = {"style": style or "form", "explode": explode}
    schema = {
        "type": "object",
        "properties": {str(field.get("name")): _schema(field, description=True) for field in fields},
        "required": [str(field.get("name")) for field in fields if field.get("required") is True],
    }
    media = {"schema": schema, "encoding": encoding}
    return {"required": bool(schema["required"]), "content": {kind: media}}


def _schema(parameter: Mapping[str, Any], *, description: bool = False) -> dict[str, Any]:
    dropped = tuple(key for key in _OUTSIDE_OF_SCHEMA if not (description and key == "description"))
    return {key: value for key, value in parameter.items() if key not in dropped}


def _place(parameter: Any) -> Any:
    return parameter.get("in") if isinstance(parameter, Mapping) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
