import anyio

from codemodekit import CodeMode, allow_all_tool_calls, local

PROGRAM = """\
type Row = { city?: { name: string } };
const nameOf = (row: Row) => row.city!.name;

async function names(): Promise<string[]> {
  const { structuredContent } = await tools.atlas.rows({});
  return structuredContent.rows.map(nameOf);
}
return await names();
"""


def rows() -> dict[str, list[dict[str, dict[str, str]]]]:
    """Rows of an atlas; one has no city."""
    return {"rows": [{"city": {"name": "Bern"}}, {}]}


async def main() -> str:
    async with CodeMode(providers=[local("atlas", [rows])], tool_policy=allow_all_tool_calls()) as code_mode:
        error = (await code_mode.run(PROGRAM)).error
    assert error is not None
    assert error.frame is not None
    stack = [f"  in {frame.function or 'the program'}, line {frame.line}" for frame in error.stack]
    return "\n".join([error.message, error.frame, *stack])


if __name__ == "__main__":
    print(anyio.run(main))
