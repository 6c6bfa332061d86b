import json

import anyio

from codemodekit import CatalogRevision, CodeMode, define_tool, deny_all_tool_calls, diff_catalogs, local


@define_tool(read_only=True)
def report(month: int) -> str:
    """The figures of a month."""
    return f"figures of month {month}"


@define_tool(name="report", read_only=True)
def newer_report(month: int, year: int = 2026) -> str:
    """The figures of a month."""
    return f"figures of month {month} of {year}"


async def taken(*tools: object) -> CatalogRevision:
    async with CodeMode(providers=[local("books", tools)], tool_policy=deny_all_tool_calls()) as code_mode:
        await code_mode.settled(5)
        return code_mode.catalog_revision()


async def main() -> list[object]:
    saved = json.dumps((await taken(report)).to_wire())
    found = diff_catalogs(CatalogRevision.from_wire(json.loads(saved)), await taken(newer_report))
    return [(each.tool, change.aspect, change.at) for each in found.changed for change in each.changes]


if __name__ == "__main__":
    print(anyio.run(main))
