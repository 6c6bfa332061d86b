"""A page of tools in, the answer out: the fields of the contract in their order, within a bound, whole results only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codemodekit._json import encode
from codemodekit.catalog.search.pages import Page
from codemodekit.catalog.search.request import Request, cursor_of
from codemodekit.catalog.snapshot import CatalogTool
from codemodekit.contracts import ToolDefinition

__all__ = ["Answers"]

_LONGEST_DESCRIPTION: Final = 300
_MOST_BYTES: Final = 64 * 1024
_ORDER: Final = ("catalogRevision", "query", "total", "returned", "truncated", "nextCursor", "results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Tells pages of tools."""

    declare: Callable[[str, ToolDefinition, str], str]
    """The declaration of a tool, from its source, definition and callable."""
    result_contract: str
    """What all declarations refer to."""

    def answer(self, request: Request, page: Page, revision: str, stamp: str) -> dict[str, Any]:
        """The answer of `search_tools`, at most 64 KiB as JSON: results that do not fit are left for the next page."""
        frame = self._frame(request, page, revision)
        results = [self._result(tool, request.detail) for tool in page.tools]
        while True:
            answer = _assembled(frame, results, page, request, stamp)
            if len(encode(answer)) <= _MOST_BYTES:
                return answer
            if results:
                results.pop()
            elif len(page.namespaces) > 1:
                page = replace(page, namespaces=page.namespaces[: len(page.namespaces) // 2])
                frame = {**frame, "namespaces": list(page.namespaces)}
            else:
                frame = {key: value for key, value in frame.items() if key not in ("namespaces", "suggestions")}
                page = replace(page, namespaces=())

    def _frame(self, request: Request, page: Page, revision: str) -> dict[str, Any]:
        frame: dict[str, Any] = {"catalogRevision": revision, "query": request.query, "total": page.total}
        if page.namespaces:
            frame["namespaces"] = list(page.namespaces)
        if request.detail == "typescript" and page.tools:
            frame["resultContract"] = self.result_contract
        if page.suggestions:
            frame["suggestions"] = list(page.suggestions)
        if page.diagnostic is not None:
            frame["diagnostic"] = page.diagnostic
        return frame

    def _result(self, tool: CatalogTool, detail: str) -> dict[str, Any]:
        definition = tool.definition
        result: dict[str, Any] = {"source": tool.source, "tool": definition.name, "callable": tool.callable}
        if detail == "summary" and (description := _summary(definition.description)):
            result["description"] = description
        if definition.annotations.read_only is not None:
            result["readOnly"] = definition.annotations.read_only
        if detail == "typescript":
            result["declaration"] = self.declare(tool.source, definition, tool.callable)
        return result


def _assembled(
    frame: Mapping[str, Any], results: Sequence[Mapping[str, Any]], page: Page, request: Request, stamp: str
) -> dict[str, Any]:
    end = page.offset + len(results)
    truncated = end < page.total and bool(page.tools)
    answer: dict[str, Any] = {**frame, "returned": len(results), "truncated": truncated, "results": list(results)}
    if truncated and results:
        answer["nextCursor"] = cursor_of(stamp, request, end)
    elif truncated:
        answer.setdefault("diagnostic", "the next result alone is too large to show; ask for detail 'summary'")
    return {key: answer[key] for key in (*_ORDER, *(key for key in answer if key not in _ORDER)) if key in answer}


def _summary(description: str) -> str:
    start = description[: 4 * _LONGEST_DESCRIPTION]
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in start).split())
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1].rstrip() + "…"
