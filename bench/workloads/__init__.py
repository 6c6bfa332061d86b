"""All workloads, in the order in which they are measured and shown."""

from __future__ import annotations

from typing import Final

from bench.workload import Workload
from bench.workloads import (
    catalogue,
    catalogue_size,
    concurrent_runs,
    large_result,
    parallel_calls,
    sandbox_alone,
    search_recall,
    sequential_calls,
    start,
    trivial_run,
    type_check,
)

__all__ = ["WORKLOADS"]

WORKLOADS: Final[tuple[Workload, ...]] = (
    sandbox_alone.WORKLOAD,
    trivial_run.WORKLOAD,
    type_check.WORKLOAD,
    sequential_calls.WORKLOAD,
    parallel_calls.WORKLOAD,
    large_result.WORKLOAD,
    concurrent_runs.WORKLOAD,
    catalogue.WORKLOAD,
    catalogue_size.WORKLOAD,
    search_recall.WORKLOAD,
    start.WORKLOAD,
)
