"""What whoever runs a server learns of failures that models are told little about."""

from __future__ import annotations

import pytest

from codemodekit.errors import ToolError
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.local import local
from codemodekit.servers.assemble import code_mode_of

pytestmark = [pytest.mark.anyio, pytest.mark.proves("error.correlation")]


def breaks() -> None:
    raise KeyError("password=hunter2-long")


def says_why() -> None:
    raise ToolError("try tomorrow")


async def test_a_failure_of_the_hosts_own_is_logged_under_its_correlation_id(caplog: pytest.LogCaptureFixture) -> None:
    sources = [local("app", [breaks, says_why])]
    async with code_mode_of(providers=sources, tool_policy=allow_all_tool_calls()) as code_mode:
        told = await code_mode.run("await tools.app.says_why({})")
        assert told.error is not None
        assert "try tomorrow" in told.error.message
        assert caplog.messages == []  # its words are in the answer
        broken = await code_mode.run("await tools.app.breaks({})")
    assert broken.error is not None
    assert "KeyError" not in broken.error.message
    cause = "KeyError: 'password=[redacted]'"
    assert caplog.messages == [f"TOOL_EXECUTION_FAILED ({broken.error.correlation_id}): {cause}"]
