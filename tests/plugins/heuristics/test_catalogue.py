"""What holds for every evaluator of recorded facts, whatever was recorded; and the names that others have for all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from genkit_eval import DataPoint, EvaluatorRef, Registry
from genkit_eval._json import load
from genkit_eval.engine import make_plan
from genkit_eval.engine.cells import Cell
from genkit_eval_heuristics import heuristics
from genkit_eval_heuristics.catalogue import HEURISTICS
from genkit_eval_heuristics.definition import Heuristic

TNSAI = """
cost_efficiency instruction_following json_correctness pii_leakage response_quality step_efficiency tool_selection
"""
AKKA = """
ArgumentCorrectness ContainsAll ContextPrecision ContextRecall Cost ExactMatch JsonValidity Latency LatencyBudget
LengthInRange ModelCallBudget NormalizedDiscountedCumulativeGain ReciprocalRank RegexMatch SchemaConformance
SpecNodeMatch TokenBudget TokenF1 ToolCorrectness ToolPermission
"""

# options without which an evaluator has nothing to do, for all that take them
TOLD: Mapping[str, JsonValue] = {
    "budget_usd": 0.01,
    "budget_seconds": 2.0,
    "budget_tokens": 100,
    "budget_model_calls": 3,
    "allow": ["find"],
}
RECORDED = {"tools", "usage", "latency", "retrieved_ids"}
OF_RECORDS = [item for item in HEURISTICS if RECORDED & {*item.requires, *item.non_empty, *item.reads}]


def registry() -> Registry:
    made = Registry()
    made.install(heuristics())
    return made


def cell_of(heuristic: Heuristic) -> Cell:
    told = {name: value for name, value in TOLD.items() if name in heuristic.options.model_fields}
    [cell] = make_plan(registry(), None, [EvaluatorRef(heuristic.name, told)]).cells
    return cell


texts = st.one_of(st.text(max_size=10), st.sampled_from(["", "İstanbul", "東京", "e\u0301te\u0301", "שלום"]))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(-1e300, 1e300), texts),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(texts, below, max_size=3)),
    max_leaves=6,
)
ids = st.lists(st.sampled_from(["a", "b", "c", "東"]), max_size=5)
calls = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["find", "İ", ""])}, optional={"arguments": values, "output": values, "error": texts}
    ),
    max_size=4,
)
counts = st.integers(0, 10**9)
points = st.fixed_dictionaries(
    {},
    optional={
        "output": values,
        "expectedTools": calls,
        "tools": calls,
        "retrievedIds": ids,
        "relevantIds": ids,
        "latency": st.floats(0, 1e6),
        "usage": st.fixed_dictionaries(
            {},
            optional={
                "inputTokens": counts,
                "outputTokens": counts,
                "costUsd": st.floats(0, 1e6),
                "modelCalls": counts,
            },
        ),
    },
)


@pytest.mark.parametrize("heuristic", OF_RECORDS, ids=lambda heuristic: heuristic.name)
def test_whatever_it_is_given_it_judges_or_says_that_it_cannot(heuristic: Heuristic) -> None:
    cell = cell_of(heuristic)

    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
    @given(points)
    def check(given_point: dict[str, Any]) -> None:
        point = DataPoint.model_validate(given_point)
        for metric in cell.run(point):
            form = load(metric.text)
            # it may break on what its own check has told of before the run
            told = heuristic.check is not None and heuristic.check(point, cell.options) is not None
            assert form["outcome"] in ("VERDICT", "INCONCLUSIVE") or told, form
            score = form.get("score")
            if isinstance(score, int | float):
                assert math.isfinite(score)
            for finding in form.get("findings", ()):
                assert isinstance(finding["text"], str)

    check()


@pytest.mark.parametrize("heuristic", OF_RECORDS, ids=lambda heuristic: heuristic.name)
def test_it_says_the_same_again(heuristic: Heuristic) -> None:
    cell = cell_of(heuristic)

    @settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
    @given(points)
    def check(given_point: dict[str, Any]) -> None:
        point = DataPoint.model_validate(given_point)
        first, second = ([load(metric.text) for metric in cell.run(point)] for _ in range(2))
        for form in (*first, *second):
            del form["seconds"]
        assert first == second

    check()


def test_every_name_of_the_systems_they_come_from_is_there() -> None:
    known = registry().aliases

    missing = {*(f"tnsai/{name}" for name in TNSAI.split()), *(f"akka/{name}" for name in AKKA.split())} - known.keys()

    assert missing == set()


def test_no_evaluator_is_there_twice() -> None:
    names = [heuristic.name for heuristic in HEURISTICS]

    assert len(set(names)) == len(names)
