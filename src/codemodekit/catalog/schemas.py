"""JSON Schema in, a compiled check out: whether a value fits, and if not, which fields are wrong and what to do.

Offline by construction: nothing is ever fetched, a reference that leaves its document is refused. Schemas and values
are both hostile: patterns run on a linear engine where they can and on a bounded one where they cannot; schemas whose
work multiplies are refused, and checks that would take long end. Knows nothing of tools; `snapshot` compiles what a
source lists, the bridge checks calls.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

import jsonschema_rs

from codemodekit._json import JsonValue, canonical
from codemodekit.catalog.explain import FieldError, shape
from codemodekit.catalog.patterns import CONTENT_SIZE, PatternCost, contents_of, pattern_cost, patterns_of
from codemodekit.catalog.schema_building import SchemaUnsupported, dialect_of, short
from codemodekit.catalog.schema_checking import CompiledSchema
from codemodekit.catalog.schema_references import pointer_target
from codemodekit.shared_definitions import with_reached

__all__ = ["FieldError", "SchemaCheck", "SchemaUnsupported", "compile_schema", "is_sound", "remembered"]

_MAX_SCHEMA_BYTES: Final = 4 << 20
_LARGE: Final = 64 * 1024
_MAX_PATTERNS: Final = 8 << 20
"""Bytes of the programs of all patterns of one schema."""
_UNTAKEN: Final = PatternCost(2 << 20, backtracks=False)
_MAX_PATTERNS_AT_ONCE: Final = 256 * 1024
"""Those of a schema that stays compiled: few words make a large program, and a source may list ten thousand tools."""


class SchemaCheck:
    """A compiled schema. Safe to use from any thread."""

    __slots__ = ("__weakref__", "_compiled", "_schema", "digest")

    def __init__(self, digest: str, schema: bool | dict[str, Any], compiled: CompiledSchema | None) -> None:
        self.digest = digest
        """Hash of the schema's canonical form: equal schemas, equal digest."""
        self._schema = schema
        self._compiled = compiled
        """None for a large schema, and for one over a table that hundreds of tools share: it is compiled when it is
        needed."""

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
            return self._on_demand().is_valid(value)
        except SchemaUnsupported:
            return False

    def errors(self, value: JsonValue) -> tuple[FieldError, ...]:
        """What is wrong, at most eight fields in a fixed order; empty if the value fits."""
        try:
            compiled = self._compiled or self._on_demand()
        except SchemaUnsupported as fault:
            return (FieldError("", f"nothing can be checked: {fault}", shape(value)),)
        return compiled.errors(value)

    def _on_demand(self) -> CompiledSchema:
        return _large.get(self.digest, self._schema)


class _Large:
    """The large schemas used last, compiled."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, CompiledSchema] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def get(self, digest: str, schema: bool | dict[str, Any]) -> CompiledSchema:
        with self._lock:
            if (kept := self._kept.get(digest)) is not None:
                self._kept.move_to_end(digest)
                return kept
        whole = schema if isinstance(schema, bool) else dict(with_reached(schema))
        compiled = CompiledSchema(whole, size=_MAX_SCHEMA_BYTES, refers=True, patterns=_patterns(whole))
        compiled.prepare()
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

    def made() -> SchemaCheck:
        whole = schema if isinstance(schema, bool | dict) else dict(schema)
        dialect_of(whole)
        return SchemaCheck(digest, whole, _compiled(whole, text))

    digest = hashlib.sha256(text).hexdigest()
    return remembered(digest, made)


def remembered(digest: str, make: Callable[[], SchemaCheck]) -> SchemaCheck:
    """The check of this digest that is in use somewhere, else a new one."""
    with _cache_lock:
        known = _cache.get(digest)
    if known is None:
        check = make()
        with _cache_lock:
            known = _cache.setdefault(digest, check)
    return known


def _compiled(schema: bool | dict[str, Any], text: bytes) -> CompiledSchema | None:
    """What checks values; None for a schema that is to be compiled when it is used."""
    patterns = _patterns(schema) if b'"pattern' in text or b'"content' in text else PatternCost(0, False)
    is_large = len(text) > _LARGE or patterns.size > _MAX_PATTERNS_AT_ONCE
    if is_large and is_sound(schema, text):
        return None
    refers = b'$ref"' in text or b'Ref"' in text
    return CompiledSchema(schema, size=len(text), refers=refers, patterns=patterns)


def _patterns(schema: bool | dict[str, Any]) -> PatternCost:
    """What all that a schema has texts tried on takes together."""
    whole = PatternCost(CONTENT_SIZE * contents_of(schema), backtracks=False)
    for pattern in dict.fromkeys(patterns_of(schema)):
        # one that no engine takes may stand in data; the schema is refused when it is compiled if it does not
        cost = pattern_cost(pattern) or _UNTAKEN
        whole = PatternCost(whole.size + cost.size, whole.backtracks or cost.backtracks)
        if whole.size > _MAX_PATTERNS:
            raise SchemaUnsupported("the patterns of the schema together are too large to be enforced")
    return whole


_REFERENCE: Final = re.compile(rb'"\$(?:ref|dynamicRef|recursiveRef)":"((?:[^"\\]|\\.)*)"')
_MOVABLE: Final = re.compile(rb'"\$(?:id|anchor|dynamicAnchor|recursiveAnchor)":')


def is_sound(schema: bool | dict[str, Any], text: bytes, definitions: Mapping[str, Any] | None = None) -> bool:
    """Whether compiling would most likely succeed: valid by its dialect, plain references that all lead somewhere.

    `text` is the schema's canonical form; `definitions` are its `$defs` where it does not hold them itself, which are
    not looked at.
    """
    if _MOVABLE.search(text):
        return False
    references = {found.decode() for found in _REFERENCE.findall(text)}
    root = schema if definitions is None or isinstance(schema, bool) else {**schema, "$defs": definitions}
    if not all(pointer_target(root, reference) is not None for reference in references):
        return False
    try:
        # patterns are text to the schema of schemas
        return all(pattern_cost(one) for one in patterns_of(schema)) and jsonschema_rs.meta.is_valid(schema)
    except Exception:  # whatever it is, compiling says it better
        return False


def _canonical(schema: JsonValue) -> bytes:
    try:
        text = canonical(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaUnsupported(f"the schema is not JSON: {short(str(error))}") from error
    if len(text) > _MAX_SCHEMA_BYTES:
        raise SchemaUnsupported(f"the schema is larger than {_MAX_SCHEMA_BYTES} bytes")
    return text
