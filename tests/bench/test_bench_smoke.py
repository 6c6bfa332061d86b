"""The workloads of the bench do their work rightly, at sizes that take no time; what they measure is not looked at."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from bench.machine import facts, peer_is_installed
from bench.report import report_of, to_json
from bench.rounds import Measured, measure
from bench.table import print_table
from bench.workload import TINY, AtLeastPeer, Bound, Figure, Workload
from bench.workloads import WORKLOADS, start, trivial_run
from rich.console import Console

pytestmark = pytest.mark.proves("house.bench")


@pytest.mark.anyio
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
async def test_our_side_of_each_workload_gives_every_figure(workload: Workload) -> None:
    async with workload.ours(TINY) as take:
        figures = await take()

    assert set(figures) == {figure.name for figure in workload.figures(TINY)}
    assert all(value > 0 for value in figures.values())


def test_a_measured_workload_becomes_a_table_and_json() -> None:
    measured = measure(trivial_run.WORKLOAD, TINY, with_peer=False)
    rows = report_of(measured, TINY)
    text = StringIO()
    print_table(Console(file=text, width=132), [(measured, rows)], has_peer=False)

    assert measured.failures == {}
    assert [len(row.ours.samples) for row in rows if row.ours] == [1, 1, 1]
    assert "fresh run, p50" in text.getvalue()
    assert json.loads(json.dumps(to_json(measured, rows)))["figures"][0]["targets"][0]["target"] == "≤ 0.8 ms"
    assert json.loads(json.dumps(facts()))["cores"] >= 1


def test_targets_are_judged_by_the_median_in_the_better_direction() -> None:
    figures = (
        Figure(name="rate", title="rate", unit="calls/s", targets=(Bound(100), AtLeastPeer())),
        Figure(name="time", title="time", unit="ms", targets=(Bound(2.0), Bound(1.0, is_aim=True))),
    )
    workload = Workload(name="made-up", title="made up", figures=lambda _sizes: figures, ours=start.WORKLOAD.ours)
    measured = Measured(
        workload=workload,
        rounds=3,
        ours={"rate": [90, 110, 500], "time": [1.5, 1.0, 9.0]},
        peer={"rate": [180, 220, 220]},
    )
    rate, time = report_of(measured, TINY)

    assert [(each.text, each.is_reached) for each in rate.verdicts] == [("≥ 100 calls/s", True), ("≥ peer", False)]
    assert [(each.text, each.is_reached, each.is_aim) for each in time.verdicts] == [
        ("≤ 2 ms", True, False),
        ("aim ≤ 1 ms", False, True),
    ]
    assert rate.ratio == 0.5, "the middle of the ratios of the rounds"


def test_a_side_that_cannot_work_is_reported_with_its_reason() -> None:
    unknown = Workload(name="no-such-workload", title="none", figures=lambda _sizes: (), ours=start.WORKLOAD.ours)
    measured = measure(unknown, TINY, with_peer=False)

    assert measured.ours == {}
    assert "no-such-workload" in measured.failures["ours"]


@pytest.mark.slow
@pytest.mark.skipif(not peer_is_installed(), reason="FastMCP comes with the extra 'bench' only")
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_peer_does_the_same_work_rightly(workload: Workload) -> None:
    measured = measure(workload, TINY, with_peer=True)

    assert measured.failures == {}
    assert set(measured.peer) <= set(measured.ours)
