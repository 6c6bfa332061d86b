"""Sources over time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codemodekit.catalog.health import Reconnect, failure_text
from codemodekit.catalog.manager import CatalogManager, SourceState, Timing
from codemodekit.errors import ClosedError, ConfigurationError, SourceLost

from .fakes import FakeSource, Naps, tool, until

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def managed(*sources: Any, **options: Any) -> AsyncIterator[CatalogManager]:
    options.setdefault("sleep", Naps())
    manager = CatalogManager(sources, **options)
    await manager.start()
    try:
        yield manager
    finally:
        await manager.aclose()


def names(manager: CatalogManager, source: str) -> list[str]:
    return list(manager.snapshot().sources[source].tools)


@pytest.mark.proves("api.construction-checked")
async def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'git'"):
        CatalogManager([FakeSource("git"), FakeSource("git")])


@pytest.mark.proves("api.construction-checked")
async def test_a_source_without_a_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not empty"):
        CatalogManager([FakeSource("")])


@pytest.mark.proves("api.construction-checked")
async def test_what_is_no_source_is_refused_with_what_would_be() -> None:
    with pytest.raises(ConfigurationError, match=r"local\(name, tools\).*not 'builtin_function_or_method'"):
        CatalogManager([print])  # type: ignore[list-item]


@pytest.mark.proves("catalog.health")
async def test_a_loss_is_logged_once_with_what_the_source_said_last(caplog: pytest.LogCaptureFixture) -> None:
    faults = [SourceLost("it ended") for _ in range(3)]
    for fault in faults:
        fault.add_note("\n".join(["long ago", *(f"line {number}" for number in range(9)), "no\x1b[2J file"]))
    source = FakeSource("git", "log", fails=faults)
    async with managed(source) as manager:
        await until(lambda: manager.health()[0].state is SourceState.HEALTHY)
    (said,) = caplog.messages
    assert said.startswith("source 'git' is unavailable: it ended\n  line 0\n")
    assert said.endswith("\n  no [2J file")


@pytest.mark.proves("catalog.public-face")
async def test_every_source_that_lists_is_in_the_snapshot() -> None:
    async with managed(FakeSource("git", "log"), FakeSource("app", "b", "a")) as manager:
        await manager.settled(5)
        assert names(manager, "git") == ["log"]
        assert names(manager, "app") == ["a", "b"]
        assert manager.names == ("git", "app")
        assert manager.known("git")
        assert not manager.known("hg")


@pytest.mark.proves("catalog.independent")
async def test_a_source_that_hangs_delays_no_other() -> None:
    slow = FakeSource("slow", "x")
    slow.gate = asyncio.Event()
    async with managed(slow, FakeSource("quick", "y")) as manager:
        ready = await manager.ready("quick", 5)
        assert ready is not None
        assert manager.state("slow") is SourceState.CONNECTING
        assert await manager.ready("slow", 0.01) is None
        slow.gate.set()
        late = await manager.ready("slow", 5)
        assert late is not None
        assert list(late.tools) == ["x"]


@pytest.mark.proves("catalog.waits")
async def test_ready_of_a_source_nobody_configured_is_none() -> None:
    async with managed(FakeSource("a")) as manager:
        assert await manager.ready("b", 5) is None
        assert manager.session("b") is None


@pytest.mark.proves("catalog.reconnect")
async def test_failures_are_retried_with_growing_pauses_until_it_works() -> None:
    naps = Naps()
    source = FakeSource("git", "log", fails=[SourceLost("refused")] * 9)
    async with managed(source, sleep=naps, reconnect=Reconnect(jitter=0)) as manager:
        await until(lambda: manager.state("git") is SourceState.HEALTHY)
        assert naps.taken[:9] == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]
        assert source.opened == 10


@pytest.mark.proves("catalog.reconnect")
async def test_pauses_start_over_after_success() -> None:
    naps = Naps()
    source = FakeSource("git", "log", fails=[SourceLost("refused")] * 3)
    async with managed(source, sleep=naps, reconnect=Reconnect(jitter=0)) as manager:
        await until(lambda: manager.state("git") is SourceState.HEALTHY)
        source.dies()
        await until(lambda: source.opened == 5)
        await until(lambda: manager.state("git") is SourceState.HEALTHY)
        assert naps.taken == [0.25, 0.5, 1, 0.25]


@pytest.mark.proves("catalog.reconnect")
async def test_pauses_vary_by_the_jitter_and_no_more() -> None:
    rng = random.Random(1)
    delays = [Reconnect().delay(1, rng) for _ in range(200)]
    assert 0.2 <= min(delays) < 0.21
    assert 0.29 < max(delays) <= 0.3
    assert Reconnect(jitter=0).delay(10**6, rng) == 30


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize("wrong", [{"initial_s": 0}, {"initial_s": 40}, {"factor": 0.5}, {"jitter": 2}])
async def test_a_pace_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        Reconnect(**wrong)


@pytest.mark.proves("catalog.health")
async def test_health_tells_state_counts_error_and_next_attempt() -> None:
    naps = Naps(wait=True)
    bad = FakeSource("bad", fails=[SourceLost("nobody listens at port 1")])
    good = FakeSource("good", "a", tool("b", input_schema={"type": "objekt"}))
    async with managed(bad, good, sleep=naps, reconnect=Reconnect(jitter=0), clock=lambda: 7.0) as manager:
        await manager.settled(5)
        await until(lambda: bool(naps.taken))
        assert [health.to_wire() for health in manager.health()] == [
            {
                "source": "bad",
                "state": "unavailable",
                "tools": 0,
                "quarantined": 0,
                "lastError": "nobody listens at port 1",
                "nextRetryS": 0.25,
            },
            {"source": "good", "state": "healthy", "tools": 1, "quarantined": 1},
        ]
        naps.wake()
    assert [health.state for health in manager.health()] == [SourceState.STOPPED] * 2


@pytest.mark.proves("catalog.health")
async def test_a_lost_source_keeps_its_tools_but_has_no_session() -> None:
    naps = Naps(wait=True)
    source = FakeSource("git", "log")
    async with managed(source, sleep=naps) as manager:
        await manager.settled(5)
        assert manager.session("git") is source.current
        source.dies(SourceLost("broken pipe"))
        await until(lambda: manager.state("git") is SourceState.UNAVAILABLE)
        assert manager.session("git") is None
        assert names(manager, "git") == ["log"]
        assert await manager.ready("git", 5) is None
        assert manager.health()[0].last_error == "broken pipe"
        naps.wake()
        await until(lambda: manager.session("git") is not None)
        assert manager.health()[0].last_error is None


@pytest.mark.proves("catalog.health")
async def test_a_lost_source_has_no_session_while_its_connection_is_still_being_left() -> None:
    source = FakeSource("git", "log")
    source.exit_gate = asyncio.Event()
    async with managed(source) as manager:
        await manager.settled(5)
        source.dies()
        await until(lambda: manager.session("git") is None)
        assert manager.state("git") is SourceState.UNAVAILABLE
        assert source.closed == 0
        source.exit_gate.set()


@pytest.mark.proves("catalog.atomic")
async def test_a_change_replaces_one_contribution_and_leaves_the_others_alone() -> None:
    changing, still = FakeSource("a", "one"), FakeSource("b", "two")
    async with managed(changing, still) as manager:
        await manager.settled(5)
        before = manager.snapshot()
        changing.changes("one", "three")
        await until(lambda: manager.snapshot() is not before)
        after = manager.snapshot()
        assert list(after.sources["a"].tools) == ["one", "three"]
        assert after.sources["b"] is before.sources["b"]
        assert list(before.sources["a"].tools) == ["one"]
        assert after.revision != before.revision
        assert still.listings == 1


@pytest.mark.proves("catalog.empty-restart")
async def test_a_restarted_source_that_lists_nothing_keeps_its_tools_until_it_lists_some() -> None:
    source = FakeSource("git", "log")
    async with managed(source) as manager:
        await manager.settled(5)
        first = source.current
        source.listing = type(source.listing)(definitions=())
        source.dies()
        await until(lambda: source.current is not first and source.listings == 2)
        assert manager.session("git") is None
        assert names(manager, "git") == ["log"]
        source.changes("log", "show")
        await until(lambda: manager.session("git") is not None)
        assert names(manager, "git") == ["log", "show"]


@pytest.mark.proves("catalog.empty-restart")
async def test_a_restarted_source_that_stays_empty_is_believed_in_the_end() -> None:
    source = FakeSource("git", "log")
    async with managed(source, timing=Timing(empty_s=0.02)) as manager:
        await manager.settled(5)
        source.listing = type(source.listing)(definitions=())
        source.dies()
        await until(lambda: names(manager, "git") == [])
        await until(lambda: manager.session("git") is not None)


@pytest.mark.proves("catalog.empty-restart")
async def test_a_source_that_never_had_tools_is_healthy_at_once() -> None:
    async with managed(FakeSource("git")) as manager:
        assert await manager.ready("git", 5) is not None


@pytest.mark.proves("catalog.health")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ValueError("no\nsuch\x00thing"), "ValueError: no such thing"),
        (BaseExceptionGroup("g", [SourceLost("refused"), ValueError("x")]), "refused; ValueError: x"),
        (asyncio.CancelledError(), "the connection broke off"),
        (SystemExit(3), "SystemExit: 3"),
        (SourceLost("x" * 2000), "x" * 499 + "…"),
        (SourceLost("GET http://me:pw@host/ said Authorization: Bearer abcdef123"), None),
    ],
)
async def test_whatever_a_provider_raises_becomes_its_last_error(fault: BaseException, words: str | None) -> None:
    naps = Naps(wait=True)
    async with managed(FakeSource("a", fails=[fault]), FakeSource("b", "t"), sleep=naps) as manager:
        await manager.settled(5)
        error = manager.health()[0].last_error
        assert error is not None
        if words is None:
            assert "pw" not in error
            assert "abcdef123" not in error
        else:
            assert error == words
        assert manager.state("b") is SourceState.HEALTHY


@pytest.mark.proves("catalog.independent")
async def test_a_provider_that_breaks_its_contract_is_contained() -> None:
    class NoListing(FakeSource):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.listing = None  # type: ignore[assignment]

    class NoContext(FakeSource):
        def connect(self) -> Any:
            raise ZeroDivisionError("no context")

    naps = Naps(wait=True)
    async with managed(NoListing("a"), NoContext("b"), FakeSource("c", "t"), sleep=naps) as manager:
        await manager.settled(5)
        first, second, third = manager.health()
        assert first.last_error is not None
        assert first.last_error.startswith("AttributeError")
        assert second.last_error == "ZeroDivisionError: no context"
        assert third.state is SourceState.HEALTHY


@pytest.mark.proves("catalog.reconnect")
async def test_a_client_that_cancels_its_own_task_is_connected_again() -> None:
    class SelfCancelling(FakeSource):
        @asynccontextmanager
        async def _connect(self) -> AsyncIterator[Any]:
            if not self.opened:
                self.opened += 1
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.Event().wait()
            async with super()._connect() as session:
                yield session

    async with managed(SelfCancelling("a", "t")) as manager:
        await until(lambda: manager.state("a") is SourceState.HEALTHY)


@pytest.mark.proves("catalog.reconnect")
def test_a_loop_that_ends_without_closing_ends_all_the_same() -> None:
    live = FakeSource("a", "t")
    failing = FakeSource("b", fails=[SourceLost("refused")] * 100)

    async def forgetful() -> CatalogManager:
        manager = CatalogManager([live, failing])
        await manager.start()
        await manager.settled(5)
        return manager

    manager = asyncio.run(forgetful())
    assert live.closed == 1
    assert {health.state for health in manager.health()} == {SourceState.STOPPED}
    manager.index.close()


@pytest.mark.proves("catalog.health")
async def test_an_exception_that_cannot_be_described_is_described() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failure_text(Rude()) == "Rude: (no description: RuntimeError)"


@pytest.mark.proves("catalog.reconnect")
async def test_connecting_without_end_is_given_up_and_tried_again() -> None:
    source = FakeSource("a", "t")
    source.gate = asyncio.Event()
    naps = Naps(wait=True)
    async with managed(source, timing=Timing(connect_s=0.02), sleep=naps) as manager:
        await until(lambda: manager.state("a") is SourceState.UNAVAILABLE)
        assert manager.health()[0].last_error == "connecting and listing took too long"
        source.gate = None
        naps.wake()
        await until(lambda: manager.state("a") is SourceState.HEALTHY)


@pytest.mark.proves("api.close")
async def test_closing_leaves_every_connection_and_twice_is_fine() -> None:
    hanging, live = FakeSource("a"), FakeSource("b", "t")
    hanging.gate = asyncio.Event()
    async with managed(hanging, live) as manager:
        await manager.ready("b", 5)
        await manager.aclose()
        await manager.aclose()
        assert live.closed == 1
        assert manager.session("b") is None
        assert manager.state("a") is SourceState.STOPPED
        assert await manager.ready("a", 5) is None
        with pytest.raises(ClosedError):
            await manager.start()


@pytest.mark.proves("api.close")
async def test_a_source_that_refuses_to_be_closed_is_abandoned_and_named() -> None:
    release = asyncio.Event()

    class Stubborn(FakeSource):
        @asynccontextmanager
        async def _connect(self) -> AsyncIterator[Any]:
            self.opened += 1
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            yield None

    source = Stubborn("mule")
    manager = CatalogManager([source], timing=Timing(close_s=0.02))
    await manager.start()
    await until(lambda: source.opened == 1)
    await manager.aclose()
    assert [note.to_wire() for note in manager.diagnostics()] == [
        {"source": "mule", "message": "did not let go of its connection and was abandoned"}
    ]
    release.set()
    await until(lambda: all(task.done() for task in manager._tasks.values()))


@pytest.mark.proves("schema.quarantine", "catalog.health")
async def test_quarantined_tools_and_notes_are_told() -> None:
    source = FakeSource("a", tool("bad", input_schema={"$ref": "http://example.com/s"}), "twice", "twice")
    async with managed(source) as manager:
        await manager.settled(5)
        duplicate, quarantined = (note.to_wire() for note in manager.diagnostics())
        assert duplicate["message"] == "'twice' is listed more than once; the first one counts"
        assert quarantined["tool"] == "bad"
        assert "'http://example.com/s'" in quarantined["message"]


@pytest.mark.proves("schema.quarantine", "catalog.health")
async def test_a_tool_whose_schema_was_mended_comes_back_and_one_whose_schema_broke_goes_alone() -> None:
    good, bad = {"type": "object"}, {"type": "objekt"}
    source = FakeSource("a", tool("mended", input_schema=bad), tool("broken", output_schema=good), "neighbour")
    async with managed(source) as manager:
        await manager.settled(5)
        assert names(manager, "a") == ["broken", "neighbour"]
        source.changes(tool("mended", input_schema=good), tool("broken", output_schema=bad), "neighbour")
        await until(lambda: names(manager, "a") == ["mended", "neighbour"])
        assert [note.to_wire()["tool"] for note in manager.diagnostics()] == ["broken"]
        assert [row["quarantined"] for row in (health.to_wire() for health in manager.health())] == [1]
        source.changes(tool("mended", input_schema=good), tool("broken", output_schema=good), "neighbour")
        await until(lambda: names(manager, "a") == ["broken", "mended", "neighbour"])
        assert manager.diagnostics() == ()


@pytest.mark.proves("catalog.independent")
async def test_a_source_that_announces_changes_without_end_does_not_starve_the_loop() -> None:
    naps = Naps()

    class Noisy(FakeSource):
        pass

    source = Noisy("a", "t")
    async with managed(source, sleep=naps) as manager:
        await manager.settled(5)
        assert source.current is not None
        for _ in range(3):
            source.current.happens()
        await until(lambda: len(naps.taken) == 3)
        assert naps.taken == [0.05] * 3
