"""The three policies that have a name: everything, reads, nothing."""

from __future__ import annotations

from typing import Final

from codemodekit.contracts import Allow, Decision, Deny, PolicyRequest
from codemodekit.policy.immediate import ImmediatePolicy

__all__ = ["allow_all_tool_calls", "deny_all_tool_calls", "read_only_tool_calls"]

_ALLOW: Final = Allow()


def allow_all_tool_calls() -> ImmediatePolicy:
    """Let every call through. For sources whose every tool may be used by whoever writes programs."""
    return ImmediatePolicy(lambda _request: _ALLOW, always=_ALLOW, why="the policy allows every call")


def deny_all_tool_calls() -> ImmediatePolicy:
    """Let no call through; programs can compute and search, nothing else."""
    denied = Deny("the policy of this server allows no tool calls")
    return ImmediatePolicy(lambda _request: denied, always=denied, why="the policy denies every call")


def read_only_tool_calls() -> ImmediatePolicy:
    """Let calls of tools through that their source marks as read-only. The mark is the source's word, not a fact."""

    def decide(request: PolicyRequest) -> Decision:
        if request.annotations.read_only is True:
            return _ALLOW
        return Deny("the policy of this server allows only tools that are marked read-only")

    why = "the policy allows tools that their source marks read-only, which is the source's word and no fact"
    return ImmediatePolicy(decide, why=why)
