"""For the commands that only look: a Code Mode in which nothing may be called, with its sources connected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from codemodekit.cli.output import stray_prints_to_stderr, waiting
from codemodekit.code_mode import CodeMode
from codemodekit.limits import ExecutionLimits
from codemodekit.servers.assemble import build_code_mode
from codemodekit.servers.config import Config

__all__ = ["connected"]

_PATIENCE_S: Final = 60.0


@asynccontextmanager
async def connected(config: Config) -> AsyncIterator[CodeMode]:
    """A Code Mode whose sources have all connected or failed to, once."""
    code_mode = build_code_mode(config, policy_override="deny-all", base_limits=ExecutionLimits(), audit=False)
    async with code_mode:
        with stray_prints_to_stderr(), waiting(f"Connecting {len(config.sources)} sources…"):
            await code_mode.settled(_PATIENCE_S)
        yield code_mode
