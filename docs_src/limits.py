import anyio

from codemodekit import CodeMode, ExecutionLimits, allow_all_tool_calls, local


def row(number: int) -> str:
    """One row."""
    return f"row {number}"


async def main() -> list[str]:
    limits = ExecutionLimits(max_tool_calls=3, compute_time_ms=200)
    async with CodeMode(
        providers=[local("table", [row])], tool_policy=allow_all_tool_calls(), limits=limits
    ) as code_mode:
        greedy = await code_mode.run("for (let number = 0; ; number++) await tools.table.row({ number })")
        endless = await code_mode.run("for (;;);")
    return [str(result.error.code) for result in (greedy, endless) if result.error is not None]


if __name__ == "__main__":
    print(anyio.run(main))
