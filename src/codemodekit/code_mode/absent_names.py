"""What to use instead of a name that programs elsewhere have and programs here do not.

Turns the engine's message about an unknown name into advice; knows names only. `endings` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["ADVICE", "advice_about"]

_UNKNOWN: Final = re.compile(r"(?P<name>[\w$]{1,64}) is not defined")

_TOOLS: Final = "this program reaches the outside only through `tools`; `Object.keys(tools)` lists the sources"
_NO_TIMERS: Final = "there are no timers; `await` tool calls, and call one after another or with `Promise.all`"
_NO_MODULES: Final = "there are no modules to load; use `tools` and the language's own objects"
_NO_HOST: Final = "nothing of the machine can be reached; what the host passes in is in `context`"
_GLOBAL: Final = "use `globalThis`"

ADVICE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("fetch", "XMLHttpRequest", "axios", "WebSocket", "EventSource", "http", "https", "Request", "Headers"),
        f"there is no network; {_TOOLS}",
    ),
    **dict.fromkeys(("fs", "child_process", "Deno", "Bun", "os"), f"there is no machine; {_TOOLS}"),
    **dict.fromkeys(
        (
            "setTimeout",
            "setInterval",
            "setImmediate",
            "clearTimeout",
            "clearInterval",
            "sleep",
            "requestAnimationFrame",
        ),
        _NO_TIMERS,
    ),
    "queueMicrotask": "use `Promise.resolve().then(…)`",
    **dict.fromkeys(("print", "alert", "println", "printf"), "use `console.log`, or `return` the value"),
    **dict.fromkeys(("require", "module", "exports", "importScripts"), _NO_MODULES),
    **dict.fromkeys(("path", "lodash", "zod", "moment", "dayjs", "util"), _NO_MODULES),
    **dict.fromkeys(("process", "__dirname", "__filename", "navigator", "localStorage", "sessionStorage"), _NO_HOST),
    **dict.fromkeys(("window", "global"), _GLOBAL),
    "document": "there is no page; fetch and take apart documents with `tools`",
    **dict.fromkeys(("Buffer", "Blob", "File", "FileReader"), "use `Uint8Array`, or a plain string or array"),
    **dict.fromkeys(("TextEncoder", "TextDecoder"), "there is none; work on strings and their character codes"),
    **dict.fromkeys(("atob", "btoa"), "there is no base64 here; leave such content to the tools"),
    "structuredClone": "use `JSON.parse(JSON.stringify(value))`, or copy with `{ ...value }`",
    **dict.fromkeys(("URL", "URLSearchParams"), "there is none; use string methods, `encodeURIComponent` and RegExp"),
    "crypto": "there is none; `Math.random` is not fit for secrets, which programs need not make",
    "performance": "use `Date.now()`",
    "Intl": "there is none; format numbers and dates by hand",
    **dict.fromkeys(("AbortController", "AbortSignal"), "calls cannot be aborted from here; the limits end them"),
    **dict.fromkeys(
        ("SharedArrayBuffer", "Atomics", "Worker", "MessageChannel"), "there are no threads; use `Promise.all`"
    ),
    "WebAssembly": "only the program's own code runs here",
    **dict.fromkeys(("eval", "Function"), "code cannot be made from text here; write it into the program"),
    **dict.fromkeys(("WeakRef", "FinalizationRegistry"), "use a plain reference; the program is short-lived"),
    **dict.fromkeys(("input", "args", "params", "ctx", "env"), "what the host passes in is in `context`"),
    **dict.fromkeys(
        ("codemode", "mcp", "tool", "callTool", "call_tool", "client"), "call `tools.<source>.<tool>({…})`"
    ),
    **dict.fromkeys(("None", "True", "False", "nil"), "the program is TypeScript: `null`, `true`, `false`"),
    "len": "use `.length`",
    "str": "use `String(value)`",
    "self": "use `this`, or `globalThis`",
}
"""Name to advice. What programs tend to call things of their own is left out: a slip in such a name needs no advice."""


def advice_about(message: str) -> str | None:
    """What to use instead of the unknown name that the engine's message is about; None if nothing is known."""
    found = _UNKNOWN.fullmatch(message)
    return ADVICE.get(found["name"]) if found else None
