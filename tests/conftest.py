"""Shared fixtures, and the rule that every test says which promise it proves."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from tests.requirements import REQUIREMENTS


@pytest.fixture
def anyio_backend() -> str:
    """The MCP SDK runs on asyncio, and so do we."""
    return "asyncio"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proven", type=Path, help="write which tests prove which requirement to this file, as JSON")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses a test that names no promise, and one that names a promise nobody gave."""
    proven: defaultdict[str, list[str]] = defaultdict(list)
    faults: dict[str, str] = {}
    for item in items:
        test = item.nodeid.partition("[")[0]
        named = _named_by(item)
        unknown = sorted(named - REQUIREMENTS.keys())
        if not named:
            faults[test] = "names no requirement"
        elif unknown:
            faults[test] = f"names {', '.join(unknown)}, which tests/requirements.py lacks"
        for name in named:
            proven[name].append(item.nodeid)
    if faults:
        lines = "\n".join(f"  {test}: {fault}" for test, fault in faults.items())
        raise pytest.UsageError(f"mark each test with pytest.mark.proves(...):\n{lines}")
    listing: Path | None = config.getoption("--proven")
    if listing:
        listing.write_text(json.dumps(proven, indent=1, sort_keys=True), encoding="utf-8")


def _named_by(item: pytest.Item) -> set[str]:
    """The ids that a test, its class and its module name."""
    return {str(name) for mark in item.iter_markers("proves") for name in mark.args}
