"""codemodekit: one small Code Mode surface in front of any number of tools.

The names here are the public ones. They are imported when they are first used: the MCP SDK, the sandbox and pydantic
cost more time than most uses of the package, such as `codemodekit --help`, have to spare.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemodekit.catalog.diff import CatalogDiff, diff_catalogs
    from codemodekit.catalog.revision import CatalogRevision
    from codemodekit.code_mode import AuditLog, CodeMode, ObserverEvent, RunEvent, RunResult, TrustedRecord
    from codemodekit.compilers.checker import TypeCheck
    from codemodekit.compilers.typecheck import TypeScriptChecker
    from codemodekit.compilers.typescript import TypeScriptCompiler
    from codemodekit.contracts import Allow, Ask, Deny, PolicyRequest, ToolAnnotations, ToolDefinition, ToolResult
    from codemodekit.diagnostics import Diagnostic, DiagnosticCode
    from codemodekit.errors import CodeModeKitError, ConfigurationError, ToolError
    from codemodekit.limits import ExecutionLimits
    from codemodekit.mcp_adapter import register_code_mode_tools
    from codemodekit.policy import allow_all_tool_calls, deny_all_tool_calls, policy_rules, read_only_tool_calls
    from codemodekit.providers.agent_plugin import AgentPlugin, load_agent_plugin
    from codemodekit.providers.local import LocalToolProvider, ToolContext, define_tool, local
    from codemodekit.providers.mcp.sources import McpToolProvider, mcp
    from codemodekit.providers.openapi import OpenApiToolProvider, openapi
    from codemodekit.sandboxes.quickjs import QuickJsSandbox
    from codemodekit.servers.embedding import create_code_mode_mcp
    from codemodekit.servers.http import serve_code_mode_http
    from codemodekit.servers.stdio import serve_code_mode_stdio

__all__ = [
    "AgentPlugin",
    "Allow",
    "Ask",
    "AuditLog",
    "CatalogDiff",
    "CatalogRevision",
    "CodeMode",
    "CodeModeKitError",
    "ConfigurationError",
    "Deny",
    "Diagnostic",
    "DiagnosticCode",
    "ExecutionLimits",
    "LocalToolProvider",
    "McpToolProvider",
    "ObserverEvent",
    "OpenApiToolProvider",
    "PolicyRequest",
    "QuickJsSandbox",
    "RunEvent",
    "RunResult",
    "ToolAnnotations",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolResult",
    "TrustedRecord",
    "TypeCheck",
    "TypeScriptChecker",
    "TypeScriptCompiler",
    "allow_all_tool_calls",
    "create_code_mode_mcp",
    "define_tool",
    "deny_all_tool_calls",
    "diff_catalogs",
    "load_agent_plugin",
    "local",
    "mcp",
    "openapi",
    "policy_rules",
    "read_only_tool_calls",
    "register_code_mode_tools",
    "serve_code_mode_http",
    "serve_code_mode_stdio",
]

_HOMES = {
    "codemodekit.catalog.diff": ("CatalogDiff", "diff_catalogs"),
    "codemodekit.catalog.revision": ("CatalogRevision",),
    "codemodekit.code_mode": ("AuditLog", "CodeMode", "ObserverEvent", "RunEvent", "RunResult", "TrustedRecord"),
    "codemodekit.compilers.checker": ("TypeCheck",),
    "codemodekit.compilers.typecheck": ("TypeScriptChecker",),
    "codemodekit.compilers.typescript": ("TypeScriptCompiler",),
    "codemodekit.contracts": (
        "Allow", "Ask", "Deny", "PolicyRequest", "ToolAnnotations", "ToolDefinition", "ToolResult",
    ),
    "codemodekit.diagnostics": ("Diagnostic", "DiagnosticCode"),
    "codemodekit.errors": ("CodeModeKitError", "ConfigurationError", "ToolError"),
    "codemodekit.limits": ("ExecutionLimits",),
    "codemodekit.mcp_adapter": ("register_code_mode_tools",),
    "codemodekit.policy": ("allow_all_tool_calls", "deny_all_tool_calls", "policy_rules", "read_only_tool_calls"),
    "codemodekit.providers.agent_plugin": ("AgentPlugin", "load_agent_plugin"),
    "codemodekit.providers.local": ("LocalToolProvider", "ToolContext", "define_tool", "local"),
    "codemodekit.providers.mcp.sources": ("McpToolProvider", "mcp"),
    "codemodekit.providers.openapi": ("OpenApiToolProvider", "openapi"),
    "codemodekit.sandboxes.quickjs": ("QuickJsSandbox",),
    "codemodekit.servers.embedding": ("create_code_mode_mcp",),
    "codemodekit.servers.http": ("serve_code_mode_http",),
    "codemodekit.servers.stdio": ("serve_code_mode_stdio",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]
