"""A stdio MCP server without an SDK that does exactly what a test says, also what no SDK would do.

Its one argument is JSON:

- `discover`: result of server/discover; without it the server speaks the older protocol.
- `pages`: cursor -> result of tools/list. `tools`: names, where `pages` would say no more.
- `calls`: tool -> what to do: `result`, `error`, `line` (raw text), `size` (bytes of an answer, 0 for as
  many as the argument `bytes` says, in one line that
  with `ends: false` does not end), `exit`, `ask`
  (a method to ask the client, whose reply becomes the result).
- `ignore`: methods never answered. `ignore_first`: not the first time. `errors`: method -> error.
- `noise`: lines on stdout at start. `stderr`. `exit`: code, at start.
- `stubborn`: a file: ignores the end of its input and SIGTERM, starts a child that does the same, and writes both
  process ids there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(sys.argv[1])
if "tools" in SCRIPT:
    SCRIPT["pages"] = {"": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in SCRIPT["tools"]]}}
WAITING: list[Any] = []
STUBBORN = "import signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(60)"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def reply(request_id: Any, **outcome: Any) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": request_id, **outcome}))


def say_much(request_id: Any, size: int, ends: bool) -> None:
    write = sys.stdout.write
    write(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"result":{{"content":[{{"type":"text","text":"')
    for _ in range(size // 1_000):
        write("x" * 1_000)
    write('"}]}}\n' if ends else "")
    sys.stdout.flush()


def do(request_id: Any, action: dict[str, Any], arguments: dict[str, Any]) -> None:
    if "exit" in action:
        os._exit(action["exit"])
    elif "line" in action:
        say(action["line"].replace("$ID", json.dumps(request_id)))
    elif "ask" in action:
        WAITING.append(request_id)
        say(json.dumps({"jsonrpc": "2.0", "id": "asked", "method": action["ask"], "params": action["params"]}))
    elif "size" in action:
        say_much(request_id, action["size"] or arguments["bytes"], action.get("ends", True))
    else:
        reply(request_id, **action)


def answer(message: dict[str, Any]) -> None:
    if "method" not in message:
        reply(WAITING.pop(), result={"content": [], "structuredContent": message})
        return
    method, request_id, params = message["method"], message.get("id"), message.get("params") or {}
    if request_id is None or method in SCRIPT.get("ignore", []):
        return
    if method in SCRIPT.get("ignore_first", []):
        SCRIPT["ignore_first"].remove(method)
        return
    if method in SCRIPT.get("errors", {}):
        reply(request_id, error=SCRIPT["errors"][method])
        return
    if method == "server/discover" and "discover" in SCRIPT:
        reply(request_id, result=SCRIPT["discover"])
    elif method == "initialize":
        info = {"name": "raw", "version": "1"}
        reply(request_id, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        reply(request_id, result=SCRIPT.get("pages", {}).get(params.get("cursor", ""), {"tools": []}))
    elif method == "tools/call" and params["name"] in SCRIPT.get("calls", {}):
        do(request_id, SCRIPT["calls"][params["name"]], params.get("arguments") or {})
    elif method == "tools/call" and params["name"] == "mirror":
        reply(request_id, result={"content": [], "structuredContent": params["arguments"]})
    elif method != "tools/call":
        reply(request_id, error={"code": -32601, "message": "Method not found"})


def be_stubborn(path: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", STUBBORN])
    Path(path).write_text(f"{os.getpid()} {child.pid}", encoding="ascii")


if "stderr" in SCRIPT:
    sys.stderr.write(SCRIPT["stderr"] + "\n")
    sys.stderr.flush()
if "exit" in SCRIPT:
    sys.exit(SCRIPT["exit"])
if "stubborn" in SCRIPT:
    be_stubborn(SCRIPT["stubborn"])
for noise in SCRIPT.get("noise", []):
    say(noise)
for received in sys.stdin:
    answer(json.loads(received))
while "stubborn" in SCRIPT:
    time.sleep(60)
