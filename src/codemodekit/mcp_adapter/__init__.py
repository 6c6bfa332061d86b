"""The MCP face: `run_typescript` and `search_tools` on an MCP server that somebody else owns.

Turns tool calls into `run` and `search_tools` of one Code Mode, and their results into text and structured content.
Knows no transport and no source; whoever owns the server chooses both.
"""

from __future__ import annotations

from codemodekit.mcp_adapter.definitions import surface_tools
from codemodekit.mcp_adapter.register import CodeModeSurface, RunOutcome, register_code_mode_tools

__all__ = ["CodeModeSurface", "RunOutcome", "register_code_mode_tools", "surface_tools"]
