import anyio

from codemodekit import local, mcp, read_only_tool_calls, serve_code_mode_stdio


def today() -> str:
    """The date, for people who lost track."""
    return "2030-01-01"


SOURCES = [
    local("calendar", [today]),
    mcp.stdio("git", "mcp-server-git"),
    mcp.http("tracker", "https://tracker.example/mcp", headers={"Authorization": "Bearer of-no-use"}),
    mcp.sse("old", "http://127.0.0.1:9000/sse", mode="2025-11-25", output_mismatch="warn"),
]


async def main() -> None:
    await serve_code_mode_stdio(name="my-tools", version="1.0", tool_policy=read_only_tool_calls(), sources=SOURCES)


if __name__ == "__main__":
    anyio.run(main)
