"""The one place that joins concrete parts: providers, policy, type checker and limits become a `CodeMode`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codemodekit.code_mode import CodeMode
from codemodekit.contracts import ToolPolicy, ToolProvider
from codemodekit.limits import ExecutionLimits
from codemodekit.servers.audit import build_audit
from codemodekit.servers.config import SERVER_LIMITS, Config, ConfigError, PolicyChoice
from codemodekit.servers.host_log import log_host_failure
from codemodekit.servers.policies import build_policy
from codemodekit.servers.sources import providers_of
from codemodekit.servers.type_checking import build_type_checker

__all__ = ["build_code_mode", "code_mode_of"]


def build_code_mode(
    config: Config,
    *,
    policy_override: PolicyChoice | None = None,
    base_limits: ExecutionLimits = SERVER_LIMITS,
    audit: bool = True,
) -> CodeMode:
    """A Code Mode for a config, not started yet. `policy_override` wins over the config's policy; without `audit` no
    audit log is written, for whoever only looks.

    Raises:
        ConfigError: there is no policy, or the config cannot be built.
    """
    choice = policy_override or config.policy
    if choice is None:
        raise ConfigError("no policy is chosen, and nothing is allowed without one")
    return code_mode_of(
        providers=providers_of(config),
        tool_policy=build_policy(choice),
        limits=config.execution_limits(base_limits),
        audit=build_audit(config.audit, config.import_folders) if audit else None,
        type_checker=build_type_checker(config),
    )


def code_mode_of(
    *,
    providers: Sequence[ToolProvider],
    tool_policy: ToolPolicy,
    limits: ExecutionLimits | None = None,
    **options: Any,
) -> CodeMode:
    """A Code Mode with a server's limits and a log of the host's own failures, unless others are given; `options` go to
    it as they are."""
    options = {"on_diagnostic": log_host_failure, **options}
    return CodeMode(providers=providers, tool_policy=tool_policy, limits=limits or SERVER_LIMITS, **options)
