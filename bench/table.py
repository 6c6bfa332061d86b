"""A report for people: a table a workload, all of the same widths, and what was missed below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.report import Row, Verdict, number
from bench.rounds import Measured

__all__ = ["Results", "print_table"]

Results = Sequence[tuple[Measured, Sequence[Row]]]

_COLUMNS = (("figure", 38, "left"), ("median", 15, "right"), ("min … max", 17, "right"), ("peer's median", 15, "right"))
_TARGETS_WIDTH = 30


def print_table(console: Console, results: Results, *, has_peer: bool) -> None:
    """Show all results."""
    for measured, rows in results:
        console.print(_title(measured))
        console.print(_table(rows))
    _print_summary(console, results, has_peer)


def _title(measured: Measured) -> Text:
    kind = "cold rounds" if measured.workload.is_cold else "rounds"
    return Text.assemble((f"\n{measured.workload.title}", "bold"), (f"  {measured.rounds} {kind}", "dim"))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head, width, side in _COLUMNS:
        table.add_column(head, width=width, justify=side)
    table.add_column("× peer", width=6, justify="right")
    table.add_column("target", min_width=_TARGETS_WIDTH)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> Iterator[str | Text]:
    unit = row.figure.unit
    yield row.figure.title
    yield Text(f"{number(row.ours.median)} {unit}", style="bold") if row.ours else "–"
    yield f"{number(row.ours.minimum)} … {number(row.ours.maximum)}" if row.ours else "–"
    yield f"{number(row.peer.median)} {unit}" if row.peer else "–"
    yield number(row.ratio) if row.ratio is not None else "–"
    yield _targets(row.verdicts)


def _targets(verdicts: Sequence[Verdict]) -> Text:
    parts = []
    for verdict in verdicts:
        word = "reached" if verdict.is_reached else "not yet" if verdict.is_aim else "missed"
        colour = "green" if verdict.is_reached else "yellow" if verdict.is_aim else "bold red"
        parts.append(Text.assemble(f"{verdict.text}: ", (word, colour)))
    return Text("\n").join(parts)


def _print_summary(console: Console, results: Results, has_peer: bool) -> None:
    verdicts = [verdict for _, rows in results for row in rows for verdict in row.verdicts if not verdict.is_aim]
    reached = sum(verdict.is_reached for verdict in verdicts)
    console.print(f"\n{reached} of {len(verdicts)} targets reached, judged by medians over the rounds.")
    if not has_peer:
        console.print("The peer was left out; it comes with the extra 'bench'.")
    for measured, _ in results:
        for side, why in measured.failures.items():
            console.print(Text(f"{measured.workload.name}: {side} could not do it: {why.strip()}", style="red"))
