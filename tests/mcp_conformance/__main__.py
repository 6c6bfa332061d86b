"""`make conformance`: the public MCP conformance suite against our server and our client, and a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from tests.mcp_conformance.suite import CLIENT_SCENARIOS, ERAS, Outcome, Suite, SuiteUnavailable


def outcomes(suite: Suite, console: Console) -> Iterator[Outcome]:
    steps = [lambda era=era: suite.server(era) for era in ERAS]
    steps += [lambda name=name: suite.client(name) for name in CLIENT_SCENARIOS]
    for number, step in enumerate(steps, 1):
        with console.status(f"[{number}/{len(steps)}]".replace("[", "\\[")):
            yield step()


def main() -> int:
    console = Console()
    try:
        suite = Suite.installed()
    except SuiteUnavailable as error:
        console.print(f"The suite cannot be had: {error}", markup=False)
        return 2
    table = Table("run", "outcome", "scenarios passed", "expected to fail")
    failed = []
    for outcome in outcomes(suite, Console(stderr=True)):
        table.add_row(
            outcome.what,
            "as expected" if outcome.passed else "NOT as expected",
            str(outcome.summary.count("✓") or outcome.summary.count("✅")),
            str(outcome.summary.count("✗")),
        )
        if not outcome.passed:
            failed.append(outcome)
    console.print(table)
    for outcome in failed:
        console.print(f"--- {outcome.what}\n{outcome.output[-6000:]}", markup=False, highlight=False)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
