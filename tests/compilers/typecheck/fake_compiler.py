"""Stands for the compiler: speaks its protocol, finds nothing wrong, and misbehaves when a program tells it to.

A program that holds the word HANG, END, GARBAGE, FLOOD or NONSENSE has that done when its errors are asked for. With an
argument it misbehaves from the start: `hang` answers nothing, `end` ends at once.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def read() -> dict[str, Any] | None:
    size = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            return json.loads(sys.stdin.buffer.read(size))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return None


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def misbehave(text: str) -> None:
    if "HANG" in text:
        time.sleep(600)
    if "END" in text:
        sys.exit(3)
    if "GARBAGE" in text:
        sys.stdout.buffer.write(b"panic: runtime error\n\n\r\n\r\n")
        sys.stdout.buffer.flush()
        time.sleep(600)
    if "FLOOD" in text:
        sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n")
        sys.stdout.buffer.flush()
        time.sleep(600)


def main() -> None:
    mood = sys.argv[1] if len(sys.argv) > 1 else ""
    texts: dict[str, str] = {}
    if mood == "hang":
        time.sleep(600)
    if mood == "end":
        sys.exit(1)
    while (message := read()) is not None:
        params, method = message.get("params") or {}, message.get("method")
        if method == "textDocument/didOpen":
            texts[params["textDocument"]["uri"]] = params["textDocument"]["text"]
        elif method == "textDocument/didChange":
            texts[params["textDocument"]["uri"]] = params["contentChanges"][0]["text"]
        elif method == "textDocument/diagnostic":
            text = texts[params["textDocument"]["uri"]]
            misbehave(text)
            odd = "NONSENSE" in text
            send({"id": message["id"], "result": {"items": [{"severity": 1, "code": "x"}] if odd else []}})
        elif "id" in message:
            send({"id": message["id"], "result": {"capabilities": {"positionEncoding": "utf-16"}}})


if __name__ == "__main__":
    main()
