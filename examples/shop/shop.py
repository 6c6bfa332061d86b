"""A small shop as tools: type hints become schemas, docstrings become descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codemodekit import ToolError, define_tool

__all__ = ["tools"]

Status = Literal["open", "sent"]


@dataclass(frozen=True, slots=True)
class Order:
    id: str
    customer: str
    status: Status
    days_late: int
    total: float


@dataclass(frozen=True, slots=True)
class Customer:
    id: str
    name: str
    email: str


_ORDERS = (
    Order("A-1", "c1", "open", 9, 40.0),
    Order("A-2", "c2", "open", 0, 15.5),
    Order("A-3", "c2", "sent", 0, 99.0),
    Order("A-4", "c2", "open", 4, 12.25),
)
_CUSTOMERS = {"c1": Customer("c1", "Ada", "ada@example.org"), "c2": Customer("c2", "Grace", "grace@example.org")}


@define_tool(read_only=True)
def list_orders(status: Status = "open") -> list[Order]:
    """List the orders of one status."""
    return [order for order in _ORDERS if order.status == status]


@define_tool(read_only=True)
async def get_customer(id: str) -> Customer:
    """Look a customer up."""
    if id not in _CUSTOMERS:
        raise ToolError(f"there is no customer {id!r}; known: {', '.join(_CUSTOMERS)}")
    return _CUSTOMERS[id]


@define_tool(destructive=True)
def refund(order: str, amount: float) -> str:
    """Give money back for an order."""
    if all(known.id != order for known in _ORDERS):
        raise ToolError(f"there is no order {order!r}")
    return f"refunded {amount:.2f} for {order}"


tools = [list_orders, get_customer, refund]
