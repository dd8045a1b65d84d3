"""The evaluators of `genkit_eval_heuristics`: data points a second on one core, from the data point to its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from time import process_time
from typing import Any

from pydantic import JsonValue

from genkit_eval import DataPoint, EvaluatorRef, Outcome, Registry, ToolCall, Turn, Usage
from genkit_eval.definitions import Evaluator
from genkit_eval.engine import make_plan
from genkit_eval.engine.cells import Cell
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.catalogue import HEURISTICS
from tests.bench.measure import Arm, Cost, best, measured
from tests.bench.options import Options
from tests.bench.table import Row, Table, count

__all__ = ["rates", "tables"]

TARGET = 10_000
CHARACTERS = 500

_OF_LIBRARIES = {heuristic.name for heuristic in HEURISTICS if heuristic.package is not None}

_SENTENCES = (
    "Order 4711 was shipped on 2026-03-14 by the carrier you chose, and should be there within 3 working days.",
    "If it is not, write to us: the desk answers within the hour, and refunds are made the same day.",
    "Your invoice lists 2 items at 19.95 each and 1 at 7.5, all of which are in version 10.2.3 of the catalogue.",
    "Nothing more has to be done on your side, as long as the address in your account is still the right one.",
    "We are sorry that the first parcel went astray, and have put a voucher into the box for the trouble it made.",
)
# options without which an evaluator has nothing to do, for all that take them
_TOLD: Mapping[str, JsonValue] = {
    "budget_usd": 0.01,
    "budget_seconds": 2.0,
    "budget_tokens": 2_000,
    "budget_model_calls": 3,
    "forbidden": ["guarantee", "lawsuit"],
    "prefixes": ["Ticket"],
    "suffixes": ["."],
    "allow": ["tool_0", "tool_1"],
    "deny": ["tool_2"],
    "pattern": r"Order \d+ was shipped",
    "least": 100,
    "most": 600,
    "required_fields": ["order", "lines"],
    "json_schema": {"type": "object", "properties": {"order": {"type": "integer"}, "lines": {"type": "array"}}},
    "expected_steps": 4,
}


def _answer(number: int) -> str:
    turned = number % len(_SENTENCES)
    text = " ".join((f"Ticket {number}:", *_SENTENCES[turned:], *_SENTENCES[:turned]))
    return text[:CHARACTERS]


def _json_answer(number: int) -> str:
    lines = [{"item": f"item {number + i}", "count": i, "price": 7.5 * i, "tags": ["new", "sale"]} for i in range(7)]
    return json.dumps({"order": number, "customer": "Ada", "paid": True, "lines": lines})[:-1] + ', "note": null}'


def _calls(number: int, count: int) -> list[ToolCall]:
    return [
        ToolCall(name=f"tool_{i % 3}", arguments={"order": number, "step": i}, output={"found": True}, id=f"c{i}")
        for i in range(count)
    ]


def point(number: int, *, as_json: bool) -> DataPoint:
    """A data point with an answer of 500 characters, and all that an evaluator could read beside it."""
    answer = _json_answer(number) if as_json else _answer(number)
    return DataPoint.model_validate(
        {
            "input": f"Where is order {number}?",
            "output": answer,
            "reference": _json_answer(number + 1) if as_json else _answer(number + 1),
            "context": [_answer(number), _answer(number + 2)],
            "instructions": "Answer in at least three sentences, with no more than 120 words. Mention 'order'.",
            "expect": {"label": "shipped", "phrases": ["order", "refund", "working days"]},
            "expectedTools": _calls(number, 4),
            "tools": _calls(number, 5),
            "plan": ["look up", "answer"],
            "turns": [Turn(role="user", content="Where?"), Turn(role="assistant", content=answer)],
            "retrievedIds": [f"d{(number + i) % 50}" for i in range(10)],
            "relevantIds": [f"d{(number + 3 * i) % 50}" for i in range(4)],
            "usage": Usage(input_tokens=900, output_tokens=120, cost_usd=0.002, model_calls=2),
            "latency": 1.5,
        }
    )


def rates(names: list[str], number: int) -> Cost:
    """Points a second of each evaluator, as facts; None where it came to no verdict on them."""
    registry = Registry()
    registry.install(heuristics())
    texts = [point(i, as_json=False) for i in range(number)]
    objects = [point(i, as_json=True) for i in range(number)]
    facts: dict[str, Any] = {}
    with measured() as cost:
        for name in names:
            evaluator = registry.evaluator(name)
            taken = evaluator.options.model_fields if evaluator.options is not None else {}
            told = {option: value for option, value in _TOLD.items() if option in taken}
            [cell] = make_plan(registry, None, [EvaluatorRef(name, told)]).cells
            facts[name] = _rate(cell, objects if _reads_json(evaluator) else texts)
    cost.facts.update(facts)
    return cost


def _reads_json(evaluator: Evaluator) -> bool:
    return "json" in evaluator.name or "schema" in evaluator.name


def _rate(cell: Cell, points: list[DataPoint]) -> float | None:
    [first, *_] = cell.run(points[0])
    if first.counted[3] != Outcome.VERDICT.value:
        return None
    started = process_time()
    for one in points:
        cell.run(one)
    return len(points) / (process_time() - started)


def tables(options: Options) -> Iterator[Table]:
    """A row for each evaluator that runs here."""
    registry = Registry()
    registry.install(heuristics())
    names = sorted(name for name, evaluator in registry.evaluators.items() if evaluator.needs is None)
    number = 500 if options.quick else 2_000
    rounds = [best({"ours": Arm(rates, {"names": names, "number": number})}, 1)["ours"].facts for _ in range(3)]
    rows = []
    for name in names:
        found = [facts[name] for facts in rounds if facts[name] is not None]
        told = f"{count(round(max(found)))}/s" if found else "no verdict"
        if name in _OF_LIBRARIES:
            rows.append(Row(name, "", told))
        else:
            rows.append(Row(name, "", told, None, f"≥ {count(TARGET)}/s", bool(found) and max(found) >= TARGET))
    notes = [
        "on one core, from a data point with an answer of 500 characters to the score's JSON; the best of 3 rounds",
        "no target where a library does the work",
    ]
    yield Table("genkit_eval_heuristics: data points a second", rows, notes, baseline="")
