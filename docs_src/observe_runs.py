import anyio

from codemodekit import CodeMode, ObserverEvent, RunEvent, ToolContext, allow_all_tool_calls, local


async def backup(folder: str, call: ToolContext) -> int:
    """Copy a folder away."""
    call.report_progress("half of it")
    return 7


async def main() -> dict[str, object]:
    progress: list[str] = []
    calls: dict[str, int] = {}

    async def show(event: RunEvent) -> None:  # a coroutine: awaited on the event loop
        if event.kind == "tool_progress":
            progress.append(f"{event.source}.{event.tool}: {event.message}")

    def count(event: ObserverEvent) -> None:  # a function: called in a thread, where it may take its time
        if event.kind == "tool_call_completed":
            name = f"{event.source}.{event.tool} {event.status}"
            calls[name] = calls.get(name, 0) + 1

    async with CodeMode(
        providers=[local("disk", [backup])], tool_policy=allow_all_tool_calls(), observer=count
    ) as code_mode:
        await code_mode.run(
            """
            await tools.disk.backup({ folder: "photos" });
            await tools.disk.backup({ folder: "letters" });
            """,
            on_progress=show,
        )
    return {"progress": progress, "calls": calls}


if __name__ == "__main__":
    print(anyio.run(main))
