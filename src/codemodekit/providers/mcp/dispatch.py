"""The SDK's dispatcher, with answers about tools left as they came, and errors kept out of spans.

What the SDK checks against its models it also narrows: they drop fields they do not know, and refuse a whole page for
one odd tool or a whole result for one block of a new type. Knows the protocol's envelope only, not what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp import ClientSession
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import mcp_param_headers
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import ErrorData, Request, RequestId
from pydantic import BaseModel

__all__ = ["RawDispatcher", "ask"]


class _Answer(Exception):
    """Carries an answer past `ClientSession.send_request`, which returns only what it has checked."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


class RawDispatcher(JSONRPCDispatcher[TransportContext]):
    """See the module; also bounds the question for the version."""

    discover_timeout_s: float | None = None
    _RAW: Final = frozenset({"tools/list", "tools/call"})

    def __init__(self, read: Any, write: Any) -> None:
        super().__init__(read, write)
        self.header_maps: dict[str, dict[tuple[str, ...], str]] = {}
        """By tool: which arguments the newer protocol wants repeated in HTTP headers."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **related: Any
    ) -> dict[str, Any]:
        options: CallOptions = {**(opts or {})}
        if method == "server/discover" and self.discover_timeout_s is not None:
            options["timeout"] = self.discover_timeout_s
        if method == "tools/call" and params is not None and (names := self.header_maps.get(params["name"])):
            options["headers"] = {**options.get("headers", {}), **mcp_param_headers(names, params["arguments"])}
        try:
            result = await super().send_raw_request(method, params, options, **related)
        except MCPError as error:
            if isinstance(error.data, ErrorData):
                raise MCPError.from_error_data(error.data) from None
            raise
        if method in self._RAW:
            raise _Answer(result)
        return result

    def _resolve_pending(self, request_id: RequestId | None, outcome: dict[str, Any] | ErrorData) -> None:
        # The base writes the words of an error, which may be a secret, into its span of the request. It gets one
        # without words, which has the other one with it until it has left.
        if isinstance(outcome, ErrorData):
            outcome = ErrorData(code=outcome.code, message="", data=outcome)
        super()._resolve_pending(request_id, outcome)


async def ask(
    client: ClientSession,
    request: Request[Any, Any],
    *,
    timeout_s: float | None = None,
    progress: ProgressFnT | None = None,
) -> dict[str, Any]:
    """The answer to `tools/list` or `tools/call`, as it came; raises what the SDK raises."""
    try:
        await client.send_request(
            request, BaseModel, request_read_timeout_seconds=timeout_s, progress_callback=progress
        )
    except _Answer as answer:
        return answer.result
    raise AssertionError("every method asked for is answered raw")
