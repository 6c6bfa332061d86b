"""Shared fixtures."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The MCP SDK runs on asyncio, and so do we."""
    return "asyncio"
