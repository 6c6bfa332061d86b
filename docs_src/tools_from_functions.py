import time
from typing import Annotated, Literal

import anyio
from pydantic import BaseModel, Field

from codemodekit import CodeMode, RunEvent, ToolContext, ToolError, allow_all_tool_calls, define_tool, local


class Ticket(BaseModel):
    id: int
    title: str
    urgency: Literal["low", "high"]


@define_tool(read_only=True)
async def get_ticket(id: Annotated[int, Field(ge=1, description="Number of the ticket")]) -> Ticket:
    """Read one ticket."""
    if id != 7:
        raise ToolError(f"there is no ticket {id}")  # shown to the model; any other exception is not
    return Ticket(id=7, title="Printer on fire", urgency="high")


@define_tool(name="reindex", idempotent=True)
def rebuild_index(steps: int, call: ToolContext) -> int:
    """Rebuild the search index. Not async: it runs in a thread."""
    for step in range(steps):
        if call.cancelled():
            return step
        call.report_progress(f"step {step + 1} of {steps}")
        time.sleep(0)
    return steps


async def main() -> tuple[object, list[str | None]]:
    said: list[str | None] = []

    def listen(event: RunEvent) -> None:
        if event.kind == "tool_progress":
            said.append(event.message)

    desk = local("desk", [get_ticket, rebuild_index])
    async with CodeMode(providers=[desk], tool_policy=allow_all_tool_calls()) as code_mode:
        result = await code_mode.run(
            """
            const ticket = await tools.desk.get_ticket({ id: 7 });
            await tools.desk.reindex({ steps: 2 });
            return ticket.structuredContent.title;
            """,
            on_progress=listen,
        )
    return result.value, said


if __name__ == "__main__":
    print(anyio.run(main))
