"""A toy shop: its orders, its rules in words, and the tools by which an agent reaches them.

Each tool says that it was called, with `record_tool_call`; a search says what it found, with `record_retrieved`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, wraps
from pathlib import Path
from typing import Any

from genkit_eval import record_context, record_retrieved, record_tool_call
from genkit_eval.text import tokens

__all__ = [
    "TODAY",
    "NotPossible",
    "Order",
    "Rule",
    "cancel_order",
    "change_address",
    "find_order",
    "orders",
    "refund",
    "rules",
    "search_rules",
    "track_parcel",
]

HERE = Path(__file__).parent
TODAY = date(2026, 3, 20)
"""The day on which all tickets come in, so that the 30 days for a return never run out."""


class NotPossible(Exception):
    """A tool could not do what it was asked to."""


@dataclass(frozen=True)
class Order:
    """What the shop knows about an order, and about who made it."""

    id: str
    customer: str
    email: str
    phone: str
    status: str
    items: list[str]
    total: float
    delivered_on: date | None = None
    parcel: str | None = None

    @property
    def days_there(self) -> int | None:
        """How many days ago it was delivered."""
        return None if self.delivered_on is None else (TODAY - self.delivered_on).days

    def facts(self) -> dict[str, Any]:
        """What may be told to anybody who knows the number."""
        days = {} if self.days_there is None else {"daysThere": self.days_there}
        return {"order": self.id, "status": self.status, "items": self.items, "total": self.total, **days}


@dataclass(frozen=True)
class Rule:
    """A rule of the shop in words."""

    id: str
    text: str


@cache
def orders() -> dict[str, Order]:
    """The orders by number. Nothing changes them: what a tool does is in what it says."""
    found = [Order(**row) for row in json.loads((HERE / "orders.json").read_text(encoding="utf-8"))]
    return {
        order.id: replace(order, delivered_on=date.fromisoformat(str(order.delivered_on)))
        if order.delivered_on
        else order
        for order in found
    }


@cache
def rules() -> list[Rule]:
    """The rules, one a paragraph: its name, a colon, its text."""
    paragraphs = (HERE / "rules.txt").read_text(encoding="utf-8").split("\n\n")
    return [Rule(*re.split(r":\s+", paragraph.strip(), maxsplit=1)) for paragraph in paragraphs]


def tool(function: Callable[..., Any]) -> Callable[..., Any]:
    """Record every call: its arguments by name, and what came back, or why it failed."""

    @wraps(function)
    def recorded(**arguments: Any) -> Any:
        try:
            output = function(**arguments)
        except NotPossible as problem:
            record_tool_call(function.__name__, arguments, error=str(problem))
            raise
        record_tool_call(function.__name__, arguments, output=output)
        return output

    return recorded


@tool
def find_order(order: str) -> dict[str, Any]:
    """The facts of an order."""
    return _order(order).facts()


@tool
def track_parcel(order: str) -> dict[str, Any]:
    """Where the parcel is."""
    found = _order(order)
    if found.parcel is None:
        raise NotPossible(f"order {order} has not been handed to a carrier")
    return {"parcel": found.parcel, "place": "Hub North", "expected": "2026-03-23"}


@tool
def cancel_order(order: str) -> str:
    """Stop an order that is not on its way yet."""
    if _order(order).status != "processing":
        raise NotPossible(f"order {order} is {_order(order).status}")
    return "cancelled"


@tool
def change_address(order: str) -> str:
    """Send an order that is not on its way yet to the other address of the account."""
    if _order(order).status != "processing":
        raise NotPossible(f"order {order} is {_order(order).status}")
    return "changed"


@tool
def refund(order: str, amount: float) -> str:
    """Pay money back. It does not ask whether that is right: whoever calls it must."""
    return f"{amount:.2f} on the way to who paid for {_order(order).id}"


@tool
def search_rules(query: str, rank: str = "rare words") -> list[str]:
    """The names of the three rules that fit best; `rank` by "rare words", or by "any words"."""
    asked = set(tokens(query))
    texts = {rule.id: set(tokens(rule.text)) for rule in rules()}
    spread = {word: sum(word in words for words in texts.values()) for word in asked}

    def fit(rule: Rule) -> float:
        shared = asked & texts[rule.id]
        return sum(1 / spread[word] for word in shared) if rank == "rare words" else len(shared)

    found = sorted((rule for rule in rules() if fit(rule)), key=fit, reverse=True)[:3]
    record_retrieved(*(rule.id for rule in found))
    record_context(*(rule.text for rule in found))
    return [rule.id for rule in found]


def _order(number: str) -> Order:
    if number not in orders():
        raise NotPossible(f"there is no order {number}")
    return orders()[number]
