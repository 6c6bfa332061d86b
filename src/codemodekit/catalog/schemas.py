"""JSON Schema in, a compiled check out: whether a value fits, and if not, which fields are wrong and what to do.

Offline by construction: nothing is ever fetched, a reference that leaves its document is refused. Schemas and values
are both hostile: patterns run on a linear engine where they can and on a bounded one where they cannot; schemas whose
work multiplies are refused or metered. Knows nothing of tools; `snapshot` compiles what a source lists, the bridge
checks calls.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final
from weakref import WeakValueDictionary

import jsonschema_rs

from codemodekit._json import JsonValue, canonical, loads
from codemodekit.catalog.explain import FieldError, explain, shape
from codemodekit.catalog.schema_cost import TOO_COSTLY, cost_of, pointer_target
from codemodekit.catalog.schema_meter import KEYWORDS as _KEYWORDS
from codemodekit.catalog.schema_meter import metered, steps_allowed

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

_MAX_SCHEMA_BYTES: Final = 4 << 20
_LARGE: Final = 64 * 1024
_REASON_LENGTH: Final = 300

_STEPS: Final = 20_000
_STEPS_A_NODE: Final = 20
_STEPS_TO_EXPLAIN: Final = 2_000
_WORK_TO_EXPLAIN: Final = 100_000
_MOST_NODES: Final = 1_000
"""The validator builds every error before it gives the first, so a larger value is explained by a part of it."""

_TOO_INTRICATE: Final = "a value that fits the schema (it is too intricate to say where this one does not)"
_TOO_MUCH_WORK: Final = "a smaller or less nested value: the schema branches at every level of it"


class SchemaCheck:
    """A compiled schema. Safe to use from any thread."""

    __slots__ = ("__weakref__", "_compiled", "_schema", "digest")

    def __init__(self, digest: str, schema: bool | dict[str, Any], compiled: _Compiled | None) -> None:
        self.digest = digest
        """Hash of the schema's canonical form: equal schemas, equal digest."""
        self._schema = schema
        self._compiled = compiled
        """None for a large schema, which is compiled when it is needed: hundreds of tools may share one API's types."""

    @property
    def prepared(self) -> bool:
        """Whether the next check begins at once; if not, a tenth of a second goes first, better spent in a thread."""
        return self._compiled is not None or self.digest in _large

    def is_valid(self, value: JsonValue) -> bool:
        """Whether the value fits."""
        compiled = self._compiled
        if compiled is not None:
            return compiled.is_valid(value)
        try:
            return _large.get(self.digest, self._schema).is_valid(value)
        except SchemaUnsupported:
            return False

    def errors(self, value: JsonValue) -> tuple[FieldError, ...]:
        """What is wrong, at most eight fields in a fixed order; empty if the value fits."""
        try:
            compiled = self._compiled or _large.get(self.digest, self._schema)
        except SchemaUnsupported as fault:
            return (FieldError("", f"nothing can be checked: {fault}", shape(value)),)
        return compiled.errors(value)


