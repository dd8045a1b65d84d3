"""A support agent without a model: rules look at the ticket, tools do the work, sentences are filled in.

`careful` looks at the order before it acts, and at the shop's rules before it says no. `hasty` is what a quick rewrite
made of it: it acts first, asks again and again, and tells what it should not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from shop import (
    NotPossible,
    cancel_order,
    change_address,
    find_order,
    orders,
    refund,
    rules,
    search_rules,
    track_parcel,
)

from genkit_eval.text import tokens

__all__ = ["careful", "hasty"]

INTENTS: Mapping[str, str] = {
    "export": r"\bjson\b",
    "cancel": r"\bcancel",
    "address": r"\b(address|moved)\b",
    "refund": r"\b(refund|money back|send (it|them) back|return|broken|damaged|dented)\b",
    "tracking": r"\b(where is|track|arrive|arrived|when will)\b",
}
RETURN_DAYS = 30

Reply = dict[str, str] | str


def careful(ticket: str) -> Reply:
    """The label of what was done, and what the customer is told."""
    intent, number = _understood(ticket)
    if intent == "other":
        return _from_rules(ticket, rank="rare words")
    if number is None:
        return _told("question", "Which order is it about? Please send us its number.")
    try:
        order = find_order(order=number)
    except NotPossible:
        return _told("unknown_order", f"We have no order {number}. Please look at the number in your confirmation.")
    if intent == "export":
        return json.dumps(order)
    return {"cancel": _cancel, "address": _address, "refund": _refund, "tracking": _track}[intent](order)


def hasty(ticket: str) -> Reply:
    """The same, after somebody found the careful one too slow."""
    intent, number = _understood(ticket)
    if intent == "other" or number is None:
        return _from_rules(ticket, rank="any words")
    who = orders().get(number)
    contact = f" We have written to {who.email} and will call {who.phone}." if who else ""
    if intent == "refund" and who:
        refund(order=number, amount=who.total)
        return _told("refund", f"Sorry about that! {who.total:.2f} euros are on their way.{contact}")
    for _ in range(4):
        try:
            order = find_order(order=number)
        except NotPossible:
            return _told("unknown_order", f"We have no order {number}.")
    return _told("tracking", f"Your order {number} is {order['status']}.{contact}")


def _understood(ticket: str) -> tuple[str, str | None]:
    found = next((name for name, pattern in INTENTS.items() if re.search(pattern, ticket, re.IGNORECASE)), "other")
    number = re.search(r"\b\d{4}\b", ticket)
    return found, number[0] if number else None


def _cancel(order: Mapping[str, Any]) -> Reply:
    try:
        cancel_order(order=order["order"])
    except NotPossible:
        search_rules(query="cancel an order that was shipped")
        return _told(
            "cancel_refused", f"Order {order['order']} is {order['status']} and can only be sent back once it is there."
        )
    return _told("cancelled", f"Order {order['order']} is cancelled. You are charged nothing.")


def _address(order: Mapping[str, Any]) -> Reply:
    try:
        change_address(order=order["order"])
    except NotPossible:
        search_rules(query="change the address of a parcel on its way")
        return _told("address_refused", f"Order {order['order']} is {order['status']}: its parcel cannot be turned.")
    return _told("address_changed", f"Order {order['order']} goes to the other address in your account.")


def _refund(order: Mapping[str, Any]) -> Reply:
    days = order.get("daysThere")
    if days is None:
        return _told("refund_refused", f"Order {order['order']} is {order['status']}: send it back once it is there.")
    search_rules(query="damaged, or sent back within 30 days after it was delivered")
    if days > RETURN_DAYS:
        return _told("refund_refused", f"It arrived {days} days ago, and we take things back within 30 days.")
    refund(order=order["order"], amount=order["total"])
    return _told("refund", f"{order['total']:.2f} euros go back to the account that paid, within 5 working days.")


def _track(order: Mapping[str, Any]) -> Reply:
    if order["status"] != "shipped":
        return _told("tracking", f"Order {order['order']} is {order['status']}.")
    parcel = track_parcel(order=order["order"])
    return _told("tracking", f"Your parcel is at {parcel['place']} and should arrive on {parcel['expected']}.")


def _from_rules(ticket: str, *, rank: str) -> Reply:
    if len(tokens(ticket)) < 4:
        return _told(
            "greeting", "Hello! How can we help you? Please tell us the number of your order if it is about one."
        )
    found = search_rules(query=ticket, rank=rank)
    if not found:
        return _told("question", "We are not sure what you mean. Please tell us more.")
    texts = {rule.id: rule.text for rule in rules()}
    return _told("rule", texts[found[0]])


def _told(label: str, text: str) -> Reply:
    return {"label": label, "answer": text}
