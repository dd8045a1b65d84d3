"""Genkit's metrics with references that suit them; a plain flow; `genkitEval/jsonata` beside its library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonata as library

from genkit_eval import Score
from genkit_eval.datasets import read_samples
from genkit_eval.workers import POOL
from genkit_eval_metrics.deep_equal import DeepEqualOptions, deep_equal
from genkit_eval_metrics.jsonata import JsonataOptions, jsonata
from genkit_eval_metrics.regex import RegexOptions, regex
from tests.bench.arms import app_with, hand_cost, our_cost
from tests.bench.cheap import run_rows
from tests.bench.measure import Arm, Cost, best, children_cpu
from tests.bench.options import Options
from tests.bench.orders import METRICS, Judged, Metric, rows, ship, ship_at_once, write_orders
from tests.bench.table import Row, Table, count

__all__ = ["jsonata_tables", "tables"]

JSONATA_MOST = 1.4

PATTERNS = tuple(rf'"code":"[0-9a-f]*{digit:x}"' for digit in range(16))
EXPRESSIONS = (
    "$sum(sizes) > 6 and total > 20",
    "'express' in tags and $count(sizes[$ > 3]) > 0 and status = 'sent'",
    "$length(note) > 10 and $contains(email, '@') and $uppercase(country) in ['FR', 'AT']",
    "$count($filter(sizes, function($size) { $size > 4 })) > 0 or $substringBefore(created, '-') = '2025'",
    "$sum(lines.(price * quantity)) > 100 and $count(lines[quantity > 2]) > 0",
)
PROGRAMS: Mapping[str, Sequence[str]] = {"deep_equal": (), "regex": PATTERNS, "jsonata": EXPRESSIONS}

_REGEX, _EQUAL, _JSONATA = RegexOptions(), DeepEqualOptions(), JsonataOptions()
_COMPILED = {text: library.Jsonata(text) for text in EXPRESSIONS}


def _regex(point: Any) -> bool | Score:
    return regex(point, _REGEX)


def _equal(point: Any) -> bool | Score:
    return deep_equal(point, _EQUAL)


def _jsonata(point: Any) -> bool | Score:
    return jsonata(point, _JSONATA)


def _jsonata_inline(point: Judged) -> bool:
    """The library, called directly: the expression is compiled already, nothing limits it."""
    return bool(_COMPILED[point.reference].evaluate(point.output))


_BY_HAND: Mapping[str, Metric] = {
    "regex": _regex,
    "deep_equal": _equal,
    "jsonata": _jsonata,
    "jsonata inline": _jsonata_inline,
}


def by_hand(data: str, number: int, metric: str) -> Cost:
    """The baseline with one of Genkit's metrics."""
    name = f"genkitEval/{metric.partition(' ')[0]}"
    before = children_cpu()
    cost = hand_cost(list(rows(Path(data), number)), ship, {name: _BY_HAND[metric]})
    return _with_workers(cost, before)


def ours(data: str, number: int, metric: str) -> Cost:
    """Ours with one of Genkit's metrics."""
    samples = list(islice(read_samples(Path(data)), number))
    before = children_cpu()
    with TemporaryDirectory(dir=Path(data).parent) as root:
        cost = our_cost(app_with(Path(root), ship, {}), samples, [f"genkitEval/{metric}"])
    return _with_workers(cost, before)


def by_hand_at_once(data: str, number: int) -> Cost:
    """The baseline with a plain flow."""
    return hand_cost(list(rows(Path(data), number)), ship_at_once, METRICS)


def ours_at_once(data: str, number: int) -> Cost:
    """Ours with a plain flow."""
    samples = list(islice(read_samples(Path(data)), number))
    with TemporaryDirectory(dir=Path(data).parent) as root:
        return our_cost(app_with(Path(root), ship_at_once, METRICS), samples, list(METRICS))


def _with_workers(cost: Cost, before: float) -> Cost:
    """Worker processes are part of what a metric costs; their time is known when they have ended."""
    POOL.close()
    cost.cpu += children_cpu() - before
    return cost


def tables(options: Options) -> Iterator[Table]:
    """Each built-in metric by itself, then the first workload with a plain flow."""
    number = 2_000 if options.quick else 10_000
    table_rows: list[Row] = []
    for metric in ("deep_equal", "regex", "jsonata"):
        data = write_orders(options.folder / f"{metric}.jsonl", number, PROGRAMS[metric])
        arguments = {"data": str(data), "number": number, "metric": metric}
        costs = best({"hand": Arm(by_hand, arguments), "ours": Arm(ours, arguments)}, 2 if metric == "jsonata" else 5)
        table_rows += run_rows(f"genkitEval/{metric}, {count(number)}", costs["hand"], costs["ours"], most=None)
    for size in (number,) if options.quick else (number, 100_000):
        data = write_orders(options.folder / "orders.jsonl", size)
        arguments = {"data": str(data), "number": size}
        costs = best({"hand": Arm(by_hand_at_once, arguments), "ours": Arm(ours_at_once, arguments)}, 3)
        most = 2.0 if size >= 100_000 else 2.5
        table_rows += run_rows(f"def flow, three cheap, {count(size)}", costs["hand"], costs["ours"], most=most)
    notes = ["one metric does not share out what a case costs: the object is read, checked, kept and written for it"]
    return iter([Table("W1 with Genkit's metrics, and with a plain def flow", table_rows, notes)])


def jsonata_tables(options: Options) -> Iterator[Table]:
    """`genkitEval/jsonata`, which can be stopped, beside the library called inline, which cannot."""
    number = 2_000 if options.quick else 10_000
    data = write_orders(options.folder / "jsonata.jsonl", number, EXPRESSIONS)
    arguments = {"data": str(data), "number": number}
    arms = {
        "hand": Arm(by_hand, {**arguments, "metric": "jsonata inline"}),
        "metric": Arm(by_hand, {**arguments, "metric": "jsonata"}),
        "ours": Arm(ours, {**arguments, "metric": "jsonata"}),
    }
    costs = best(arms, 2 if options.quick else 3)
    table_rows = [
        row
        for name, arm in (("the metric in the same loop", "metric"), ("a run of ours", "ours"))
        for row in run_rows(f"{count(number)}, {name}", costs["hand"], costs[arm], most=JSONATA_MOST, allowance=0)
    ]
    notes = [
        "inline: nothing stops an expression; the metric: a worker process that can be killed, its start included",
        "CPU is that of the worker processes too",
    ]
    title = "genkitEval/jsonata beside jsonata-python inline, compiled once"
    yield Table(title, table_rows, notes, baseline="inline")
