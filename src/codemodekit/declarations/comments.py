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

__all__ = ["comment", "preview", "safe", "schema_comment", "shortened"]

_PROPERTY_TEXT: Final = 400
_SHORT_TEXT: Final = 80
_VALUE_TEXT: Final = 80
_SAFE_INTEGER: Final = 2**53 - 1

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
    text = text[: 4 * limit].replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(" " if one.isspace() and one != "\n" else one for one in text if one.isprintable() or one.isspace())
    text = text.strip()
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return text.replace("*/", "*\\/")


def comment(text: str, limit: int, tags: Sequence[str] = ()) -> tuple[str, ...]:
    """The lines of a doc comment; none if there is nothing to say."""
    lines = [line.rstrip() for line in re.sub(r"\n{3,}", "\n\n", safe(text, limit)).split("\n")]
    said = " ".join(safe(tag, 2 * _VALUE_TEXT).replace("\n", " ") for tag in tags)
    if len(lines) == 1:
        whole = " ".join(filter(None, (lines[0], said)))
        return (f"/** {whole} */",) if whole else ()
    return ("/**", *(f" * {line}".rstrip() for line in [*lines, *filter(None, [said])]), " */")


def shortened(lines: tuple[str, ...]) -> tuple[str, ...]:
    """A doc comment cut to the beginning of its first line."""
    words = [text for text in (line.strip().removeprefix("/**").removeprefix("*").strip() for line in lines) if text]
    first = words[0].removesuffix("*/").strip() if words else ""
    return (
        (f"/** {first[: _SHORT_TEXT - 1].rstrip()}… */",) if len(first) > _SHORT_TEXT else comment(first, _SHORT_TEXT)
    )


def schema_comment(schema: object, name: str = "") -> tuple[str, ...]:
    """Description (or title) of a schema, then what TypeScript has no type for: default, bounds, format, pattern.

    A title that only repeats `name`, the word its reader sees anyway, is left out.
    """
    if not isinstance(schema, Mapping):
        return ()
    text = schema.get("description") or schema.get("title")
    if not isinstance(text, str) or ("description" not in schema and _letters(text) == _letters(name)):
        text = ""
    return comment(text, _PROPERTY_TEXT, list(_tags(schema)))


def _letters(text: str) -> str:
    return "".join(one for one in text[:_PROPERTY_TEXT].lower() if one.isalnum())


def _tags(schema: JsonObject) -> Iterator[str]:
    yield from _own_tags(schema)
    # `number | null` is written as a choice whose one real branch holds the bounds.
    for keyword in ("anyOf", "oneOf"):
        choices = schema.get(keyword)
        if isinstance(choices, list | tuple) and len(choices) <= 2:
            real = [one for one in choices if isinstance(one, Mapping) and one.get("type") != "null"]
            if len(real) == 1:
                yield from (tag for tag in _own_tags(real[0]) if tag not in _own_tags(schema))
    items = schema.get("items")
    if isinstance(items, Mapping) and (of_items := list(_own_tags(items))):
        yield f"@items {' '.join(of_items)}"


def _own_tags(schema: JsonObject) -> Iterator[str]:
    if schema.get("type") == "integer":
        yield "@integer"
    for name in _TAGS:
        value = schema.get(name)
        if name not in schema or (name != "default" and (value is False or _is_no_bound(value))):
            continue
        if value is True and name != "default":
            yield f"@{name}"
        else:
            yield f"@{name} {value if name in _PLAIN_TAGS and isinstance(value, str) else preview(value)}"
    examples = schema.get("examples")
    if isinstance(examples, list | tuple) and examples:
        yield f"@example {preview(examples[0])}"


def _is_no_bound(value: object) -> bool:
    # Generators write the range of safe integers wherever a number is an integer.
    return isinstance(value, int | float) and abs(value) >= _SAFE_INTEGER


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
