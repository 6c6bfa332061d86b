"""Agent Plugins (1.0.0) as sources: the MCP servers that a plugin package brings along.

Reads `plugin.json` and `mcp.json` of a package that somebody else wrote and that nobody here trusts. Skills of a plugin
are for clients that show them to a model, and are not read.
"""

from codemodekit.providers.agent_plugin.load import load_agent_plugin
from codemodekit.providers.agent_plugin.plugin import AgentPlugin, PluginNote

__all__ = ["AgentPlugin", "PluginNote", "load_agent_plugin"]
