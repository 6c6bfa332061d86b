"""The facade and the run loop: from a program's text to a result with its receipt."""

from codemodekit.code_mode.audit import AuditLog
from codemodekit.code_mode.code_mode import CodeMode
from codemodekit.code_mode.events import ObserverEvent, RunEvent
from codemodekit.code_mode.result import RunResult, TrustedRecord

__all__ = ["AuditLog", "CodeMode", "ObserverEvent", "RunEvent", "RunResult", "TrustedRecord"]
