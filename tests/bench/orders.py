"""The samples of the first workload, and the three cheap metrics that both arms call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import orjson
import regex

from genkit_eval import Score, json_text
from genkit_eval.patterns import found_within
from genkit_eval_metrics.deep_equal import DeepEqualOptions, deep_equal

__all__ = ["BARE_METRICS", "METRICS", "Judged", "Metric", "rows", "ship", "ship_at_once", "write_orders"]


class Judged(Protocol):
    """What a metric looks at: our DataPoint, or whatever a hand-written loop makes."""

    @property
    def output(self) -> Any: ...
    @property
    def reference(self) -> Any: ...


Metric = Callable[[Any], bool | Score]

_EXACT = DeepEqualOptions()
_PATTERN = r'"code":"[0-9a-f]*[02468ace]"'
_CODE = regex.compile(_PATTERN)
_BARE_CODE = re.compile(_PATTERN)


def order(number: int) -> dict[str, Any]:
    """An object with twenty keys."""
    return {
        "id": f"order-{number}",
        "name": f"Customer {number % 977}",
        "email": f"customer{number % 977}@example.org",
        "street": f"{number % 311} Long Lane",
        "city": ("Porto", "Turin", "Lyon", "Graz")[number % 4],
        "country": ("PT", "IT", "FR", "AT")[number % 4],
        "status": "open",
        "total": number * 37 % 10_000 / 100,
        "weight": number * 11 % 500 / 10,
        "count": number % 17,
        "paid": number % 3 > 0,
        "lines": [{"price": number % 50 + 0.5, "quantity": number % 4}, {"price": 12, "quantity": 3}],
        "coupon": None,
        "rating": number % 6,
        "tags": ["new", "express"] if number % 2 else ["known"],
        "sizes": [number % 9, number % 7, number % 5],
        "note": f"leave it at door {number % 40}, please, and ring twice",
        "priority": number % 3,
        "created": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T10:00:00Z",
        "code": f"{number:08x}",
    }


def ship_at_once(value: dict[str, Any]) -> dict[str, Any]:
    """The same as a plain function."""
    return {**value, "status": "sent"}


async def ship(value: dict[str, Any]) -> dict[str, Any]:
    """The flow: the order, sent."""
    return {**value, "status": "sent"}


def equal(point: Judged) -> bool | Score:
    """Deep equality as the product does it."""
    return deep_equal(point, _EXACT)  # type: ignore[arg-type]  # it looks at output and reference only


def matches(point: Judged) -> bool:
    """A pattern in the JSON text, with a time limit."""
    return found_within(_CODE, json_text(point.output), 1.0)


def worthy(point: Judged) -> bool:
    """What `$sum(sizes) > 6 and total > 20` would say."""
    output = point.output
    return bool(sum(output["sizes"]) > 6 and output["total"] > 20)


def bare_equal(point: Judged) -> bool:
    """`==`, which takes 1 for true."""
    return bool(point.output == point.reference)


def bare_matches(point: Judged) -> bool:
    """`re`, which has no time limit."""
    return _BARE_CODE.search(json_text(point.output)) is not None


METRICS: dict[str, Metric] = {"equal": equal, "matches": matches, "worthy": worthy}
BARE_METRICS: dict[str, Metric] = {"equal": bare_equal, "matches": bare_matches, "worthy": worthy}


def write_orders(path: Path, number: int, programs: Sequence[str] = ()) -> Path:
    """So many samples as JSON Lines.

    The reference is the order as it should be sent (in every tenth another one), or one of the programs in turn.
    """
    with path.open("w", encoding="utf-8") as file:
        for index in range(number):
            value = order(index)
            expected = {**value, "status": "sent" if index % 10 else "lost"}
            reference = programs[index % len(programs)] if programs else expected
            row = {"testCaseId": f"case-{index}", "input": value, "reference": reference}
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
    return path


def rows(path: Path, number: int) -> Iterator[dict[str, Any]]:
    """The first so many samples of a file, parsed as they are asked for."""
    with path.open("rb") as file:
        for line in islice(file, number):
            yield orjson.loads(line)
