"""Policies that ship with the kit: all of them decide at once, from the request alone and from counters of their own.

A policy of the host's own is any async callable of `contracts.ToolPolicy`. Knows nothing of catalogues or runs.
"""

from codemodekit.policy.immediate import Explanation, ImmediatePolicy, PassedOver
from codemodekit.policy.named import allow_all_tool_calls, deny_all_tool_calls, read_only_tool_calls
from codemodekit.policy.rules import Rule, RulesPolicy
from codemodekit.policy.written import policy_rules

__all__ = [
    "Explanation",
    "ImmediatePolicy",
    "PassedOver",
    "Rule",
    "RulesPolicy",
    "allow_all_tool_calls",
    "deny_all_tool_calls",
    "policy_rules",
    "read_only_tool_calls",
]
