"""The catalogue as one run sees it: that of its beginning, and late sources as they were when first ready."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from codemodekit.bridge.admission import find_tool, no_source, unavailable
from codemodekit.catalog.manager import CatalogManager
from codemodekit.catalog.snapshot import Catalog, CatalogTool, SourceCatalog
from codemodekit.contracts import GuestCall

__all__ = ["PinnedCatalog"]

CONNECT_SECONDS: Final = 10.0
"""How long a call waits for a source that is still connecting."""


class PinnedCatalog:
    """Resolves the calls of one run."""

    def __init__(self, catalog: CatalogManager) -> None:
        self._catalog = catalog
        self.pinned: Catalog = catalog.snapshot()
        """That of the beginning."""
        self._late: dict[str, SourceCatalog] = {}

    def names(self, source: str | None) -> Sequence[str]:
        """Names of the sources, or of a source's tools; safe on any thread.

        Raises:
            LookupError: the source has not listed its tools yet.
        """
        if source is None:
            return self._catalog.names
        found = self._source(source)
        if found is None:
            raise LookupError(source)
        return list(found.tools)

    def find(self, call: GuestCall) -> CatalogTool | None:
        """The tool that is called; None where finding it has to wait, for a source or for a very large schema.

        Raises:
            CallRefused: there is no such tool, or it cannot be called.
        """
        source = self._source(call.source)
        tool = None if source is None else find_tool(call, source)
        return tool if tool is not None and _is_ready(tool) else None

    async def find_late(self, call: GuestCall) -> CatalogTool:
        """The same, after waiting for it.

        Raises:
            CallRefused: there is no such tool, it cannot be called, or its source did not come in time.
        """
        source = self._source(call.source) or await self._await_source(call)
        tool = find_tool(call, source)
        for check in (tool.input, tool.output):
            if check is not None and not check.prepared:
                await asyncio.to_thread(check.is_valid, None)
        return tool

    def _source(self, source: str) -> SourceCatalog | None:
        return self.pinned.sources.get(source) or self._late.get(source)

    async def _await_source(self, call: GuestCall) -> SourceCatalog:
        if not self._catalog.known(call.source):
            raise no_source(call, self._catalog.names)
        found = await self._catalog.ready(call.source, CONNECT_SECONDS)
        if found is None:
            raise unavailable(call, self._catalog)
        return self._late.setdefault(call.source, found)


def _is_ready(tool: CatalogTool) -> bool:
    return tool.input.prepared and (tool.output is None or tool.output.prepared)
