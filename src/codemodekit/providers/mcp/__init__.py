"""Tools of MCP servers, over stdio, Streamable HTTP and SSE."""
