"""Requests to put before a policy, and its decisions in a word."""

from __future__ import annotations

from typing import Any

from codemodekit._json import ABSENT
from codemodekit.contracts import Allow, Ask, Deny, PolicyRequest, ToolAnnotations
from codemodekit.policy import ImmediatePolicy, RulesPolicy, policy_rules

__all__ = ["about", "request", "says"]


def request(
    name: str = "git.log", value: Any = ABSENT, *, run: str = "run_1", principal: Any = None, **hints: Any
) -> PolicyRequest:
    """A call of `source.tool`; the tool begins at the first dot, or behind `/` where the source's name holds dots."""
    source, _, tool = name.partition("/" if "/" in name else ".")
    return PolicyRequest(
        execution_id=run, call_id="call_1", source=source, tool=tool, input={} if value is ABSENT else value,
        annotations=ToolAnnotations(**hints), principal=principal,
    )  # fmt: skip


def says(policy: ImmediatePolicy, *args: Any, **more: Any) -> str:
    return {Allow: "allow", Deny: "deny", Ask: "ask"}[type(policy.decide(request(*args, **more)))]


def about(**when: Any) -> RulesPolicy:
    """Allows every call of which this holds."""
    return policy_rules([{"match": "*", "when": when, "effect": "allow"}])
