import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import anyio

from codemodekit import CodeMode, openapi, read_only_tool_calls
from codemodekit.providers.openapi import ApiKey

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Stock", "version": "1"},
    "paths": {
        "/shelves/{shelf}/items": {
            "get": {
                "operationId": "listItems",
                "summary": "What lies on a shelf.",
                "parameters": [
                    {"name": "shelf", "in": "path", "required": True, "schema": {"type": "string"}},
                    {
                        "name": "below",
                        "in": "query",
                        "schema": {"type": "integer"},
                        "description": "Only what is scarcer.",
                    },
                ],
                "responses": {
                    "200": {
                        "description": "The items.",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}
                            }
                        },
                    }
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Item": {
                "type": "object",
                "required": ["name", "left"],
                "properties": {"name": {"type": "string"}, "left": {"type": "integer"}},
            }
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
}


class Stock(BaseHTTPRequestHandler):
    """The API, which could be anybody's."""

    def do_GET(self) -> None:
        known = self.headers["X-Key"] == "k-123456" and self.path == "/v1/shelves/top%2Fleft/items?below=5"
        body = json.dumps([{"name": "nails", "left": 2}] if known else {"message": "no such shelf"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def stock_service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stock)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


PROGRAM = """
const { structuredContent: items } = await tools.stock.listItems({ shelf: "top/left", below: 5 });
const missing = await tools.stock.listItems({ shelf: "cellar" }).catch((error) => error.details);
return { scarce: items.map((item) => `${item.name}: ${item.left}`), missing };
"""


async def main() -> object:
    with stock_service() as address:
        # DOCUMENT may as well be a file or an address: openapi("stock", "stock.yaml", ...)
        stock = openapi("stock", DOCUMENT, base_url=address, auth=ApiKey("k-123456"))
        async with CodeMode(providers=[stock], tool_policy=read_only_tool_calls()) as code_mode:
            return (await code_mode.run(PROGRAM)).value


if __name__ == "__main__":
    print(anyio.run(main))
