"""`codemodekit policy`: what the policy says about a call, without calling anything."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from codemodekit.cli.connected import connected
from codemodekit.cli.explaining import Question, candidates, explained
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import (
    AsJson,
    ConfigFile,
    McpConfigFile,
    Policy,
    chosen_config,
    chosen_policy,
    json_option,
    require_sources,
)
from codemodekit.cli.output import console, for_people, print_json, table
from codemodekit.servers.config import Config

__all__ = ["SUBCOMMANDS", "explain"]

_EXPLAIN: Final = (
    "Which rule decides about a call of SOURCE.TOOL, and why. Starts that source, asks it for its tools, and calls "
    "nothing. Exit code 0 whatever the decision; 1 when the source is down or no such call would get to the policy."
)


def explain(
    tool: Annotated[str, typer.Argument(metavar="SOURCE.TOOL", help="As in 'git.log'.")],
    given: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="Input of the call; {} without it.")
    ] = None,
    principal: Annotated[
        str | None, typer.Option(metavar="TEXT|JSON", help="Who runs the program; JSON when it begins with '{'.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where the source's name ends, if names hold dots.")
    ] = None,
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    policy: Policy = None,
    as_json: AsJson = False,
) -> int:
    chosen = require_sources(chosen_config(config, mcp_config))
    question = Question(
        policy=chosen_policy(policy, chosen),
        calls=candidates(tool, source, [each.name for each in chosen.sources]),
        input=json_option("--input", given),
        principal=json_option("--principal", principal) if (principal or "").lstrip().startswith("{") else principal,
    )
    found = run_interruptible(_explain, question.narrowed(chosen), question)
    if as_json:
        print_json(found)
    else:
        _show(found)
    return 0 if found["callable"] else 1


async def _explain(config: Config, question: Question) -> dict[str, Any]:
    async with connected(config) as code_mode:
        return explained(code_mode, question)


def _show(found: dict[str, Any]) -> None:
    out = console()
    out.print(for_people(f"{found['source']}.{found['tool']}: {found['decision']}"))
    out.print(for_people(f"Policy: {found['policy']}"))
    out.print(for_people(f"Why: {found['why']}"))
    if found.get("reason"):
        out.print(for_people(f"The model is told: {found['reason']}"))
    for note in found["notes"]:
        out.print(for_people(f"Note: {note}"))
    if found["passedOver"]:
        rows = [(each["rule"], each["why"]) for each in found["passedOver"]]
        out.print(table("\nRules before it that name this tool", ("rule", "is not about this call, because"), rows))


SUBCOMMANDS: Final = {"explain": (explain, _EXPLAIN)}
