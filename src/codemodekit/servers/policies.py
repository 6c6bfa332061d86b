"""From the policy a config chooses to one that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from codemodekit.errors import ConfigurationError
from codemodekit.policy import (
    ImmediatePolicy,
    allow_all_tool_calls,
    deny_all_tool_calls,
    policy_rules,
    read_only_tool_calls,
)
from codemodekit.servers.config import ConfigError, PolicyChoice, PolicyRules

__all__ = ["build_policy"]

_NAMED: Final[Mapping[str, Callable[[], ImmediatePolicy]]] = {
    "allow-all": allow_all_tool_calls,
    "read-only": read_only_tool_calls,
    "deny-all": deny_all_tool_calls,
}


def build_policy(choice: PolicyChoice) -> ImmediatePolicy:
    """The policy that is meant by a choice.

    Raises:
        ConfigError: rules that are not sound.
    """
    if not isinstance(choice, PolicyRules):
        return _NAMED[choice]()
    try:
        return policy_rules(choice.rules)
    except ConfigurationError as error:
        raise ConfigError(f"{choice.origin}: {error}") from error
