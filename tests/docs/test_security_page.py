"""The page on security names, for each statement, promises that exist, and forgets none that concerns it."""

from __future__ import annotations

import re

import pytest
from docs_pages import ROOT
from tests.requirements import REQUIREMENTS

pytestmark = pytest.mark.proves("house.docs", "house.requirements")

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("## What each layer holds")[2].partition("\n## ")[0].splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| layer"))
]
"""Layer, statement and promises of each row."""

SECURITY = (
    "sandbox.",
    "limit.",
    "bridge.",
    "policy.fails",
    "policy.every",
    "error.secrets",
    "error.host",
    "schema.",
    "mcp.",
    "openapi.",
    "host.",
)
"""Beginnings of the ids that are about security as a whole."""

ELSEWHERE = {
    # how things work, not what they keep out
    "sandbox.stepwise",
    "sandbox.call-any",
    "schema.drafts",
    "mcp.transports",
    "mcp.eras",
    "mcp.list-changed",
    "mcp.cancel-progress",
    "mcp.app-only",
    "openapi.bodies",
    "openapi.answers",
    "openapi.schemas",
    "host.serves",
    "host.workers",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:40])
def test_each_statement_names_promises_of_the_list(row: list[str]) -> None:
    named = re.findall(r"`([^`]+)`", row[2])
    assert named
    assert set(named) <= REQUIREMENTS.keys()


def test_no_promise_about_security_is_left_out() -> None:
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])}
    expected = {name for name in REQUIREMENTS if name.startswith(SECURITY)} - ELSEWHERE
    assert sorted(expected - named) == []
