import anyio

from codemodekit import CodeMode, define_tool, local, policy_rules


@define_tool(read_only=True)
def read(path: str) -> str:
    """Read a note."""
    return f"text of {path}"


def write(path: str, text: str) -> str:
    """Write a note."""
    return f"{len(text)} characters in {path}"


POLICY = policy_rules(
    [
        {"match": "notes.*", "when": {"readOnly": True}, "effect": "allow"},
        {"match": "notes.write", "when": {"input": {"/path": {"glob": "drafts/*"}}}, "effect": "allow"},
        {"match": "notes.write", "effect": "deny", "reason": "only drafts may be written"},
    ]
)


async def main() -> object:
    async with CodeMode(providers=[local("notes", [read, write])], tool_policy=POLICY) as code_mode:
        result = await code_mode.run(
            """
            await tools.notes.write({ path: "drafts/a", text: "hello" });
            await tools.notes.write({ path: "final/a", text: "hello" });
            """
        )
    assert result.error is not None
    return result.error.message


if __name__ == "__main__":
    print(anyio.run(main))
