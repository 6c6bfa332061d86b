"""The border that all runs of one CodeMode share; what happens to the calls of one run is told in run.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codemodekit.bridge.decisions import Approver, Decisions
from codemodekit.bridge.run import BridgeRun
from codemodekit.bridge.shared import CallListener, FailureRecorder, Shared, TrustedResultHandler
from codemodekit.catalog.manager import CatalogManager
from codemodekit.contracts import Answer, ToolPolicy
from codemodekit.limits import ExecutionLimits

__all__ = ["ToolBridge"]


class ToolBridge:
    """Opens a border for each run."""

    def __init__(
        self,
        *,
        catalog: CatalogManager,
        policy: ToolPolicy,
        approver: Approver | None = None,
        on_trusted_result: TrustedResultHandler | None = None,
        on_failure: FailureRecorder | None = None,
    ) -> None:
        self._shared = Shared(
            catalog=catalog,
            decisions=Decisions(policy, approver),
            on_trusted_result=on_trusted_result,
            on_failure=on_failure,
        )

    def open(
        self,
        execution_id: str,
        limits: ExecutionLimits,
        deliver: Callable[[Answer], None],
        *,
        principal: Any = None,
        listener: CallListener | None = None,
    ) -> BridgeRun:
        """The bridge of one run, pinned to the catalogue of this moment. `deliver` gets each call's answer once."""
        return BridgeRun(self._shared, execution_id, limits, deliver, principal, listener)
