"""`codemodekit demo`: real upstreams, a real client, and programs between them, told while it happens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import anyio

from codemodekit._json import dumps
from codemodekit.cli.demonstration.play import Listener, Performance, Report, play
from codemodekit.cli.demonstration.programs import Act
from codemodekit.cli.demonstration.stage import Stage, survey
from codemodekit.cli.interruptible import run_interruptible
from codemodekit.cli.options import AsJson
from codemodekit.cli.output import console, highlighted, print_json, table, waiting
from codemodekit.cli.results import show_result
from codemodekit.cli.tokens import show_costs
from codemodekit.errors import CodeModeKitError

__all__ = ["HELP", "command"]

HELP: Final = (
    "Needs nothing but the extra 'demo'. Everything is made in a temporary folder and is gone afterwards. "
    "Exit code 1 when a program does not end as it was written to."
)

_LONGEST_S: Final = 60.0


def command(as_json: AsJson = False) -> int:
    stage = survey()
    teller = _Teller(silent=as_json)
    for note in stage.notes:
        teller.line(note)
    report = run_interruptible(_show, stage, teller)
    if as_json:
        print_json(report.to_wire())
    else:
        teller.line("\nAll of it worked." if report.ok else "\nNot all of it worked.")
    return 0 if report.ok else 1


async def _show(stage: Stage, teller: _Teller) -> Report:
    """All of it, in a folder that is gone afterwards.

    Raises:
        CodeModeKitError: it cannot be shown, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="codemodekit-demo-") as folder:
        with anyio.move_on_after(_LONGEST_S):
            return await play(stage, Path(folder), teller)
    raise CodeModeKitError(f"the demo took more than {_LONGEST_S:g} seconds; the last step: {teller.last_step}")


class _Teller(Listener):
    """Prints what happens, or nothing while the answer is JSON."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._programs = 0
        self.last_step = "none"

    def line(self, text: str) -> None:
        self._print(text)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        self.last_step = what
        self._print(f"\n* {what}" if self._programs else f"* {what}")
        with waiting(what):
            yield

    def connected(self, connected: Mapping[str, Any]) -> None:
        self._print(
            f"  It answered {connected['milliseconds']} ms after its start, "
            f"in protocol {connected['protocolVersion']}. "
            f"All the tools that the client is given: {', '.join(connected['tools'])}"
        )

    def catalogue(self, found: Mapping[str, Any]) -> None:
        rows = [(space["namespace"], space["tools"]) for space in found["namespaces"]]
        self._print(table(f"\nThe catalogue behind them: {found['total']} tools", ("", "tools"), rows))

    def about_to_run(self, act: Act) -> None:
        self._programs += 1
        self.last_step = act.title
        self._print(f"\n--- {self._programs}. {act.title}\n")
        code = act.code.rstrip()
        self._print(highlighted(code, "typescript") if console().is_terminal else code)
        self._print(f"\n* Running it through the client, with the context {dumps(act.context)}")

    def ran(self, performance: Performance) -> None:
        if self._silent:
            return
        result = performance.result
        show_result(result, performance.act.code)
        into = sum(call.get("resultBytes", 0) for call in result["calls"])
        if result["ok"]:
            value = len(dumps(result.get("value")).encode())
            self._print(f"\n  {into:,} bytes came from tools into the program; {value:,} bytes go to the model")
        if not performance.ok:
            self._print(f"  THIS IS NOT HOW IT SHOULD END: {performance.act.fails_with or 'success'} was expected")

    def counted(self, tokens: dict[str, Any]) -> None:
        if not self._silent:
            self._print("")
            show_costs(tokens)

    def _print(self, what: Any) -> None:
        if not self._silent:
            console().print(what)
