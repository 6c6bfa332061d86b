"""`python -m bench`: measure, show a table, keep the result as a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench.machine import facts, peer_is_installed
from bench.report import report_of, to_json
from bench.rounds import Measured, OnRound, measure
from bench.table import Results, print_table
from bench.workload import FULL, QUICK, Sizes, Workload
from bench.workloads import WORKLOADS

__all__ = ["app"]

_RESULTS = Path(__file__).resolve().parent / "results"
_WIDTH = 132
_NAMES = ", ".join(workload.name for workload in WORKLOADS)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help=f"Measure codemodekit on this machine, beside FastMCP's code mode. Workloads: {_NAMES}.")
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples of the same work.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="This workload; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of a table.")] = False,
    no_peer: Annotated[bool, typer.Option("--no-peer", help="Measure our side alone.")] = False,
) -> None:
    """The command; its exit code is 1 if a workload could not be carried out, whatever the targets."""
    chosen, sizes = _chosen(only or []), QUICK if quick else FULL
    has_peer = not no_peer and peer_is_installed()
    machine = facts()
    results = _measured(chosen, sizes, has_peer)
    document = _document(results, machine, quick=quick)
    kept = _keep(document)
    if as_json:
        print(json.dumps(document, indent=2))
    else:
        _show(results, machine, kept, has_peer=has_peer)
    if any(measured.failures for measured, _ in results):
        raise typer.Exit(1)


def _chosen(names: Sequence[str]) -> list[Workload]:
    known = {workload.name: workload for workload in WORKLOADS}
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no workload {name!r}; there are: {_NAMES}", param_hint="--only")
    return [workload for workload in WORKLOADS if not names or workload.name in names]


def _measured(chosen: Sequence[Workload], sizes: Sizes, has_peer: bool) -> Results:
    results = []
    with _progress(chosen, sizes) as begin:
        for workload in chosen:
            measured = measure(workload, sizes, with_peer=has_peer, on_round=begin(workload))
            results.append((measured, report_of(measured, sizes)))
    return results


@contextmanager
def _progress(chosen: Sequence[Workload], sizes: Sizes) -> Iterator[Callable[[Workload], OnRound]]:
    """Shows how far it is, on standard error; where that is no terminal, a line a workload."""
    console = Console(stderr=True)
    rounds = sum(min(sizes.rounds, workload.most_rounds) for workload in chosen)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=rounds)

        def begin(workload: Workload) -> OnRound:
            place = f"[{chosen.index(workload) + 1}/{len(chosen)}]"
            if not console.is_terminal:
                console.print(f"{place} {workload.title}", markup=False, highlight=False)
            progress.update(task, description=f"{place} {workload.title}: starting".replace("[", "\\["))

            def on_round(done: int, of: int) -> None:
                text = f"{place} {workload.title}: round {done} of {of}".replace("[", "\\[")
                progress.update(task, description=text, advance=1)

            return on_round

        yield begin


def _document(results: Results, machine: dict[str, Any], *, quick: bool) -> dict[str, Any]:
    return {
        "format": 1,
        "measuredAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": machine,
        "workloads": [to_json(measured, rows) for measured, rows in results],
    }


def _keep(document: dict[str, Any]) -> Path:
    _RESULTS.mkdir(exist_ok=True)
    path = _RESULTS / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def _show(results: Sequence[tuple[Measured, Any]], machine: dict[str, Any], kept: Path, *, has_peer: bool) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)  # a log is as wide as its lines
    print_table(console, results, has_peer=has_peer)
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    console.print(
        f"{machine['processor']}, {machine['usableCores']} cores, {machine['python']}, "
        f"load {machine['loadBefore']} before; {versions}",
        highlight=False,
    )
    if (machine["loadBefore"] or 0) > machine["usableCores"] / 4:
        console.print("This machine was busy before we began: it can do better than this.", style="yellow")
    console.print(f"kept in bench/results/{kept.name}", highlight=False)
