"""A stdio MCP server without an SDK that does exactly what a test says, also what no SDK would do.

Its one argument is JSON:

- `discover`: result of server/discover; without it the server speaks the older protocol.
- `pages`: cursor -> result of tools/list. `tools`: names, where `pages` would say no more.
- `starts`: a file with a letter for each start so far, and `pages_by_start`: `pages` of the first, second, … and all
  further starts.
- `calls`: tool -> what to do: `result`, `error`, `line` (raw text), `size` (bytes of an answer, 0 for as many as the
  argument `bytes` says, in one line that with `ends: false` does not end), `exit`, `ask` (a method to ask the client,
  whose reply becomes the result), `counted` (how many requests of a method came), `env` (the environment), `hang`,
  `flood` (method, params, count: notifications before an empty result; `$TOKEN` in them is the progress token), `pages`
  (from now on, and says so).
- `later`: as soon as the file `when` exists, `pages` change, and it says so.
- `delays`: method -> seconds until it is answered.
- `ignore`: methods never answered. `ignore_first`: not the first time. `errors`: method -> error.
- `noise`: lines on stdout at start. `stderr`, `stderr_times`. `exit`: code, at start.
- `stubborn`: a file: ignores the end of its input and SIGTERM, starts a child that does the same, and writes both
  process ids there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(sys.argv[1])
if "tools" in SCRIPT:
    SCRIPT["pages"] = {"": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in SCRIPT["tools"]]}}
WAITING: list[Any] = []
COUNTS: Counter[str] = Counter()
if "starts" in SCRIPT:
    with Path(SCRIPT["starts"]).open("a+", encoding="ascii") as starts:
        starts.write("x")
        starts.seek(0)
        SCRIPT["pages"] = SCRIPT["pages_by_start"][min(len(starts.read()), len(SCRIPT["pages_by_start"])) - 1]
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


def flood(method: str, params: Any, count: int, token: Any) -> None:
    text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).replace('"$TOKEN"', json.dumps(token))
    for _ in range(count):
        sys.stdout.write(text + "\n")


def do(request_id: Any, action: dict[str, Any], params: dict[str, Any]) -> None:
    arguments = params.get("arguments") or {}
    if "exit" in action:
        os._exit(action["exit"])
    elif "hang" in action:
        pass
    elif "counted" in action:
        reply(request_id, result={"structuredContent": {"count": COUNTS[action["counted"]]}})
    elif "env" in action:
        reply(request_id, result={"structuredContent": dict(os.environ)})
    elif "flood" in action:
        flood(*action["flood"], (params.get("_meta") or {}).get("progressToken"))
        reply(request_id, result={"content": []})
    elif "pages" in action:
        SCRIPT["pages"] = action["pages"]
        say(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        reply(request_id, result={"content": []})
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
    COUNTS[method] += 1
    if request_id is None or method in SCRIPT.get("ignore", []):
        return
    time.sleep(SCRIPT.get("delays", {}).get(method, 0))
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
        do(request_id, SCRIPT["calls"][params["name"]], params)
    elif method == "tools/call" and params["name"] == "mirror":
        reply(request_id, result={"content": [], "structuredContent": params["arguments"]})
    elif method != "tools/call":
        reply(request_id, error={"code": -32601, "message": "Method not found"})


def be_stubborn(path: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", STUBBORN])
    Path(path).write_text(f"{os.getpid()} {child.pid}", encoding="ascii")


if "stderr" in SCRIPT:
    sys.stderr.write((SCRIPT["stderr"] + "\n") * SCRIPT.get("stderr_times", 1))
    sys.stderr.flush()
if "exit" in SCRIPT:
    sys.exit(SCRIPT["exit"])
if "stubborn" in SCRIPT:
    be_stubborn(SCRIPT["stubborn"])
for noise in SCRIPT.get("noise", []):
    say(noise)


def change_later(when: str, pages: dict[str, Any]) -> None:
    while not Path(when).exists():
        time.sleep(0.01)
    SCRIPT["pages"] = pages
    say(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))


if "later" in SCRIPT:
    threading.Thread(target=change_later, kwargs=SCRIPT["later"], daemon=True).start()
for received in sys.stdin:
    answer(json.loads(received))
while "stubborn" in SCRIPT:
    time.sleep(60)
