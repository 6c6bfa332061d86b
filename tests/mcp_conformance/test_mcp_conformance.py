"""The public MCP conformance suite finds nothing that is not named, with its reason, in `expected_failures.yaml`."""

from __future__ import annotations

import pytest

from .suite import CLIENT_SCENARIOS, ERAS, Suite, SuiteUnavailable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.proves("surface.conformance")]


@pytest.fixture(scope="module")
def suite() -> Suite:
    try:
        return Suite.installed()
    except SuiteUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.proves("surface.eras")
@pytest.mark.parametrize("era", ERAS)
def test_our_server_conforms_but_for_what_is_named(suite: Suite, era: str) -> None:
    outcome = suite.server(era)

    assert outcome.passed, outcome.output[-6000:]
    assert outcome.summary.count("✓") > 5


@pytest.mark.proves("mcp.eras")
@pytest.mark.parametrize("scenario", ["tools_call", "request-metadata", "http-custom-headers"])
def test_our_sources_conform_as_clients(suite: Suite, scenario: str) -> None:
    assert scenario in CLIENT_SCENARIOS  # `make conformance` runs them all

    outcome = suite.client(scenario)

    assert outcome.passed, outcome.output[-6000:]
