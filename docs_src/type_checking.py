import anyio

from codemodekit import CodeMode, TypeScriptChecker, allow_all_tool_calls, local

sent: list[str] = []


def send(to: str, text: str) -> None:
    """Send a message."""
    sent.append(to)


PROGRAM = """
await tools.mail.send({ to: "ada", text: "hello" });
await tools.mail.send({ to: "grace", body: "hello" });
"""


async def main() -> tuple[str, str, list[str]]:
    async with CodeMode(
        providers=[local("mail", [send])],
        tool_policy=allow_all_tool_calls(),
        type_checker=TypeScriptChecker(budget_ms=10_000),  # a second is the default, and plenty
    ) as code_mode:
        await code_mode.settled(5)
        result = await code_mode.run(PROGRAM)
    assert result.error is not None
    return str(result.error.code), result.error.message, sent


if __name__ == "__main__":
    print(*anyio.run(main), sep="\n")  # TYPE_ERROR, why, and nothing was sent
