"""`make soak`: a long time of mixed runs with faults, and whether anything has leaked."""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from tests.soak.soak import ROUNDS, OnRound, Report, soak

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help="Mixed runs with faults against one process; exit code 1 if anything leaks or ends unexpectedly.")
def main(
    runs: Annotated[int, typer.Option(help="How many runs.")] = 20_000,
    seconds: Annotated[float, typer.Option(help="The longest it may take.")] = 1_800.0,
    seed: Annotated[int, typer.Option(help="Which mix.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of tables.")] = False,
) -> None:
    logging.getLogger("codemodekit").setLevel(logging.CRITICAL)  # sources are lost on purpose
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"{runs} runs", total=ROUNDS)

        def on_round(done: int, of: int) -> None:
            progress.update(task, completed=done)
            if not console.is_terminal:
                console.print(f"round {done} of {of}", highlight=False)

        report = anyio.run(_soak, runs, seconds, seed, on_round)
    if as_json:
        print(json.dumps(report.to_wire(), indent=2))
    else:
        _show(report)
    raise typer.Exit(0 if report.passed else 1)


async def _soak(runs: int, seconds: float, seed: int, on_round: OnRound) -> Report:
    return await soak(runs, seconds, seed=seed, on_round=on_round)


def _show(report: Report) -> None:
    console = Console()
    ended = Table("kind of run", "ended", "runs", title=f"{report.runs} runs in {report.seconds:.0f} s")
    for (kind, end), count in sorted(report.ends.items()):
        ended.add_row(kind, end, str(count))
    console.print(ended)
    faults = Counter(report.faults)
    console.print("Faults: " + ", ".join(f"{name} {count}" for name, count in faults.items()), highlight=False)
    table = Table("held", "plateau", "end", "", title="Leaks")
    for verdict in report.verdicts:
        table.add_row(verdict.what, str(verdict.before), str(verdict.after), "LEAK" if verdict.leaks else "ok")
    for verdict in report.after_closing:
        table.add_row(
            f"{verdict.what}, closed", str(verdict.before), str(verdict.after), "LEAK" if verdict.leaks else "ok"
        )
    console.print(table)
    for line in report.unexpected[:20]:
        console.print(f"unexpected: {line}", markup=False, highlight=False)
    console.print("passed" if report.passed else "FAILED")


if __name__ == "__main__":
    sys.exit(app())
