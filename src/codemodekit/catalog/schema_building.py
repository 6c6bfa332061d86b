"""A schema in, a validator out, or the reason why there is none: dialects, engines for patterns, words for refusals.

Offline by construction: nothing is ever fetched. Knows no bounds on values; `schema_checking` does.
"""

from __future__ import annotations

import re
from typing import Any, Final

import jsonschema_rs

from codemodekit.catalog.patterns import BACKTRACKING, LINEAR

__all__ = ["SchemaUnsupported", "built", "dialect_of", "short"]


class SchemaUnsupported(Exception):
    """The schema is invalid, or cannot be enforced here; the message says why."""


_DIALECTS: Final = {
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
_DEFAULT: Final = jsonschema_rs.Draft202012Validator
_REASON_LENGTH: Final = 300
_PATTERN_FAILURES: Final = frozenset({"format", "pattern", "regex", "patternProperties", "propertyNames"})


def dialect_of(schema: bool | dict[str, Any]) -> type[jsonschema_rs.Validator]:
    """The validators of the schema's dialect.

    Raises:
        SchemaUnsupported: it names a dialect that is not supported.
    """
    name = schema.get("$schema") if isinstance(schema, dict) else None
    if name is None:
        return _DEFAULT
    if isinstance(name, str) and (dialect := _DIALECTS.get(name.removesuffix("#"))) is not None:
        return dialect
    raise SchemaUnsupported(f"$schema {short(str(name))!r} is not supported; draft-07, 2019-09 and 2020-12 are")


def built(schema: bool | dict[str, Any], keywords: dict[str, type[Any]] | None = None) -> jsonschema_rs.Validator:
    """A validator of the schema: on the linear engine, or on the one that knows more if a pattern asks for it.

    `keywords` are ours; a validator that knows any is slower, whether they are used or not.

    Raises:
        SchemaUnsupported: the schema is invalid, or refers to something outside of it.
    """
    dialect = dialect_of(schema)
    try:
        return _validator(dialect, schema, LINEAR, keywords)
    except jsonschema_rs.ValidationError as error:
        if error.kind.name not in _PATTERN_FAILURES:
            raise SchemaUnsupported(_reason(error)) from error
    try:
        return _validator(dialect, schema, BACKTRACKING, keywords)
    except jsonschema_rs.ValidationError as error:
        raise SchemaUnsupported(_reason(error)) from error


def _validator(
    dialect: type[jsonschema_rs.Validator],
    schema: bool | dict[str, Any],
    patterns: Any,
    keywords: dict[str, type[Any]] | None,
) -> jsonschema_rs.Validator:
    # `format` is a hint to the reader, as the newer dialects have it: sources are known to answer dates without a zone
    # under `date-time`, and what they are asked in the wrong format they refuse themselves
    try:
        return dialect(schema, pattern_options=patterns, validate_formats=False, offline=True, keywords=keywords)
    except jsonschema_rs.ValidationError:
        raise
    except Exception as error:
        raise SchemaUnsupported(f"the schema cannot be read: {short(str(error))}") from error


_RETRIEVAL: Final = re.compile(r"Resource '(.*?)' is not present")


def _reason(error: jsonschema_rs.ValidationError) -> str:
    message = error.message
    if (remote := _RETRIEVAL.search(message)) is not None:
        return f"$ref {short(remote[1])!r} leaves the schema, and nothing is ever fetched; put it under $defs"
    where = "/".join(map(str, error.instance_path))
    return short(f"the schema is invalid at /{where}: {message}" if where else f"the schema is invalid: {message}")


def short(text: str) -> str:
    """Foreign text on one line, of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"
