import unittest
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from codemodekit import CodeMode, ToolAnnotations, ToolDefinition, ToolError, ToolResult, read_only_tool_calls
from codemodekit.contracts import ToolCall, ToolListing
from codemodekit.testing import PROVIDER_CHECKS, Probe, ProviderSubject

CAPITALS = {"Norway": "Oslo", "Italy": "Rome"}
LOOK_UP = ToolDefinition(
    name="capital",
    description="Capital of a country.",
    input_schema={"type": "object", "properties": {"country": {"type": "string"}}, "required": ["country"]},
    annotations=ToolAnnotations(read_only=True),
)


class Session:
    """A `ToolSession`: the source while it is connected."""

    async def list_tools(self) -> ToolListing:
        return ToolListing(definitions=(LOOK_UP,))

    async def wait_for_change(self) -> None:
        await anyio.sleep_forever()  # these tools never change

    async def call(self, call: ToolCall) -> ToolResult:
        assert isinstance(call.input, dict)  # it has been checked against the schema
        country = call.input["country"]
        if country not in CAPITALS:
            raise ToolError(f"there is no country {country}")
        return ToolResult(structured_content=CAPITALS[country])


class Atlas:
    """A `ToolProvider`: a name, and a way to connect."""

    name = "atlas"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Session]:
        yield Session()  # what has to be opened and closed is opened and closed here


SUBJECT = ProviderSubject(
    make=Atlas, answers=Probe("capital", {"country": "Italy"}), fails=Probe("capital", {"country": "Atlantis"})
)


async def main() -> dict[str, object]:
    skipped = 0
    for check in PROVIDER_CHECKS:  # with pytest: one test, parametrized with the checks
        try:
            await check(SUBJECT)
        except unittest.SkipTest:  # about something that the subject does not show, such as losing its connection
            skipped += 1
    async with CodeMode(providers=[Atlas()], tool_policy=read_only_tool_calls()) as code_mode:
        result = await code_mode.run("return (await tools.atlas.capital({ country: 'Norway' })).structuredContent")
    return {"keeps the contract": skipped < len(PROVIDER_CHECKS), "capital": result.value}


if __name__ == "__main__":
    print(anyio.run(main))
