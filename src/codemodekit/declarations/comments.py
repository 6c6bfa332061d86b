"""Doc comments: a schema's annotations and bounds, a tool's description, made safe to stand inside `/** */`.

Whatever the text holds, it stays inside the comment, prints on every terminal and is bounded in length.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from codemodekit._json import JsonObject

__all__ = ["comment", "preview", "safe", "schema_comment"]

_PROPERTY_TEXT: Final = 400
_VALUE_TEXT: Final = 80

_TAGS: Final = (
    "default",
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "contentEncoding",
    "contentMediaType",
    "deprecated",
    "readOnly",
    "writeOnly",
)
_PLAIN_TAGS: Final = frozenset({"format", "pattern", "contentEncoding", "contentMediaType"})


def safe(text: str, limit: int) -> str:
    """`text` without anything that ends a comment, hides or reorders characters, or cannot be encoded."""
    text = text[: 4 * limit].replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    text = "".join(character for character in text if character == "\n" or character.isprintable())
    text = text.strip()
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return text.replace("*/", "*\\/").replace("/*", "/ *")


def comment(text: str, limit: int, tags: Sequence[str] = ()) -> tuple[str, ...]:
    """The lines of a doc comment; none if there is nothing to say."""
    lines = [line.rstrip() for line in re.sub(r"\n{3,}", "\n\n", safe(text, limit)).split("\n")]
    said = " ".join(safe(tag, 2 * _VALUE_TEXT).replace("\n", " ") for tag in tags)
    if len(lines) == 1:
        whole = " ".join(filter(None, (lines[0], said)))
        return (f"/** {whole} */",) if whole else ()
    return ("/**", *(f" * {line}".rstrip() for line in [*lines, *filter(None, [said])]), " */")


def schema_comment(schema: object) -> tuple[str, ...]:
    """Description (or title) of a schema, then what TypeScript has no type for: default, bounds, format, pattern."""
    if not isinstance(schema, Mapping):
        return ()
    text = schema.get("description") or schema.get("title")
    return comment(text if isinstance(text, str) else "", _PROPERTY_TEXT, _tags(schema))


def _tags(schema: JsonObject) -> list[str]:
    tags = ["@integer"] if schema.get("type") == "integer" else []
    for name in _TAGS:
        value = schema.get(name)
        if name not in schema or (value is False and name != "default"):
            continue
        if value is True and name != "default":
            tags.append(f"@{name}")
        else:
            tags.append(f"@{name} {value if name in _PLAIN_TAGS and isinstance(value, str) else preview(value)}")
    example = schema.get("examples")
    if isinstance(example, Sequence) and not isinstance(example, str) and example:
        tags.append(f"@example {preview(example[0])}")
    return tags


def preview(value: Any, limit: int = _VALUE_TEXT) -> str:
    """The beginning of a value's JSON text; never walks more of the value than it shows."""
    pieces = itertools.islice(_pieces(value), limit + 1)
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + "…"
    return text


def _pieces(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > 8:
        yield "…"
    elif isinstance(value, Mapping):
        yield "{"
        for position, (key, item) in enumerate(value.items()):
            yield f"{',' if position else ''}{json.dumps(str(key)[:_VALUE_TEXT], ensure_ascii=False)}:"
            yield from _pieces(item, depth + 1)
        yield "}"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield "["
        for position, item in enumerate(value):
            yield "," if position else ""
            yield from _pieces(item, depth + 1)
        yield "]"
    elif isinstance(value, str):
        yield json.dumps(value[: _VALUE_TEXT + 1], ensure_ascii=False)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        yield "…"  # the text of a huge integer costs quadratic time, and Python refuses beyond 4300 digits
    else:
        yield json.dumps(value, default=lambda _: None)
