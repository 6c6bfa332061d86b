"""JSON Schema in, a compiled check out: whether a value fits, and if not, which fields are wrong and what to do.

Offline by construction: nothing is ever fetched, a reference that leaves its document is refused. Schemas and values
are both hostile: patterns run on a linear engine where they can and on a bounded one where they cannot, and a schema
whose cost is exponential is refused. Knows nothing of tools; `snapshot` compiles what a source lists, the bridge checks
calls.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

import jsonschema_rs

from codemodekit._json import JsonValue, canonical
from codemodekit.catalog.explain import FieldError, explain
from codemodekit.catalog.schema_cost import TOO_COSTLY, is_costly

__all__ = ["FieldError", "SchemaCheck", "SchemaUnsupported", "compile_schema"]


class SchemaUnsupported(Exception):
    """The schema is invalid, or cannot be enforced here; the message says why."""


_DIALECTS: Final = {
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
_DEFAULT: Final = jsonschema_rs.Draft202012Validator

_LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
_BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=20_000, size_limit=1 << 20, dfa_size_limit=1 << 20
)
_LONGEST_FOR_BACKTRACKING: Final = 2_048
"""The engine that knows lookaround restarts at every character, so its bound holds only for short text."""

_MAX_SCHEMA_BYTES: Final = 1 << 20
_REASON_LENGTH: Final = 300
_MANY_NODES: Final = 1_000
"""Beyond this size a value gets its first error only: the validator builds every error before it gives one."""


class SchemaCheck:
    """A compiled schema. Immutable; safe to use from any thread."""

    __slots__ = ("__weakref__", "_backtracks", "_root", "_validator", "digest")

    def __init__(self, digest: str, root: JsonValue, validator: jsonschema_rs.Validator, *, backtracks: bool) -> None:
        self.digest = digest
        """Hash of the schema's canonical form: equal schemas, equal digest."""
        self._root = root
        self._validator = validator
        self._backtracks = backtracks

    def is_valid(self, value: JsonValue) -> bool:
        """Whether the value fits."""
        try:
            return self._validator.is_valid(value) if not self._backtracks else self._bounded(value)
        except UnicodeEncodeError:
            return self.is_valid(_scrubbed(value))

    def errors(self, value: JsonValue) -> tuple[FieldError, ...]:
        """What is wrong, at most eight fields in a fixed order; empty if the value fits."""
        try:
            if self.is_valid(value):
                return ()
            if self._backtracks and (pointer := _long_text(value)) is not None:
                expected = f"text of at most {_LONGEST_FOR_BACKTRACKING} characters (longer cannot be matched safely)"
                return (FieldError(pointer, expected, "longer text"),)
            return explain(self._found(value), self._root)
        except UnicodeEncodeError:
            return self.errors(_scrubbed(value))

    def _bounded(self, value: JsonValue) -> bool:
        return _long_text(value) is None and self._validator.is_valid(value)

    def _found(self, value: JsonValue) -> list[jsonschema_rs.ValidationError]:
        if _size(value, _MANY_NODES) < _MANY_NODES:
            return list(self._validator.iter_errors(value))
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return []


_cache: WeakValueDictionary[str, SchemaCheck] = WeakValueDictionary()
_cache_lock = threading.Lock()


def compile_schema(schema: JsonValue) -> SchemaCheck:
    """The check for a schema; equal schemas share one while it is in use.

    Raises:
        SchemaUnsupported: it is invalid, of an unknown dialect, refers outside of itself, or is too costly to enforce.
    """
    if not isinstance(schema, bool | Mapping):
        raise SchemaUnsupported(f"a schema is an object or a boolean, not {type(schema).__name__}")
    text = _canonical(schema)
    digest = hashlib.sha256(text).hexdigest()
    with _cache_lock:
        known = _cache.get(digest)
    if known is None:
        known = _compile(digest, text, schema if isinstance(schema, bool | dict) else dict(schema))
        with _cache_lock:
            known = _cache.setdefault(digest, known)
    return known


