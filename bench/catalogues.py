"""Made-up tools in any number, all different, as they are in the wild: a verb, a thing, an area, a handful of fields.

The same number and salt give the same tools. A salt makes all schemas new, so that no cache of an earlier round helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import Any

__all__ = ["QUERIES", "ToolText", "tool_texts"]

_VERBS = (
    "list", "get", "create", "update", "delete", "search", "archive", "restore", "export", "import",
    "approve", "reject", "assign", "notify", "merge", "split", "tag", "count", "compare", "schedule",
)  # fmt: skip
_THINGS = (
    "invoice", "customer", "order", "ticket", "branch", "commit", "message", "channel", "calendar_event", "contact",
    "document", "folder", "payment", "refund", "subscription", "product", "warehouse", "shipment", "employee", "report",
    "dashboard", "alert", "incident", "deployment", "pipeline", "secret", "certificate", "domain", "record", "backup",
    "snapshot", "volume", "instance", "cluster", "database", "table", "query", "dataset", "model", "experiment",
    "campaign", "audience", "survey", "answer", "course", "lesson", "booking", "flight", "room", "vehicle",
)  # fmt: skip
_AREAS = ("billing", "support", "sales", "ops", "finance", "people", "cloud", "data", "travel", "learning")

QUERIES = (
    "create_invoice_billing", "tools.app.list_customer_billing", "refund", "create refund", "list open tickets support",
    "delete a branch", "calendar event", "calendarEvent", "certificate expiry", "restore backup cloud", "invoce",
    "custmer update", "notify channel about incident", "export the report of finance as csv", "count experiments",
    "merge", "schedule flight travel", "compare datasets between two models", "something about nothing in particular",
    "assign vehicle employee",
)  # fmt: skip
"""What is searched for: whole names, a callable, one word and several, parted and joined words, slips, filler."""


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as text."""

    name: str
    description: str
    input: dict[str, Any]
    output: dict[str, Any] | None


def tool_texts(count: int, salt: str = "") -> list[ToolText]:
    """So many tools, at most 10,000; one in four declares what it answers."""
    triples = islice(product(_AREAS, _THINGS, _VERBS), count)
    return [_tool(number, verb, thing, area, salt) for number, (area, thing, verb) in enumerate(triples)]


def _tool(number: int, verb: str, thing: str, area: str, salt: str) -> ToolText:
    words = thing.replace("_", " ")
    return ToolText(
        name=f"{verb}_{thing}_{area}",
        description=f"{verb.capitalize()} {words}s of {area}. Returns the {words} with its current state, or says why "
        f"it could not be found; large answers come in pages.",
        input=_input(number, verb, thing, words, salt),
        output=_output(thing) if number % 4 == 0 else None,
    )


def _input(number: int, verb: str, thing: str, words: str, salt: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            f"{thing}_id": {"type": "string", "minLength": 1, "description": f"Which {words} to {verb}.{salt}"},
            "state": {"enum": ["open", "closed", "any"], "default": "any"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100 + number},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
            "filter": {
                "type": "object",
                "properties": {"after": {"type": "string"}, "owner": {"type": ["string", "null"]}},
                "additionalProperties": False,
            },
        },
        "required": [f"{thing}_id"],
        "additionalProperties": False,
    }


def _output(thing: str) -> dict[str, Any]:
    row = {"type": "object", "properties": {"id": {"type": "string"}, "state": {"type": "string"}}, "required": ["id"]}
    return {"type": "object", "properties": {f"{thing}s": {"type": "array", "items": row}}, "required": [f"{thing}s"]}