class _Compiled:
    """A validator and what has to be minded when it is used."""

    __slots__ = ("_backtracks", "_metered", "_root", "_validator")

    def __init__(self, root: JsonValue, validator: jsonschema_rs.Validator, *, backtracks: bool, metered: bool) -> None:
        self._root = root
        self._validator = validator
        self._backtracks = backtracks
        self._metered = metered

    def is_valid(self, value: JsonValue) -> bool:
        try:
            if self._backtracks or self._metered:
                return self._bounded(value)
            return self._validator.is_valid(value)
        except UnicodeEncodeError:
            return self.is_valid(_scrubbed(value))
        except ValueError:  # a set, an object, a key that is no text: not JSON
            return False

    def errors(self, value: JsonValue) -> tuple[FieldError, ...]:
        try:
            if self.is_valid(value):
                return ()
            return self._unbounded(value) or self._explained(value)
        except UnicodeEncodeError:
            return self.errors(_scrubbed(value))
        except ValueError as fault:
            return (FieldError("", "a JSON value", _short(str(fault))[:160]),)

    def _bounded(self, value: JsonValue) -> bool:
        if self._backtracks and _long_text(value) is not None:
            return False
        if not self._metered:
            return self._validator.is_valid(value)
        with steps_allowed(_steps_for(value)) as meter:
            return self._validator.is_valid(value) and not meter.exhausted

    def _unbounded(self, value: JsonValue) -> tuple[FieldError, ...]:
        """Why the value was not even checked to its end."""
        if self._backtracks and (pointer := _long_text(value)) is not None:
            expected = f"text of at most {_LONGEST_FOR_BACKTRACKING} characters (longer cannot be matched safely)"
            return (FieldError(pointer, expected, "longer text"),)
        if self._metered:
            with steps_allowed(_steps_for(value)) as meter:
                self._validator.is_valid(value)
            if meter.exhausted:
                return (FieldError("", _TOO_MUCH_WORK, shape(value)),)
        return ()

    def _explained(self, value: JsonValue) -> tuple[FieldError, ...]:
        steps = 1 if self._metered else cost_of(self._root).steps
        sample, cut = _sample(value, max(10, min(_MOST_NODES, _WORK_TO_EXPLAIN // steps)))
        with steps_allowed(_STEPS_TO_EXPLAIN) as meter:
            found = list(self._validator.iter_errors(sample))
        told = () if meter.exhausted else explain(found, self._root, cut)
        return told or (FieldError("", _TOO_INTRICATE, shape(value)),)


def _steps_for(value: JsonValue) -> int:
    return _STEPS + _STEPS_A_NODE * _size(value)


class _Large:
    """The large schemas used last, compiled."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, _Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def get(self, digest: str, schema: bool | dict[str, Any]) -> _Compiled:
        with self._lock:
            if (kept := self._kept.get(digest)) is not None:
                self._kept.move_to_end(digest)
                return kept
        compiled = _validators(schema, meter=True)
        with self._lock:
            self._kept[digest] = compiled
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return compiled


_large = _Large(most=32)
_cache: WeakValueDictionary[str, SchemaCheck] = WeakValueDictionary()
_cache_lock = threading.Lock()


def compile_schema(schema: JsonValue) -> SchemaCheck:
    """The check for a schema; equal schemas share one while it is in use.

    A large schema is only looked through here, and compiled when it is first used.

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
        whole = schema if isinstance(schema, bool | dict) else dict(schema)
        _dialect(whole)
        compiled = None if len(text) > _LARGE and _looks_sound(whole, text) else _compile(text, whole)
        with _cache_lock:
            known = _cache.setdefault(digest, SchemaCheck(digest, whole, compiled))
    return known


_REFERENCE: Final = re.compile(rb'"\$(?:ref|dynamicRef|recursiveRef)":"((?:[^"\\]|\\.)*)"')
_PATTERN: Final = re.compile(rb'"pattern":("(?:[^"\\]|\\.)*")')
_MOVABLE: Final = re.compile(rb'"\$(?:id|anchor|dynamicAnchor|recursiveAnchor)":')


def _looks_sound(schema: bool | dict[str, Any], text: bytes) -> bool:
    """Whether compiling would most likely succeed: valid by its dialect, plain references that all lead somewhere."""
    if _MOVABLE.search(text) or b'"patternProperties":' in text:
        return False
    references = {found.decode() for found in _REFERENCE.findall(text)}
    if not all(pointer_target(schema, reference) is not None for reference in references):
        return False
    try:
        # patterns are text to the schema of schemas
        _validators(
            {"allOf": [True, *({"pattern": loads(pattern)} for pattern in set(_PATTERN.findall(text)))]}, meter=False
        )
        return jsonschema_rs.meta.is_valid(schema)
    except Exception:  # whatever it is, compiling says it better
        return False


def _canonical(schema: JsonValue) -> bytes:
    try:
        text = canonical(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaUnsupported(f"the schema is not JSON: {_short(str(error))}") from error
    if len(text) > _MAX_SCHEMA_BYTES:
        raise SchemaUnsupported(f"the schema is larger than {_MAX_SCHEMA_BYTES} bytes")
    return text


def _compile(text: bytes, schema: bool | dict[str, Any]) -> _Compiled:
    # without references a schema is a tree: its work is no more than its size
    return _validators(schema, meter=(b'$ref"' in text or b'Ref"' in text) and _needs_meter(schema))


def _validators(schema: bool | dict[str, Any], *, meter: bool) -> _Compiled:
    dialect = _dialect(schema)
    root = _with_meters(schema) if meter else schema
    try:
        return _Compiled(root, _built(dialect, root, _LINEAR), backtracks=False, metered=meter)
    except jsonschema_rs.ValidationError as error:
        if error.kind.name not in _PATTERN_FAILURES:
            raise SchemaUnsupported(_reason(error)) from error
    try:
        return _Compiled(root, _built(dialect, root, _BACKTRACKING), backtracks=True, metered=meter)
    except jsonschema_rs.ValidationError as error:
        raise SchemaUnsupported(_reason(error)) from error


def _needs_meter(schema: bool | dict[str, Any]) -> bool:
    cost = cost_of(schema)
    if cost.refused:
        raise SchemaUnsupported(TOO_COSTLY)
    return cost.metered


def _with_meters(schema: bool | dict[str, Any]) -> bool | dict[str, Any]:
    try:
        root = metered(schema) if isinstance(schema, dict) else schema
    except RecursionError as error:
        raise SchemaUnsupported("the schema is nested too deeply") from error
    if root is None:
        raise SchemaUnsupported(f"{TOO_COSTLY}, and a $ref points into const or enum")
    return root


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
    # `format` is a hint to the reader, as the newer dialects have it: sources are known to answer dates without a zone
    # under `date-time`, and what they are asked in the wrong format they refuse themselves
    try:
        return dialect(schema, pattern_options=patterns, validate_formats=False, offline=True, keywords=_KEYWORDS)
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


def _size(value: JsonValue) -> int:
    """Number of nodes."""
    pending, seen = [value], 0
    while pending:
        node = pending.pop()
        seen += 1
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return seen


def _sample(value: JsonValue, most: int) -> tuple[JsonValue, frozenset[tuple[str | int, ...]]]:
    """The value, or its first `most` nodes in breadth, and the places where something was left out."""
    root: list[JsonValue] = [value]
    cut: set[tuple[str | int, ...]] = set()
    pending: list[tuple[tuple[str | int, ...], Any, Any]] = [((), root, 0)]
    left = most
    for path, holder, key in pending:  # grows while it is walked
        node = holder[key]
        if not isinstance(node, dict | list):
            continue
        pairs = list(islice(node.items() if isinstance(node, dict) else enumerate(node), left))
        if len(pairs) < len(node):
            cut.add(path)
        left -= len(pairs)
        copy = dict(pairs) if isinstance(node, dict) else [member for _, member in pairs]
        holder[key] = copy
        pending.extend(((*path, step), copy, step) for step, _ in pairs)
    return root[0], frozenset(cut)


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
