"""`codemodekit`: the group of commands, and the one place where a failure becomes a line and an exit code.

0 done, 1 the run or check failed, 2 the command line or the config cannot be used. A command's module is imported when
that command is asked for, so that `--help` and a mistyped word cost nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from io import TextIOWrapper
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperCommand, TyperGroup

from codemodekit.cli.version import package_version
from codemodekit.errors import CodeModeKitError, ConfigurationError

__all__ = ["COMMANDS", "leaves", "main", "run"]

COMMANDS: Final = {
    "demo": "Show Code Mode at work, with real servers and a real client.",
    "serve": "Serve Code Mode over MCP on standard input and output.",
    "run": "Run one program against the configured sources.",
    "search": "Search tools as a model would.",
    "tools": "List sources, tools, quarantined tools and health.",
    "catalog": "Save what the sources offer, and compare what was saved.",
    "policy": "Explain what the policy decides about a call.",
    "tokens": "Count what tools cost in tokens, directly and in Code Mode.",
    "doctor": "Check this installation.",
}

FAILED: Final = 1
MISUSED: Final = 2


class LazyGroup(TyperGroup):
    """Shows commands from the table, and loads the module of the one that is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        stubs = {name: TyperCommand(name, help=text, callback=None) for name, text in COMMANDS.items()}
        self.commands = cast(MutableMapping[str, Any], stubs)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is named, loaded."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _load(name), rest


def _load(name: str) -> Any:
    module = importlib.import_module(f"codemodekit.cli.{name}")
    made = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=_CONTEXT)
    group: Mapping[str, tuple[Any, str]] | None = getattr(module, "SUBCOMMANDS", None)
    if group is None:
        made.command(name, help=f"{COMMANDS[name]}\n\n{module.HELP}")(module.command)
        return typer.main.get_command(made)
    made.callback(help=COMMANDS[name])(_nothing)  # makes it a group, also of one
    for subcommand, (function, text) in group.items():
        made.command(subcommand, help=text)(function)
    return typer.main.get_command(made)


def _nothing() -> None:
    """The words of a group alone do nothing."""


def leaves() -> list[tuple[str, ...]]:
    """Every command in full, such as `("policy", "explain")`; loads them all."""
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        group = getattr(importlib.import_module(f"codemodekit.cli.{name}"), "SUBCOMMANDS", None)
        found += [(name,)] if group is None else [(name, subcommand) for subcommand in group]
    return found


_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}

_app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,  # plain help: rich alone takes a third of the time that help may take
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
)


@_app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """One small Code Mode surface in front of any number of tools."""
    if show_version:
        print(f"codemodekit {package_version()}")  # noqa: T201 -- the one thing this option does
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())  # noqa: T201
        raise typer.Exit


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line and say how it went, as an exit code. Writes at most one line for a mistake."""
    try:
        code = typer.main.get_command(_app)(args=list(arguments), prog_name="codemodekit", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "codemodekit"
        return _complain(f"{path}: {error.format_message()} (see '{path} --help')", MISUSED)
    except ConfigurationError as error:
        return _complain(f"codemodekit: {error}", MISUSED)
    except CodeModeKitError as error:
        return _complain(f"codemodekit: {error}", FAILED)
    except typer.Abort:
        return FAILED
    except BrokenPipeError:
        # whoever read our output has gone; without this the interpreter complains again when it flushes
        sys.stdout = None
        return FAILED
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    sys.stderr.write(" ".join(message.split()) + "\n")
    return code


def _open_closed_streams() -> None:
    """Give every standard stream that was closed from the start an empty file: the numbers of closed ones go to
    whatever is opened next, and what is printed there, or moved there, would end up in it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 -- it stays


def main() -> None:
    """The entry point of the installed command."""
    _open_closed_streams()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where there is no Unicode, people see less, and no traceback
    sys.exit(run(sys.argv[1:]))
