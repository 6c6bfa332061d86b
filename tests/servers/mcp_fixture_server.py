"""An MCP server for tests, on the SDK's low-level server: `stdio`, `http PORT` or `sse PORT`.

With FIXTURE_LOG set, what happens to the slow tool is appended to that file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

OBJECT = {"type": "object"}
NUMBER_IN = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
TOOLS = [
    types.Tool(
        name="echo",
        title="Echo",
        description="Gives back what it gets",
        input_schema=NUMBER_IN,
        output_schema={"type": "object", "properties": {"x": {}}},
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        _meta={"vendor/rank": 1},
    ),
    types.Tool(name="panel", input_schema=OBJECT, _meta={"ui": {"visibility": ["app"], "resourceUri": "ui://p"}}),
    types.Tool(
        name="routed",
        input_schema={"type": "object", "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}}},
    ),
    *(
        types.Tool(name=name, input_schema=OBJECT)
        for name in ("slow", "fail", "refuse", "die", "steps", "gallery", "grow", "contacts.find", "größe/1")
    ),
]
bus = InMemorySubscriptionBus()


def log(line: str) -> None:
    if path := os.environ.get("FIXTURE_LOG"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    handler = HANDLERS.get(params.name)
    if handler is None:
        raise MCPError(code=-32602, message=f"no tool {params.name}")
    return await handler(ctx, params.arguments or {})


def text(value: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=value)], **more)


async def echo(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return text("echo", structured_content=arguments, _meta={"trace": "t-1"})


async def routed(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    request = ctx.request
    return text(request.headers.get("mcp-param-tenant", "none") if request is not None else "no http")


async def slow(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    log("slow started")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        log("slow cancelled")
        raise
    return text("never")


async def fail(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return text("no such row; sent with Bearer abcDEF123456", is_error=True)


async def refuse(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    raise MCPError(code=-32050, message="quota used up for key hush-hush-hush")


async def die(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    os._exit(3)


async def steps(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    for step in ("one", "two"):
        await ctx.session.report_progress(1, 2, step)
    return text("done")


async def gallery(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[
            types.ImageContent(type="image", data="AAAA", mime_type="image/png", _meta={"secret": 1}),
            types.EmbeddedResource(
                type="resource",
                resource=types.TextResourceContents(uri="file:///a", text="A", mime_type="text/plain", _meta={"m": 1}),
                annotations=types.Annotations(priority=1),
            ),
            types.ResourceLink(type="resource_link", uri="file:///b", name="b"),
        ]
    )


async def grow(ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    TOOLS.append(types.Tool(name=f"grown{len(TOOLS)}", input_schema=OBJECT))
    await bus.publish(ToolsListChanged())
    if ctx.protocol_version != "2026-07-28":
        await ctx.session.send_tool_list_changed()
    return text("grown")


HANDLERS = {
    "echo": echo,
    "routed": routed,
    "slow": slow,
    "fail": fail,
    "refuse": refuse,
    "die": die,
    "steps": steps,
    "gallery": gallery,
    "grow": grow,
}

server = Server(
    "fixture",
    version="1.0",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(bus),
)


def options() -> Any:
    return server.create_initialization_options(NotificationOptions(tools_changed=True))


async def serve_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, options())


def sse_app() -> Any:
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def stream(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, options())
        return Response()

    return Starlette(
        routes=[Route("/sse", stream, methods=["GET"]), Mount("/messages/", transport.handle_post_message)]
    )


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(serve_stdio)
    else:
        import uvicorn

        app = server.streamable_http_app() if sys.argv[1] == "http" else sse_app()
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
