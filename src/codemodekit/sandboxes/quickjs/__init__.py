"""QuickJS-NG in WebAssembly: the default sandbox for JavaScript programs."""

from codemodekit.sandboxes.quickjs.sandbox import QuickJsSandbox

__all__ = ["QuickJsSandbox"]
