import anyio

from codemodekit import CodeMode, allow_all_tool_calls, local


def temperature(city: str) -> float:
    """Degrees Celsius right now."""
    return {"Oslo": 4.5, "Rome": 18.0}[city]


PROGRAM = """
const cities = ["Oslo", "Rome"];
const readings = await Promise.all(cities.map((city) => tools.weather.temperature({ city })));
const degrees = readings.map((reading) => reading.structuredContent);
return { warmest: cities[degrees.indexOf(Math.max(...degrees))], degrees };
"""


async def main() -> object:
    async with CodeMode(
        providers=[local("weather", [temperature])],
        tool_policy=allow_all_tool_calls(),
    ) as code_mode:
        result = await code_mode.run(PROGRAM)
        return result.value


if __name__ == "__main__":
    print(anyio.run(main))  # {'warmest': 'Rome', 'degrees': [4.5, 18]}
