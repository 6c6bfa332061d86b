import anyio

from codemodekit import CodeMode, DiagnosticCode, allow_all_tool_calls, local


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


async def main() -> tuple[str, ...]:
    async with CodeMode(providers=[local("app", [greet])], tool_policy=allow_all_tool_calls()) as code_mode:
        result = await code_mode.run("return tools.app.greet({ nam: context.user })", context={"user": "Ada"})
    if result.ok:
        return ("done",)
    assert result.error is not None
    assert result.error.location is not None
    match result.error.code:
        case DiagnosticCode.TOOL_INPUT_INVALID | DiagnosticCode.TOOL_NOT_FOUND:
            advice = "let the model mend the program"
        case _:  # codes may be added
            advice = "look at the message"
    return (
        str(result.error.code),
        f"line {result.error.location.line}",
        f"{result.calls[0].tool}: {result.calls[0].status}",
        f"rerun: {result.rerun}",
        advice,
    )


if __name__ == "__main__":
    print(*anyio.run(main), sep="\n")
