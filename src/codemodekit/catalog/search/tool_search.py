"""The search over one catalogue: asks beside the event loop, and waits a moment for sources that are still connecting.

Only tools that can be called now are found. Knows no protocol: the adapter turns the answer into its own form.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Literal

from codemodekit.catalog.search.answer import Answers
from codemodekit.catalog.search.pages import Page, SearchView, View
from codemodekit.catalog.search.request import Request, request_of
from codemodekit.contracts import ToolDefinition
from codemodekit.declarations.typescript import RESULT_CONTRACT, declare_tool

__all__ = ["ToolSearch"]

_PATIENCE_S: Final = 5.0


class ToolSearch:
    """Searches the tools of a catalogue.

    Args:
        manager: where the catalogue is.
        declare: the declaration of a tool, from its source, definition and callable.
        result_contract: what all declarations refer to.
        patience_s: how long a search that finds nothing waits for sources that are still connecting.
    """

    def __init__(
        self,
        manager: SearchView,
        *,
        declare: Callable[[str, ToolDefinition, str], str] = declare_tool,
        result_contract: str = RESULT_CONTRACT,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._manager = manager
        self._answers = Answers(declare=declare, result_contract=result_contract)
        self._patience_s = patience_s

    async def search(
        self,
        query: str,
        *,
        source: str | None = None,
        detail: Literal["summary", "typescript"] | str = "summary",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """The answer of `search_tools`.

        Raises:
            SearchRefused: the request is not one.
        """
        request = request_of(query, source, detail, limit, cursor)
        loop = asyncio.get_running_loop()
        end = loop.time() + self._patience_s
        while True:
            # the catalogue is pinned here, on the loop; ranking and declaring happen beside it
            view = View(self._manager)
            page = await asyncio.to_thread(view.page, request)
            left = end - loop.time()
            if page.tools or page.is_refused or not view.waits_for(request.source) or left <= 0:
                return await asyncio.to_thread(self._answer, request, page, view)
            await self._manager.next_settled(left)

    def _answer(self, request: Request, page: Page, view: View) -> dict[str, Any]:
        return self._answers.answer(request, page, view.catalog.revision, view.stamp)
