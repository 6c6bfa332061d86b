"""Sandboxes: one folder an engine, each an implementation of `contracts.CodeSandbox`."""
