"""`codemodekit run --check`: whether a program compiles and uses the configured tools as they are declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from codemodekit.cli.connected import connected
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.output import console, for_people, print_json
from codemodekit.cli.results import show_error
from codemodekit.compilers.checker import TypeCheck
from codemodekit.compilers.typecheck.extra import INSTALL, is_installed
from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.contracts import Program
from codemodekit.diagnostics import Diagnostic
from codemodekit.servers.config import Config

__all__ = ["check_program"]

_NO_SOURCES: Final = "there are no sources to check it against; write a codemode.json, or give --config FILE"
_NOT_INSTALLED: Final = f"the extra 'typecheck' is not installed: {INSTALL}"


def check_program(program: str, config: Config, *, as_json: bool) -> int:
    """Check one program and say the outcome; the exit code."""
    check, unchecked = _outcome(program, config)
    wire: dict[str, Any] = {"ok": check.error is None, "typeChecked": check.checked, "notes": list(check.notes)}
    if check.error is not None:
        wire["error"] = check.error.to_wire()
    if unchecked is not None:
        wire["unchecked"] = unchecked
    if as_json:
        print_json(wire)
    else:
        _show(wire, program)
    return 1 if check.error is not None else 0


def _outcome(program: str, config: Config) -> tuple[TypeCheck, str | None]:
    """What was found, and why types were not looked at, if so."""
    compiled = TypeScriptCompiler().compile(program)
    if isinstance(compiled, Diagnostic):
        return TypeCheck(checked=False, error=compiled), "it does not compile"
    if not config.sources:
        return _only_compiled(compiled), _NO_SOURCES
    if not is_installed():
        return _only_compiled(compiled), _NOT_INSTALLED
    check = run_interruptible(_against_tools, replace(config, typecheck=True), program)
    return check, None if check.checked else "the notes say why"


def _only_compiled(program: Program) -> TypeCheck:
    return TypeCheck(checked=False, notes=program.notes)


async def _against_tools(config: Config, program: str) -> TypeCheck:
    async with connected(config) as code_mode:
        return await code_mode.check(program)


def _show(wire: dict[str, Any], program: str) -> None:
    out = console()
    if not wire["ok"]:
        show_error(wire["error"], program)
    elif wire["typeChecked"]:
        out.print("The program compiles, and uses the tools as they are declared.")
    else:
        out.print("The program compiles.")
        out.print(for_people(f"It was not type-checked: {wire['unchecked']}"))
    for note in wire["notes"]:
        out.print(for_people(f"Note: {note}"))
