"""All pages of `tools/list`, read into one listing whatever is on them.

Bounded in pages, tools and bytes. Knows neither connections nor what a schema means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types
from anyio import to_thread
from mcp.shared.inbound import find_invalid_x_mcp_header

from codemodekit.contracts import ToolDefinition, ToolListing
from codemodekit.errors import SourceLost, ToolCallFailed
from codemodekit.providers.mcp.definitions import Unusable, tool_definition
from codemodekit.providers.mcp.failures import as_lost
from codemodekit.providers.mcp.redaction import Redactor
from codemodekit.providers.mcp.settings import OutputMismatch

__all__ = ["Reading", "read_pages"]

MAX_PAGES: Final = 1_000
MAX_TOOLS: Final = 20_000
MAX_BYTES: Final = 32 * 1024 * 1024
"""Of all definitions together, as JSON."""
MAX_NOTES: Final = 20


async def read_pages(
    reading: Reading,
    page: Callable[[str | None], Awaitable[dict[str, Any]]],
    failure: Callable[[BaseException], SourceLost | ToolCallFailed],
) -> ToolListing:
    """Ask for page after page; `failure` says what an exception of `page` stands for.

    Raises:
        SourceLost: the connection is gone, or the server does not list.
    """
    cursor: str | None = None
    while True:
        try:
            answer = await page(cursor)
        except Exception as error:
            reading.fail(failure(error))
            break
        # In a thread: thousands of definitions, each searched for secrets, would hold up the loop.
        cursor = await to_thread.run_sync(reading.add, answer)
        if cursor is None:
            break
    return reading.listing()


class Reading:
    """A listing while its pages come in.

    `drop_bad_headers`: the newer protocol demands that a tool whose `x-mcp-header` is wrong is left out.
    """

    def __init__(self, redactor: Redactor, output_mismatch: OutputMismatch, *, drop_bad_headers: bool) -> None:
        self._redactor = redactor
        self._output_mismatch = output_mismatch
        self._drop_bad_headers = drop_bad_headers
        self._tools: list[ToolDefinition] = []
        self._notes: list[str] = []
        self._cursors: set[str] = set()
        self._pages = 0
        self._bytes = 0
        self._full = False

    def listing(self) -> ToolListing:
        """What has been read."""
        return ToolListing(definitions=tuple(self._tools), notes=tuple(map(self._redactor.clean, self._notes)))

    def add(self, page: dict[str, Any]) -> str | None:
        """Take in one page; the cursor of the next one, or None at the end."""
        self._pages += 1
        listed = page.get("tools")
        if isinstance(listed, list):
            for raw in listed:
                self._take(raw)
        else:
            self._note(f"page {self._pages} of the tool listing holds no list of tools")
        return self._next(page.get("nextCursor"))

    def fail(self, failure: SourceLost | ToolCallFailed) -> None:
        """What a page that did not come means: a loss, a server without tools, or the end of what there is."""
        if isinstance(failure, SourceLost):
            raise failure
        if self._pages == 0 and failure.upstream_code == types.METHOD_NOT_FOUND:
            self._note("the server offers no tools")
        elif self._pages == 0:
            raise as_lost(failure, "listing the tools")
        else:
            self._note(f"page {self._pages + 1} of the tool listing failed: {failure.message}")

    def _take(self, raw: Any) -> None:
        if self._full:
            return
        found = tool_definition(raw, self._redactor, output_mismatch=self._output_mismatch)
        if isinstance(found, Unusable):
            self._note(found.reason)
            return
        tool, size = found
        if self._drop_bad_headers and (reason := _header_fault(tool)) is not None:
            self._note(f"tool {tool.name[:100]!r} is left out: its x-mcp-header annotation is not valid ({reason})")
            return
        self._bytes += size
        self._full = len(self._tools) >= MAX_TOOLS or self._bytes > MAX_BYTES
        if not self._full:
            self._tools.append(tool)

    def _next(self, cursor: Any) -> str | None:
        if (fault := self._early_end(cursor)) is not None:
            self._note(f"the tool listing ends early: {fault}")
        elif cursor:
            self._cursors.add(cursor)
            return str(cursor)
        return None

    def _early_end(self, cursor: Any) -> str | None:
        """Why no page is asked for although there are more tools."""
        if self._full:
            return f"it goes beyond {MAX_TOOLS} tools or {MAX_BYTES} bytes"
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str):
            return "its cursor is not text"
        if cursor in self._cursors:
            return "its cursor came back"
        return f"it goes beyond {MAX_PAGES} pages" if self._pages >= MAX_PAGES else None

    def _note(self, note: str) -> None:
        if len(self._notes) < MAX_NOTES:
            self._notes.append(note)


def _header_fault(tool: ToolDefinition) -> str | None:
    try:
        return find_invalid_x_mcp_header(tool.input_schema)
    except RecursionError:
        return "it is nested too deeply to be looked through"
