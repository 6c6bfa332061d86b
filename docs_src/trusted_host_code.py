import anyio

from codemodekit import CodeMode, ToolResult, TrustedRecord, allow_all_tool_calls, define_tool, local
from codemodekit.contracts import ToolCall


@define_tool
def photo() -> ToolResult:
    """A picture, with a note that is not for programs."""
    return ToolResult(
        content=({"type": "image", "data": "aGk=", "mimeType": "image/png"},), sideband={"shelf": "/vault/7"}
    )


@define_tool
def broken() -> str:
    """Fails for a reason that is nobody's business."""
    raise RuntimeError("password hunter2 was refused")


async def main() -> dict[str, object]:
    shelves: list[object] = []
    records: list[TrustedRecord] = []

    def keep(_call: ToolCall, result: ToolResult) -> None:
        shelves.append(result.sideband["shelf"])

    async with CodeMode(
        providers=[local("archive", [photo, broken])],
        tool_policy=allow_all_tool_calls(),
        on_trusted_result=keep,
        on_diagnostic=records.append,
    ) as code_mode:
        seen = await code_mode.run("return Object.keys(await tools.archive.photo({}))")
        failed = await code_mode.run("return tools.archive.broken({})")
    assert failed.error is not None
    return {
        "the program saw": seen.value,
        "the host saw": shelves,
        "the model reads": failed.error.message,
        "the host's record": repr(records[0].exception),
        "joined by": records[0].correlation_id == failed.error.correlation_id,
    }


if __name__ == "__main__":
    print(anyio.run(main))
