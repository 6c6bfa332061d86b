"""Sources of tools: one module or folder a kind, each an implementation of `contracts.ToolProvider`."""
