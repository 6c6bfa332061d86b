"""Host code that listens badly: slowly, never, with exceptions of any kind, or by running programs itself."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from codemodekit.code_mode import CodeMode
from codemodekit.code_mode.listeners import Outbox, Teller
from codemodekit.errors import ConfigurationError
from scripted_kit import app, kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("observe.advisory")]

PROGRAM = """
const rows = [];
for (let i = 0; i < 3; i++) rows.push((await tools.app.echo({ i })).structuredContent.i);
await Promise.all([tools.app.echo({ a: 1 }), tools.app.nope({}).catch(e => rows.push(e.code))]);
return rows;
"""
VALUE = [0, 1, 2, "TOOL_NOT_FOUND"]
PLACES = ["observer", "on_trusted_result", "on_diagnostic", "on_progress"]
ERRORS = [
    RuntimeError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(),
    BaseException("x"), StopIteration(), StopAsyncIteration(), ExceptionGroup("x", [ValueError()]),
]  # fmt: skip


async def run_with(place: str, listener: Any) -> tuple[Any, ...]:
    """The outcome of the program with this listener in this place."""
    options = {} if place == "on_progress" else {place: listener}
    async with kit(app(), **options) as code_mode:
        result = await code_mode.run(PROGRAM, on_progress=listener if place == "on_progress" else None)
    rows = [(row.id, row.tool, row.status, row.code, row.input_bytes, row.result_bytes) for row in result.calls]
    return result.ok, result.value, result.error, result.logs, rows, result.rerun, result.notes


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Set at the end of a test: threads that wait for it go home."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
async def test_whatever_a_listener_raises_the_run_is_the_same(place: str, kind: str, error: BaseException) -> None:
    told: list[Any] = []

    def plain(*what: Any) -> None:
        told.append(what)
        raise error

    async def coroutine(*what: Any) -> None:
        plain(*what)

    baseline = await run_with("observer", None)
    assert baseline[1] == VALUE
    assert await run_with(place, plain if kind == "plain" else coroutine) == baseline
    assert told


@pytest.mark.parametrize("place", PLACES)
async def test_a_function_that_never_comes_back_holds_up_nothing(place: str, release: threading.Event) -> None:
    assert await run_with(place, lambda *_what: release.wait()) == await run_with("observer", None)


@pytest.mark.parametrize("place", PLACES)
async def test_a_coroutine_that_never_comes_back_holds_up_nothing_and_is_cancelled(place: str) -> None:
    ended: list[str] = []

    async def hang(*_what: Any) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cancelled")

    assert await run_with(place, hang) == await run_with("observer", None)
    assert ended == ["cancelled"]


@pytest.mark.parametrize("place", PLACES)
async def test_a_coroutine_that_does_not_let_itself_be_cancelled_does_not_keep_the_host_open(place: str) -> None:
    going_on = True

    async def stubborn(*_what: Any) -> None:
        while going_on:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    assert await run_with(place, stubborn) == await run_with("observer", None)
    going_on = False


async def test_a_listener_that_hangs_is_waited_for_once_and_not_again(release: threading.Event) -> None:
    """Behind it the others hear all of each run before its caller has the result."""
    heard: list[str] = []
    async with kit(app(), on_diagnostic=lambda _record: release.wait(), observer=lambda event: None) as code_mode:
        for number in range(30):
            heard.clear()
            result = await code_mode.run("throw 1", on_progress=lambda event: heard.append(event.kind))
            assert not result.ok
            assert heard[-1:] == ["finished"], number


@pytest.mark.proves("observe.listeners")
async def test_a_slow_listener_hears_everything_in_order_at_its_own_pace() -> None:
    heard: list[int] = []

    def slow(event: Any) -> None:
        time.sleep(0.002)  # what a listener does that writes somewhere
        heard.append(event.sequence)

    async with kit(app(), observer=slow) as code_mode:
        assert (await code_mode.run(PROGRAM)).value == VALUE
    assert heard == list(range(1, len(heard) + 1))
    assert len(heard) == 2 + 4 * 3 + 1


@pytest.mark.proves("observe.listeners")
async def test_a_listener_may_run_programs_itself() -> None:
    inner: list[Any] = []

    async def observe(event: Any) -> None:
        if event.kind == "tool_call_started" and not inner:
            inner.append((await made[0].run("return (await tools.app.echo({ a: 2 })).structuredContent.a")).value)

    made: list[CodeMode] = []
    async with kit(app(), observer=observe) as code_mode:
        made.append(code_mode)
        assert (await code_mode.run(PROGRAM)).value == VALUE
    assert inner == [2]


@pytest.mark.proves("observe.listeners")
async def test_a_function_may_run_programs_from_its_thread() -> None:
    inner: list[Any] = []
    loop = asyncio.get_running_loop()

    def observe(event: Any) -> None:
        if event.kind == "tool_call_started" and not inner:
            inner.append(None)
            running = asyncio.run_coroutine_threadsafe(made[0].run("return 7"), loop)
            inner[0] = running.result(5).value

    made: list[CodeMode] = []
    async with kit(app(), observer=observe) as code_mode:
        made.append(code_mode)
        assert (await code_mode.run(PROGRAM)).value == VALUE
        async with asyncio.timeout(5):
            while inner[0] is None:  # noqa: ASYNC110 - the answer is another thread's
                await asyncio.sleep(0.001)
    assert inner == [7]


async def test_a_function_that_returns_a_coroutine_is_told_what_to_give_instead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def coroutine(_event: Any) -> None:
        """Would never be awaited."""

    def function(event: Any) -> Any:
        return coroutine(event)

    assert await run_with("observer", function) == await run_with("observer", None)
    assert [record.getMessage() for record in caplog.records] == [
        "observer failed with TypeError; what it is told changes nothing"
    ]


@pytest.mark.parametrize("place", PLACES[:3])
async def test_what_is_no_function_cannot_listen(place: str) -> None:
    with pytest.raises(ConfigurationError, match=place):
        async with kit(app(), **{place: 7}):
            """It is not even built."""


@pytest.mark.proves("api.construction-checked")
async def test_progress_to_what_is_no_function_is_the_callers_mistake() -> None:
    async with kit(app()) as code_mode:
        with pytest.raises(ConfigurationError, match="on_progress"):
            await code_mode.run("return 1", on_progress=7)  # type: ignore[arg-type]
        assert (await code_mode.run("return 1")).value == 1


@pytest.mark.proves("observe.listeners")
async def test_an_object_with_a_coroutine_for_its_call_is_awaited() -> None:
    class Counter:
        heard = 0

        async def __call__(self, _event: Any) -> None:
            await asyncio.sleep(0)
            self.heard += 1

    counter = Counter()
    assert await run_with("observer", counter) == await run_with("observer", None)
    assert counter.heard == 15


async def test_functions_that_never_come_back_hold_a_bounded_number_of_threads(release: threading.Event) -> None:
    before = threading.active_count()
    async with kit(limits={"wall_time_ms": 20_000}) as code_mode:
        running = [code_mode.run("return 1", on_progress=lambda _event: release.wait()) for _ in range(100)]
        results = await asyncio.gather(*running)
        assert all(result.value == 1 for result in results)
        assert threading.active_count() - before < 60


# --- the box itself ---------------------------------------------------------------------------------------------------


async def gate() -> tuple[Callable[[Any], Awaitable[None]], asyncio.Event, list[Any]]:
    opened, heard = asyncio.Event(), []

    async def listen(what: Any) -> None:
        await opened.wait()
        heard.append(what)

    return listen, opened, heard


async def test_a_full_box_drops_what_comes_and_still_takes_the_last_word() -> None:
    listen, opened, heard = await gate()
    teller = Teller()
    box = Outbox(listen, teller, what="test", most=3)
    for number in range(10):
        box.put(number)
    box.put("end", last=True)
    opened.set()
    await box.caught_up(5)
    assert heard[-1] == "end"
    assert heard[:-1] == list(range(len(heard) - 1))
    assert teller.lost == 11 - len(heard) > 0
    await teller.aclose()


async def test_who_waits_waits_for_what_there_was_and_not_for_what_came_since() -> None:
    """Under load a box may never be empty; a run that is over waits for its own end alone."""
    teller = Teller()
    going_on = True

    async def listen(_what: Any) -> None:
        await asyncio.sleep(0)
        if going_on:
            box.put("one more")

    box = Outbox(listen, teller, what="test")
    box.put("first")
    async with asyncio.timeout(5):
        for _ in range(20):
            await box.caught_up(60)
    going_on = False
    await teller.aclose()


@pytest.mark.proves("observe.listeners")
async def test_a_coroutine_that_never_waits_leaves_turns_to_others() -> None:
    teller, heard = Teller(), []

    async def listen(what: Any) -> None:
        heard.append(what)

    box = Outbox(listen, teller, what="test")
    for number in range(5000):
        box.put(number)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert 0 < len(heard) < 5000
    await box.caught_up(5)
    assert len(heard) == 5000
    await teller.aclose()


async def test_a_box_holds_a_bounded_weight() -> None:
    listen, opened, heard = await gate()
    teller = Teller()
    box = Outbox(listen, teller, what="test")
    for number in range(10):
        box.put(number, weight=30 << 20)
    opened.set()
    await box.caught_up(5)
    assert 2 <= len(heard) <= 4
    assert teller.lost == 10 - len(heard)
    await teller.aclose()