def _canonical(schema: JsonValue) -> bytes:
    try:
        text = canonical(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaUnsupported(f"the schema is not JSON: {_short(str(error))}") from error
    if len(text) > _MAX_SCHEMA_BYTES:
        raise SchemaUnsupported(f"the schema is larger than {_MAX_SCHEMA_BYTES} bytes")
    return text


def _compile(digest: str, text: bytes, schema: bool | dict[str, Any]) -> SchemaCheck:
    dialect = _dialect(schema)
    # without references a schema is a tree, and no larger than its text
    if (b'$ref"' in text or b'Ref"' in text) and is_costly(schema):
        raise SchemaUnsupported(TOO_COSTLY)
    try:
        return SchemaCheck(digest, schema, _built(dialect, schema, _LINEAR), backtracks=False)
    except jsonschema_rs.ValidationError as error:
        if error.kind.name not in _PATTERN_FAILURES:
            raise SchemaUnsupported(_reason(error)) from error
    try:
        return SchemaCheck(digest, schema, _built(dialect, schema, _BACKTRACKING), backtracks=True)
    except jsonschema_rs.ValidationError as error:
        raise SchemaUnsupported(_reason(error)) from error


_PATTERN_FAILURES: Final = frozenset({"format", "pattern", "regex", "patternProperties", "propertyNames"})


def _dialect(schema: bool | dict[str, Any]) -> type[jsonschema_rs.Validator]:
    name = schema.get("$schema") if isinstance(schema, dict) else None
    if name is None:
        return _DEFAULT
    if isinstance(name, str) and (dialect := _DIALECTS.get(name.removesuffix("#"))) is not None:
        return dialect
    raise SchemaUnsupported(f"$schema {_short(str(name))!r} is not supported; draft-07, 2019-09 and 2020-12 are")


def _built(
    dialect: type[jsonschema_rs.Validator], schema: bool | dict[str, Any], patterns: Any
) -> jsonschema_rs.Validator:
    try:
        return dialect(schema, pattern_options=patterns, validate_formats=True, offline=True)
    except jsonschema_rs.ValidationError:
        raise
    except Exception as error:
        raise SchemaUnsupported(f"the schema cannot be read: {_short(str(error))}") from error


_RETRIEVAL: Final = re.compile(r"Resource '(.*?)' is not present")


def _reason(error: jsonschema_rs.ValidationError) -> str:
    message = error.message
    if (remote := _RETRIEVAL.search(message)) is not None:
        return f"$ref {_short(remote[1])!r} leaves the schema, and nothing is ever fetched; put it under $defs"
    where = "/".join(map(str, error.instance_path))
    return _short(f"the schema is invalid at /{where}: {message}" if where else f"the schema is invalid: {message}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"


# --- walks over values ------------------------------------------------------------------------------------------------


def _nodes(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Every node with its JSON pointer, keys included as nodes of their own; iterative, for values of any depth."""
    pending: list[tuple[str, JsonValue]] = [("", value)]
    while pending:
        pointer, node = pending.pop()
        yield pointer, node
        if isinstance(node, dict):
            for key, member in node.items():
                yield pointer, key
                pending.append((f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", member))
        elif isinstance(node, list):
            pending.extend((f"{pointer}/{index}", member) for index, member in enumerate(node))


def _size(value: JsonValue, stop: int) -> int:
    """Number of nodes, at most `stop`."""
    pending, seen = [value], 0
    while pending and seen < stop:
        node = pending.pop()
        seen += 1
        if isinstance(node, dict | list):
            if len(node) >= stop:
                return stop
            pending.extend(node.values() if isinstance(node, dict) else node)
    return seen


def _long_text(value: JsonValue) -> str | None:
    """Pointer of a text that is too long for backtracking patterns."""
    for pointer, node in _nodes(value):
        if isinstance(node, str) and len(node) > _LONGEST_FOR_BACKTRACKING:
            return pointer
    return None


def _scrubbed(value: JsonValue) -> JsonValue:
    """The value with lone surrogates, which no validator can read, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_scrubbed(member) for member in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(member) for key, member in value.items()}
    return value
