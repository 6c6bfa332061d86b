import anyio

from codemodekit import local, policy_rules, serve_code_mode_http


def today() -> str:
    """The date, for people who lost track."""
    return "2030-01-01"


async def verify(token: str) -> str | None:
    """Asks whoever issued the token; here it is known by heart."""
    return {"a-token-that-ada-keeps": "ada"}.get(token)


async def main() -> None:
    await serve_code_mode_http(
        name="my-tools",
        version="1.0",
        tool_policy=policy_rules([{"match": "calendar.*", "when": {"principal": "ada"}, "effect": "allow"}]),
        sources=[local("calendar", [today])],
        host="127.0.0.1",
        port=8000,
        verifier=verify,
    )


if __name__ == "__main__":
    anyio.run(main)
