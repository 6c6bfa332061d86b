"""The stations of one run as audit lines: each decision before its call is sent, each call and the run when it ends."""

from __future__ import annotations

from typing import Any, Final

from codemodekit._json import dumps
from codemodekit.bridge.decisions import Verdict
from codemodekit.bridge.receipts import CallReceipt
from codemodekit.bridge.rows import call_name
from codemodekit.code_mode.audit.log import AuditLog, now
from codemodekit.code_mode.watching import Ended, Watcher
from codemodekit.contracts import GuestCall

__all__ = ["AuditWatcher"]

_LONGEST_TEXT: Final = 512
_MOST_ARGUMENTS: Final = 64 * 1024
"""Bytes of arguments that a line may have; larger ones are left out, and the line says so."""


class AuditWatcher(Watcher):
    """Writes the lines of one run."""

    def __init__(self, log: AuditLog, execution_id: str, program_bytes: int, principal: Any) -> None:
        self._log = log
        self._head = {"executionId": execution_id, **_principal(principal)}
        self._program_bytes = program_bytes
        self._arguments: dict[int, str] = {}

    def decided(self, call: GuestCall, verdict: Verdict) -> None:
        line: dict[str, Any] = {**self._of("decision", call), "effect": verdict.effect, "allowed": verdict.allowed}
        if verdict.rule is not None:
            line["rule"] = verdict.rule
        if verdict.reason:
            line["reason"] = _bounded(verdict.reason)
        self._log.write(line)
        if self._log.arguments:
            self._arguments[call.id] = _arguments(call)  # as they are sent: a function may change what it is given

    def finished(self, call: GuestCall, receipt: CallReceipt) -> None:
        row = receipt.to_wire()
        line = {**self._of("call", call), **{key: row[key] for key in row if key not in ("id", "source", "tool")}}
        if not self._log.arguments:
            self._log.write(line)
            return
        arguments = self._arguments.pop(call.id, None) or _arguments(call)
        self._log.write(line if arguments else {**line, "argumentsOmitted": True}, arguments=arguments or None)

    def ended(self, end: Ended) -> None:
        line: dict[str, Any] = {"time": now(), "event": "run", **self._head, "status": end.status}
        more = {
            "code": end.code,
            "rerun": None if end.rerun is None else str(end.rerun),
            "durationMs": end.duration_ms,
            "calls": end.calls,
            "callsNotListed": end.unlisted or None,
            "programBytes": self._program_bytes,
            "resultBytes": end.result_bytes,
        }
        self._log.write(line | {key: value for key, value in more.items() if value is not None})

    def _of(self, event: str, call: GuestCall) -> dict[str, Any]:
        names = {"callId": call_name(call.id), "source": call.source, "tool": call.tool}
        return {"time": now(), "event": event, **self._head, **names}


def _arguments(call: GuestCall) -> str:
    return dumps(call.input) if call.input_bytes <= _MOST_ARGUMENTS and call.problem is None else ""


def _principal(principal: Any) -> dict[str, str]:
    if principal is None:
        return {}
    try:
        return {"principal": _bounded(str(principal))}
    except Exception:  # an object of the host's that cannot describe itself
        return {"principal": f"({type(principal).__name__})"}


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
