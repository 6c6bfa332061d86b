"""What a program, and whoever reads the failure of one, learns of an input that does not fit."""

from __future__ import annotations

import pytest

from codemodekit.contracts import ToolDefinition
from codemodekit.testing import InMemoryProvider
from scripted_kit import kit

pytestmark = [pytest.mark.anyio, pytest.mark.proves("error.input-details", "error.catchable")]

ORDER = {
    "type": "object",
    "properties": {
        "customer": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "lines": {"type": "array", "items": {"properties": {"count": {"type": "integer", "minimum": 1}}}},
        "speed": {"enum": ["slow", "fast"]},
        "apiKey": {"type": "string", "maxLength": 4},
    },
    "required": ["customer", "lines"],
    "additionalProperties": False,
}
WRONG = """{
  customer: { nmae: "Ada" }, lines: [{ count: 1 }, { count: 0 }, { count: "2" }],
  speed: "fsat", apiKey: context.key, line: [],
}"""
CONTEXT = {"key": "hunter2"}


def shop() -> InMemoryProvider:
    return InMemoryProvider("shop", [ToolDefinition(name="order", input_schema=ORDER)])


async def test_a_program_reads_every_wrong_field_and_may_mend_them() -> None:
    program = f"try {{ await tools.shop.order({WRONG}); }} catch (e) {{ return [e.code, e.details.errors]; }}"
    async with kit(shop()) as code_mode:
        result = await code_mode.run(program, context=CONTEXT)
    assert result.value == [
        "TOOL_INPUT_INVALID",
        [
            {"pointer": "/apiKey", "expected": "at most 4 characters", "given": "string of 7 characters"},
            {
                "pointer": "/customer/nmae",
                "expected": "the required property 'name' (string)",
                "given": 'string "Ada"',
                "didYouMean": "name",
            },
            {
                "pointer": "/line",
                "expected": "no such property; known: apiKey, customer, lines, speed",
                "given": "array of 0",
                "didYouMean": "lines",
            },
            {"pointer": "/lines/1/count", "expected": "at least 1", "given": "number 0"},
            {"pointer": "/lines/2/count", "expected": "integer", "given": 'string "2"'},
            {"pointer": "/speed", "expected": 'one of "slow", "fast"', "given": 'string "fsat"', "didYouMean": "fast"},
        ],
    ]
    assert [row.status for row in result.calls] == ["rejected"]


async def test_the_message_names_the_fields_and_holds_no_secret() -> None:
    async with kit(shop()) as code_mode:
        result = await code_mode.run(f"return tools.shop.order({WRONG});", context=CONTEXT)
    assert result.error is not None
    for part in ("/customer/nmae", "did you mean 'name'", "/lines/1/count", "/speed", "/apiKey"):
        assert part in result.error.message
    assert "hunter2" not in str(result.to_wire())


async def test_a_value_that_would_take_too_long_to_check_is_refused_in_words() -> None:
    schema = {"properties": {"rows": {"items": {"enum": [{"n": n} for n in range(20_000)]}}}}
    heavy = InMemoryProvider("heavy", [ToolDefinition(name="take", input_schema=schema)])
    async with kit(heavy) as code_mode:
        few = await code_mode.run("return tools.heavy.take({ rows: [{ n: 19_999 }] });")
        many = await code_mode.run("return tools.heavy.take({ rows: Array(30_000).fill({ n: 19_999 }) });")
    assert few.ok
    assert many.error is not None
    assert many.error.code == "TOOL_INPUT_INVALID"
    assert "takes too long" in many.error.message
