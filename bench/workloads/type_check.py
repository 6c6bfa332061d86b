"""Checking a program of thirty lines that was never seen before, in a warm compiler, with few tools and with many."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Final

from bench.catalogues import tool_texts
from bench.ours import open_code_mode
from bench.workload import Bound, Figure, Measure, Sizes, Workload, middle, require
from bench.workloads.catalogue import made_up_tool
from codemodekit import CodeMode
from codemodekit.compilers.typecheck import TypeScriptChecker

__all__ = ["WORKLOAD"]

_GOOD: Final = """\
// Which customers have more open tickets than paid orders, and who looks after them?
interface Counted { customer: string; tickets: number; orders: number; owner?: string }
type Row = { id: string; state: string };

async function inBatches<T, R>(items: T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += size) {
    done.push(...(await Promise.all(items.slice(at, at + size).map(work))));
  }
  return done;
}

const listed = await tools.app.list_invoice_billing({ invoice_id: "all", state: "open", limit: 50 });
const customers: Row[] = listed.structuredContent?.invoices ?? [];
const counted = await inBatches(customers, 8, async ({ id }): Promise<Counted> => {
  const [tickets, orders] = await Promise.all([
    tools.app.count_ticket_billing({ ticket_id: id, state: "open", filter: { owner: id } }),
    tools.app.count_order_billing({ order_id: id, labels: ["paid"] }),
  ]);
  return { customer: id, tickets: sizeOf(tickets), orders: sizeOf(orders), owner: context?.owner };
});

function sizeOf(result: { content: Array<{ type: string; text?: string }> }): number {
  const text = result.content.map((block) => block.text ?? "").join("");
  return text.length > 0 ? Number(JSON.parse(text).count) : 0;
}

const worrying = counted.filter((each) => each.tickets > each.orders).sort((a, b) => b.tickets - a.tickets);
const byOwner: Record<string, string> = {};
for (const each of worrying) byOwner[each.owner ?? "nobody"] = each.customer;
return { worrying: worrying.slice(0, 5), byOwner };
"""
_WRONG: Final = _GOOD.replace("order_id: id", "orderId: id")
_PATIENT_MS: Final = 10_000
_FEWEST: Final = 100


def _figures(sizes: Sizes) -> tuple[Figure, ...]:
    few, many = _tools(sizes)
    return (
        Figure(name="good", title=f"check of a new program, {few:,} tools", unit="ms", targets=(Bound(10),)),
        Figure(name="wrong", title=f"check of one with a mistake, {few:,} tools", unit="ms", targets=(Bound(10),)),
        Figure(name="many", title=f"check of a new program, {many:,} tools", unit="ms", targets=(Bound(10),)),
    )


def _tools(sizes: Sizes) -> tuple[int, int]:
    """Few and many; the program's tools are among the first hundred."""
    return _FEWEST, max(_FEWEST, *sizes.catalogues)


@asynccontextmanager
async def _ours(sizes: Sizes) -> AsyncIterator[Measure]:
    async with AsyncExitStack() as stack:
        small, large = [await stack.enter_async_context(_checking(tools)) for tools in _tools(sizes)]
        numbers = count(1)

        async def good(code_mode: CodeMode) -> None:
            check = await code_mode.check(f"{_GOOD}// {next(numbers)}\n")
            require(check.checked and check.error is None, check)

        async def wrong(code_mode: CodeMode) -> None:
            check = await code_mode.check(f"{_WRONG}// {next(numbers)}\n")
            require(check.error is not None and "order_id" in check.error.message, check)

        async def measure() -> Mapping[str, float]:
            return {
                "good": await middle(lambda: good(small), sizes) * 1e3,
                "wrong": await middle(lambda: wrong(small), sizes) * 1e3,
                "many": await middle(lambda: good(large), sizes) * 1e3,
            }

        yield measure


@asynccontextmanager
async def _checking(tools: int) -> AsyncIterator[CodeMode]:
    made = [made_up_tool(each) for each in tool_texts(tools)]
    async with open_code_mode(made, type_checker=TypeScriptChecker(budget_ms=_PATIENT_MS)) as code_mode:
        yield code_mode


WORKLOAD = Workload(name="type_check", title="Type check, warm", figures=_figures, ours=_ours)
