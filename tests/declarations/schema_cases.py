"""What a case of the corpus is, and the small schemas that its schemas are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Case:
    name: str
    schema: Any
    fits: tuple[Any, ...] = ()
    refuses: tuple[Any, ...] = ()


def obj(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


S: dict[str, Any] = {"type": "string"}
N: dict[str, Any] = {"type": "number"}
I: dict[str, Any] = {"type": "integer"}  # noqa: E741
B: dict[str, Any] = {"type": "boolean"}
NULL: dict[str, Any] = {"type": "null"}
REF_A: dict[str, Any] = {"$ref": "#/$defs/A"}
