"""The audit log: who had what done, what was decided about it, and how it ended, one JSON line each."""

from codemodekit.code_mode.audit.log import AuditHealth, AuditLog, Redact

__all__ = ["AuditHealth", "AuditLog", "Redact"]
