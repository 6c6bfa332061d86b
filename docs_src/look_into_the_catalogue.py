import anyio

from codemodekit import CodeMode, define_tool, deny_all_tool_calls, local


@define_tool(read_only=True)
def list_invoices(customer: str, paid: bool = False) -> list[str]:
    """Invoices of a customer, open ones unless told otherwise."""
    return []


@define_tool(input_schema={"type": "object", "properties": {"when": {"$ref": "https://example.org/when.json"}}})
def remind(_input: dict[str, object]) -> None:
    """Its schema points out of its own document, so nobody could check an input: it is put aside."""


async def main() -> dict[str, object]:
    billing = local("billing", [list_invoices, remind])
    async with CodeMode(providers=[billing], tool_policy=deny_all_tool_calls()) as code_mode:
        await code_mode.settled(5)
        found = await code_mode.search_tools("unpaid invoices of a customer", detail="typescript")
        return {
            "found": [row["callable"] for row in found["results"]],
            "declared": "list_invoices(input: BillingListInvoicesInput)" in await code_mode.declarations("billing"),
            "health": [(source.source, str(source.state), source.tools) for source in code_mode.health()],
            "put aside": [note.tool for note in code_mode.catalog_diagnostics()],
        }


if __name__ == "__main__":
    print(anyio.run(main))
