"""`codemodekit run`: one program, its value, its logs and the receipt of its calls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from codemodekit.cli.checking import check_program
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson, ConfigFile, McpConfigFile, Policy, chosen_config, chosen_policy, json_option
from codemodekit.cli.output import print_json, stray_prints_to_stderr, waiting
from codemodekit.cli.results import show_result
from codemodekit.code_mode import CodeMode
from codemodekit.errors import ConfigurationError
from codemodekit.limits import ExecutionLimits
from codemodekit.servers.assemble import build_code_mode

__all__ = ["HELP", "command"]

HELP: Final = (
    "The program is the body of an async function: 'return' what you want to see. Exit code 1 when it fails. "
    "With --check it is compiled, and checked against the types of the configured tools where the extra 'typecheck' is "
    "installed; nothing runs, and no policy is needed."
)


def command(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The program, or - for standard input.")],
    context: Annotated[
        str | None, typer.Option(metavar="JSON", help="Value of the global 'context' in the program.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Compile and type-check only; run nothing.")] = False,
    config: ConfigFile = None,
    mcp_config: McpConfigFile = None,
    policy: Policy = None,
    as_json: AsJson = False,
) -> int:
    if check:
        return check_program(_program(file), chosen_config(config, mcp_config), as_json=as_json)
    value = None if context is None else json_option("--context", context)
    chosen = chosen_config(config, mcp_config)
    code_mode = build_code_mode(chosen, policy_override=chosen_policy(policy, chosen), base_limits=ExecutionLimits())
    program = _program(file)
    with stray_prints_to_stderr():
        result = run_interruptible(_run, code_mode, program, value)
    if as_json:
        print_json(result)
    else:
        show_result(result, program)
    return 0 if result["ok"] else 1


def _program(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: not UTF-8 at byte {error.start}") from error


async def _run(code_mode: CodeMode, program: str, context: Any) -> dict[str, Any]:
    async with code_mode:
        with waiting("Running…"):
            result = await code_mode.run(program, context=context)
    return result.to_wire()
