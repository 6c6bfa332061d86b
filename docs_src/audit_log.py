import json
import tempfile
from pathlib import Path
from typing import Any

import anyio

from codemodekit import AuditLog, CodeMode, local, policy_rules

RULES = [
    {"match": "bank.transfer", "when": {"input": {"/amount": {"atMost": 100}}}, "effect": "allow"},
    {"match": "bank.transfer", "effect": "deny", "reason": "more than 100 is for people"},
]


def transfer(account: str, amount: int) -> str:
    """Move money."""
    return f"moved {amount} to {account}"


def redact(line: dict[str, Any]) -> dict[str, Any]:
    """Called in the log's thread with each line; what it returns is written."""
    if "arguments" in line:
        line["arguments"] = {"amount": line["arguments"]["amount"]}  # not to whom
    return line


async def main() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.jsonl"
        audit = AuditLog(path, arguments=True, redact=redact)
        async with CodeMode(
            providers=[local("bank", [transfer])], tool_policy=policy_rules(RULES), audit=audit
        ) as code_mode:
            await code_mode.run(
                """
                await tools.bank.transfer({ account: "rent", amount: 90 });
                await tools.bank.transfer({ account: "boat", amount: 900 });
                """,
                principal="ada",
            )
            assert code_mode.observation().listener_failures == 0
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [brief(line) for line in lines]


def brief(line: dict[str, Any]) -> str:
    match line["event"]:
        case "decision":
            return f"{line['principal']}: rule {line['rule']} says {line['effect']}"
        case "call":
            return f"{line['source']}.{line['tool']} {line['arguments']}: {line['status']}"
        case _:
            return f"{line['event']}: {line['status']}, {line['code']}"


if __name__ == "__main__":
    print(*anyio.run(main), sep="\n")
