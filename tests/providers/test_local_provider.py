"""Python functions as tools: schemas from hints, what they are given, what they may give back."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import threading
from typing import Annotated, Any, Literal

import pydantic
import pytest

from codemodekit.code_mode import CodeMode
from codemodekit.contracts import ToolCall, ToolResult
from codemodekit.errors import ConfigurationError, ToolError
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.local import LocalToolProvider, ToolContext, define_tool, local

pytestmark = pytest.mark.anyio


class Colour(enum.Enum):
    RED = "red"


class Point(pydantic.BaseModel):
    x: int
    y: int = 0


@dataclasses.dataclass
class Size:
    width: float


async def call(function: Any, given: Any, name: str | None = None) -> Any:
    """What the function answers, past validation, as the bridge would call it."""
    tool = function if hasattr(function, "definition") else define_tool(function)
    provider = local("app", [tool])
    async with provider.connect() as session:
        return await session.call(
            ToolCall(execution_id="run_1", call_id="call_1", source="app", tool=tool.definition.name, input=given)
        )


async def run(program: str, tools: Any, **limits: int) -> Any:
    made = CodeMode(
        providers=[local("app", tools)], tool_policy=allow_all_tool_calls(), limits=ExecutionLimits(**limits)
    )
    async with made:
        return await made.run(program)


@pytest.mark.proves("api.local-tools")
def test_hints_defaults_and_docstring_become_the_definition() -> None:
    def find(city: str, days: Annotated[int, pydantic.Field(ge=1, description="how many")] = 3) -> list[str]:
        """Find the weather.

        At length.
        """
        return [city] * days

    definition = define_tool(find).definition
    assert definition.name == "find"
    assert definition.description == "Find the weather.\n\nAt length."
    schema = definition.input_schema
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", ["city"], False)
    assert schema["properties"]["days"]["minimum"] == 1
    assert schema["properties"]["days"]["default"] == 3
    assert definition.output_schema == {"type": "array", "items": {"type": "string"}}


@pytest.mark.proves("api.local-tools")
def test_marks_are_kept_and_silence_stays_silence() -> None:
    @define_tool(name="other", description="said", read_only=True, idempotent=False, title="T")
    def function() -> None: ...

    definition = function.definition
    assert (definition.name, definition.description) == ("other", "said")
    hints = definition.annotations
    assert (hints.read_only, hints.idempotent, hints.destructive, hints.title) == (True, False, None, "T")


@pytest.mark.proves("api.local-tools")
async def test_arguments_arrive_as_the_types_say() -> None:
    seen: list[Any] = []

    async def take(point: Point, colour: Colour, day: datetime.date, mode: Literal["a", "b"] = "a") -> None:
        seen.extend((point, colour, day, mode))

    await call(take, {"point": {"x": 1}, "colour": "red", "day": "2026-01-02"})
    assert seen == [Point(x=1), Colour.RED, datetime.date(2026, 1, 2), "a"]


@pytest.mark.proves("api.local-tools")
async def test_arguments_that_only_the_type_can_judge_are_told_to_the_model() -> None:
    async def take(day: datetime.date) -> None: ...

    result = await run("return await tools.app.take({ day: 'tomorrow' }).catch(e => [e.code, e.message])", [take])
    assert result.value[0] in ("TOOL_EXECUTION_FAILED", "TOOL_INPUT_INVALID")
    assert "/day" in result.value[1]


@pytest.mark.proves("api.local-tools")
async def test_parameters_may_have_names_that_other_things_have_too() -> None:
    async def take(model_config: int, self_: int, class_: int, schema: int, copy: int, json: int) -> int:
        return model_config + self_ + class_ + schema + copy + json

    names = ["model_config", "self_", "class_", "schema", "copy", "json"]
    assert (await call(take, dict.fromkeys(names, 1))).structured_content == 6


@pytest.mark.proves("api.local-results")
@pytest.mark.parametrize(
    ("given", "structured"),
    [
        ({"a": [1, None, "ä"]}, {"a": [1, None, "ä"]}),
        ((1, 2), [1, 2]),
        (Point(x=1), {"x": 1, "y": 0}),
        (Size(1.5), {"width": 1.5}),
        ([Colour.RED], ["red"]),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        ({"at": datetime.timedelta(seconds=1)}, {"at": "PT1S"}),
        (5, 5),
        ("text", "text"),
        (False, False),
    ],
    ids=repr,
)
async def test_what_is_returned_becomes_structure_and_one_text_block(given: Any, structured: Any) -> None:
    async def give():  # type: ignore[no-untyped-def]
        return given

    result = await call(give, {})
    assert result.structured_content == structured
    assert [block["type"] for block in result.content] == ["text"]


@pytest.mark.proves("api.local-results")
async def test_none_is_an_empty_result_and_a_tool_result_passes_as_it_is() -> None:
    whole = ToolResult(content=({"type": "image", "data": "x", "mimeType": "image/png"},), sideband={"a": 1})

    async def nothing() -> None: ...
    async def given() -> ToolResult:
        return whole

    assert await call(nothing, {}) == ToolResult()
    assert await call(given, {}) is whole


@pytest.mark.proves("api.local-tools")
async def test_a_function_with_a_schema_of_its_own_gets_the_whole_input() -> None:
    @define_tool(input_schema={"type": "object", "properties": {"a": {"type": "integer"}}})
    async def raw(given: Any, context: ToolContext) -> Any:
        return [given, context.tool]

    assert (await call(raw, {"a": 1, "b": 2})).structured_content == [{"a": 1, "b": 2}, "raw"]


@pytest.mark.proves("api.local-tools")
async def test_a_function_that_is_not_async_runs_beside_the_loop() -> None:
    threads: list[int] = []

    def work(x: int) -> int:
        threads.append(threading.get_ident())
        return x

    assert (await call(work, {"x": 1})).structured_content == 1
    assert threads != [threading.get_ident()]


@pytest.mark.proves("api.local-tools")
async def test_callable_objects_methods_and_partials_are_functions_too() -> None:
    class Shop:
        async def __call__(self, n: int) -> int:
            return n + 1

        async def price(self, n: int) -> int:
            return n + 2

    assert (await call(define_tool(Shop(), name="shop"), {"n": 1})).structured_content == 2
    assert (await call(Shop().price, {"n": 1})).structured_content == 3


@pytest.mark.proves("api.local-tools")
async def test_the_context_says_which_call_it_is_and_when_it_is_given_up() -> None:
    contexts: list[ToolContext] = []
    entered = asyncio.Event()

    async def wait(context: ToolContext) -> None:
        contexts.append(context)
        entered.set()
        await asyncio.get_running_loop().create_future()

    made = CodeMode(providers=[local("app", [wait])], tool_policy=allow_all_tool_calls())
    async with made:
        running = asyncio.create_task(made.run("await tools.app.wait({})"))
        await entered.wait()
        (context,) = contexts
        assert (context.source, context.tool, context.call_id) == ("app", "wait", "call_1")
        assert not context.cancelled()
        running.cancel()
        await asyncio.wait({running})
        assert context.cancelled()


@pytest.mark.proves("api.local-tools")
async def test_a_thread_can_see_that_its_call_was_given_up() -> None:
    started, seen = threading.Event(), threading.Event()

    def work(context: ToolContext) -> None:
        started.set()
        pause = threading.Event()
        for _ in range(5000):
            if context.cancelled():
                seen.set()
                return
            pause.wait(0.001)

    result = await run("return await tools.app.work({}).catch(e => e.code)", [work], tool_call_time_ms=50)
    assert result.value == "TOOL_CALL_TIMEOUT"
    assert await asyncio.to_thread(seen.wait, 5)


@pytest.mark.proves("api.tool-error")
async def test_only_a_tool_error_is_shown() -> None:
    async def said() -> None:
        raise ToolError("there is no city 'Atlantis'")

    async def slipped() -> None:
        raise LookupError("password of the database")

    program = """
    const say = promise => promise.catch(e => e.message);
    return [await say(tools.app.said({})), await say(tools.app.slipped({}))];
    """
    result = await run(program, [said, slipped])
    assert "Atlantis" in result.value[0]
    assert "password" not in str(result.to_wire())


@pytest.mark.proves("api.local-results")
async def test_what_has_no_json_form_is_the_tools_failure() -> None:
    async def give():  # type: ignore[no-untyped-def]
        return object()

    result = await run("return await tools.app.give({}).catch(e => e.code)", [give])
    assert result.value in ("TOOL_EXECUTION_FAILED", "TOOL_OUTPUT_INVALID")


@pytest.mark.proves("api.local-tools")
async def test_tools_in_a_dict_have_the_names_of_its_keys() -> None:
    async def one() -> int:
        return 1

    provider = local("app", {"first": one, "contacts.find": define_tool(one, name="other")})
    async with provider.connect() as session:
        listing = await session.list_tools()
    assert [each.name for each in listing.definitions] == ["first", "contacts.find"]


@pytest.mark.proves("api.construction-checked")
@pytest.mark.parametrize(
    "make",
    [
        lambda: local("app", ["text"]),
        lambda: local("app", [lambda *args: 1]),
        lambda: local("app", [lambda a, /: 1]),
        lambda: define_tool(5),
        lambda: define_tool(_takes_a_lock),
        lambda: define_tool(_has_a_broken_hint),
        lambda: local("app", [_twin, _twin]),
        lambda: LocalToolProvider("app", [define_tool(_twin), define_tool(_twin)]),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_defined(make: Any) -> None:
    with pytest.raises(ConfigurationError):
        make()


def _takes_a_lock(lock: threading.Lock) -> None: ...
def _has_a_broken_hint(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def _twin() -> None: ...
